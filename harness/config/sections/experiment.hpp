#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/base/schema.hpp"

namespace fedarena {

/// Something that an experiment can choose by name: a data set, a partition, a model, an algorithm, a policy.
struct CatalogEntry {
  std::string name;           ///< as experiments write it
  std::string summary;        ///< one sentence
  std::vector<Field> fields;  ///< its settings
  /// Of an algorithm: the policy without which experiments may not list it; empty: any.
  std::string requires_policy = {};
  /// Of an algorithm: whether experiments may not list it without proxy data.
  bool requires_proxy = false;
  /// Of an algorithm: whether experiments of more than one round may not list it.
  bool one_round = false;
  /// Of an algorithm: whether experiments on a regression may not list it.
  bool requires_classes = false;
  /// Rules that span settings, where there are any: takes all of them, checked one by one, and throws an
  /// Error without a place. The place of the section is added.
  std::function<void(const Settings&)> check = {};
  /// Settings without a default, for help: `check` refuses them where they are not given.
  std::vector<std::string> required = {};
};

/// Everything that an experiment can choose from; whoever knows the registries fills it.
struct Catalog {
  std::vector<CatalogEntry> datasets;
  std::vector<CatalogEntry> proxies;     ///< "none", and the data sets, with a limit each
  std::vector<CatalogEntry> partitions;  ///< each has the field "clients", an integer
  std::vector<CatalogEntry> models;
  std::vector<CatalogEntry> algorithms;
  std::vector<CatalogEntry> policies;  ///< among them "none", without fields
};

/// In the place of a data set: there are no proxy data.
inline constexpr std::string_view kNoProxy = "none";
/// The setting of proxy data beside those of the data set: how many examples are taken, from the first; 0:
/// all.
inline constexpr const char* kProxyLimit = "limit";

/// What [proxy] can choose from: none, or a data set.
std::vector<CatalogEntry> proxies_among(const std::vector<CatalogEntry>& datasets);

/// The entry of that name, or nullptr.
const CatalogEntry* find_entry(const std::vector<CatalogEntry>& entries, const std::string& name);

/// What `experiment.device` can be, for messages; N stands for the number of a GPU, from 0.
inline constexpr const char* kDeviceNames = R"("auto", "cpu", "cuda", "cuda:N")";
/// The number of the GPU that a device names: 1 of "cuda:1", 0 of "cuda"; nothing of any other text.
std::optional<int> gpu_number(std::string_view device);
/// Whether a text can be `experiment.device`.
bool is_device(std::string_view text);
/// The device that a text was most likely meant to name; empty where none is near.
std::string nearest_device(std::string_view text);

/// One entry of the catalog, chosen, with every one of its settings: given or default.
struct Choice {
  std::string name;
  Settings settings;
  bool operator==(const Choice&) const = default;
};

/// Settings of a policy: one that asks for noise by what it is to cost, and the one that this replaces.
inline constexpr const char* kNoiseForEpsilon = "noise_for_epsilon";
inline constexpr const char* kNoiseMultiplier = "noise_multiplier";

/// One algorithm of an experiment, with every one of its settings.
struct AlgorithmEntry {
  std::string name;   ///< of the catalog
  std::string label;  ///< unique within the experiment, and safe as a folder name
  Settings settings;
  Choice privacy = {};  ///< the policy that it runs under
  /// What it takes from [training] and [privacy] because it gives nothing itself, as paths such as
  /// "training.rate": how it came by its settings, and no part of what it is.
  std::vector<std::string> shared = {};

  /// Whether it runs under a policy that hides something.
  bool is_private() const { return privacy.name != "none"; }
  /// The epsilon that its noise is still to be found for; 0: the noise is given.
  double noise_for_epsilon() const {
    const auto* asked = find_setting<double>(privacy.settings, kNoiseForEpsilon);
    return asked == nullptr ? 0 : *asked;
  }

  bool operator==(const AlgorithmEntry& other) const {
    return name == other.name && label == other.label && settings == other.settings &&
           privacy == other.privacy;
  }
};

/// How many clients take part in a round: all of them when both are 0; at most one of them is not.
struct Cohort {
  std::int64_t size = 0;
  double fraction = 0;
  bool operator==(const Cohort&) const = default;
};

/// When and on what the model is evaluated; the last round always is.
struct Evaluation {
  std::int64_t every = 1;
  double validation_fraction = 0;  ///< of the training examples, held out before they are dealt
  bool per_client = false;         ///< whether each client is tested on test examples of its own
  double held_out_clients = 0;     ///< the part of the clients that never train, to validate on
  bool validates() const { return validation_fraction > 0 || held_out_clients > 0; }
  bool operator==(const Evaluation&) const = default;
};

/// Rules that end a run before its last round, by the accuracy on validation examples or held-out clients.
struct Stopping {
  double target_accuracy = 0;  ///< a fraction; 0: no target
  std::int64_t patience = 0;   ///< rounds without improvement; 0: endless
  double improvement = 0;      ///< a fraction; by how much at least a round must beat the last better one
  bool operator==(const Stopping&) const = default;
};

/// Canaries that measure in one run what it leaks; see `CanaryPlan` (harness/oracle).
struct Audit {
  std::string kind = "none";     ///< "none", "gradient", "mislabelled" or "client"
  std::int64_t canaries = 1000;  ///< each in the data with probability 1/2
  std::int64_t guesses = 0;      ///< even; half "in", half "out"
  std::string noise = "on";      ///< "off": the positive control
  bool operator==(const Audit&) const = default;
};

/// An experiment, checked and complete: algorithms x seeds, all under the same conditions.
struct Experiment {
  std::string name;  ///< safe as a folder name
  std::vector<std::int64_t> seeds;
  std::int64_t rounds = 0;
  std::string device = "cpu";     ///< as written: "auto", "cpu", "cuda" or "cuda:N"
  std::string dtype = "float32";  ///< "float32" or "float64"
  Choice data;
  Choice proxy = {std::string(kNoProxy), {}};  ///< public data without labels, for the server
  Choice partition, model;
  Cohort cohort;
  Evaluation evaluation;
  Stopping stopping;
  Audit audit;
  Choice privacy;  ///< the policy of algorithms that do not choose another
  std::vector<AlgorithmEntry> algorithms;
  bool operator==(const Experiment&) const = default;

  /// How many of `clients` never train: the part rounded to the nearest whole number, at least 1 where there
  /// is a part. Throws Error when none would be left to train.
  std::int64_t held_out_clients(std::int64_t clients) const;
  /// How many of `clients` take part in a round, at least 1: the size, or the fraction of those that train
  /// rounded to the nearest whole number, or all. Throws Error when the size exceeds those that train.
  std::int64_t cohort_size(std::int64_t clients) const;
};

/// The value of a setting; a missing name is a Bug.
const Value& setting(const Settings& settings, const std::string& name);

/// The resolved experiment as a file, every default written out; reading it back gives the same experiment.
std::string to_toml(const Experiment& experiment);

}  // namespace fedarena
