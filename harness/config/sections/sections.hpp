#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/base/schema.hpp"

#include "harness/config/sections/experiment.hpp"

namespace fedarena::config {

/// The section of profiles, of which a run chooses at most one.
inline constexpr std::string_view kProfiles = "profiles";
/// The sections from which an algorithm takes settings that it does not give itself.
inline constexpr std::string_view kTraining = "training";
inline constexpr std::string_view kPrivacy = "privacy";
/// The section of values to combine into a grid.
inline constexpr std::string_view kSweep = "sweep";
/// The section of values to choose from for each algorithm, by trials.
inline constexpr std::string_view kTuning = "tuning";

/// The section of options for the batch system, which changes no run.
inline constexpr std::string_view kSlurm = "slurm";
/// The section of canaries.
inline constexpr std::string_view kAudit = "audit";

/// The keys of [tuning] itself.
struct TuningKeys {
  std::string search = "grid";
  std::int64_t trials = 0;
  std::int64_t seed = 0;
};

/// What is wrong with a value that has the right type and range.
struct Objection {
  std::string found;
  std::size_t element = 0;   ///< which element of a list, where it is one
  std::string nearest = {};  ///< what was most likely meant
};

/// A key of a section: a field, and what a field cannot say.
struct Key {
  Field field;
  bool required = false;
  std::string rule = {};                                          ///< what is allowed, beyond the constraint
  std::optional<Objection> (*objection)(const Value&) = nullptr;  ///< enforces the rule
  std::string remedy = {};  ///< for a value that is refused and like no other

  const std::string& name() const { return field.name; }
  std::string allowed() const { return rule.empty() ? field.allowed() : rule; }
};

/// The declaration of one section of the experiment file. Reading, writing, messages and help follow from it.
struct SectionSpec {
  enum class Kind {
    kFixed,       ///< its keys, nothing else
    kChoice,      ///< the first key chooses an entry of the catalog, whose fields are the other keys
    kTraining,    ///< the fields of the listed algorithms
    kAlgorithms,  ///< a list; the first key chooses an algorithm, whose fields are further keys
    kSweep,       ///< lists of values, each under the path of a key
    kTuning,      ///< its keys, and lists or ranges of values, each under the path of a key
    kSlurm,       ///< any keys that may name an option of sbatch
    kProfiles,    ///< tables of overrides, each under a name
  };

  std::string name;
  std::string doc;  ///< one sentence
  Kind kind = Kind::kFixed;
  std::vector<Key> keys = {};
  std::function<void*(Experiment&)> part = {};  ///< kFixed, kChoice: the struct that the keys store into
  const std::vector<CatalogEntry>* entries = nullptr;  ///< kChoice, kAlgorithms, kTraining: of the catalog
  /// kAlgorithms: the sections that an entry may have of its own, of the kind kChoice. What they leave out
  /// comes from the section whose name is their key, where that one chooses the same.
  std::vector<SectionSpec> own = {};
  Choice AlgorithmEntry::*own_choice = nullptr;  ///< of an own section: what its keys store into

  /// "[data]", "[[algorithms]]", "[profiles.NAME]".
  std::string header() const;
  /// The part of the name after the last dot: "privacy" of "algorithms.privacy".
  std::string key() const;
  const Key* find(const std::string& key) const;
  /// The own section of that key, or nullptr.
  const SectionSpec* find_own(const std::string& key) const;
  bool required() const;
};

/// Every section, in the order in which files are written. The catalog must outlive them. Throws Error when
/// an entry of the catalog declares a setting whose name the section needs for itself.
std::vector<SectionSpec> sections(const Catalog& catalog);

/// The section of that name, or nullptr.
const SectionSpec* find_spec(const std::vector<SectionSpec>& specs, std::string_view name);

}  // namespace fedarena::config
