#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/base/schema.hpp"

#include "harness/config/grid/grid.hpp"
#include "tests/message_of.hpp"

namespace fedarena {

struct Rates {
  double rate = 0.01;
  std::int64_t batch_size = 32;
};

struct Proximal {
  double rate = 0.05;
  std::int64_t batch_size = 32;
  double mu = 0.01;
  std::string average = "examples";
  bool nesterov = false;
};

struct Sizes {
  std::int64_t clients = 10;
  std::int64_t classes_per_client = 2;
};

struct Width {
  std::int64_t width = 128;
  std::vector<std::int64_t> layers = {64, 64};
};

struct Alpha {
  std::int64_t clients = 10;
  double alpha = 0.5;
};

/// Of the policies "record" and "client": stand-ins with a rule that spans settings.
struct Noise {
  double clip_norm = 1;
  double noise_multiplier = 1;
  std::string sampling = "poisson";
  std::int64_t batch = 0;

  void validate() const {
    if (sampling == "fixed" && batch == 0)
      throw Error(Complaint{.found = "sampling is \"fixed\" without a batch", .remedy = "give batch"});
  }
};

/// A catalog with a bit of everything.
inline Catalog sample_catalog() {
  const auto rates =
      Schema<Rates>{{"rate", &Rates::rate, "Step size.", Constraint::positive()},
                    {"batch_size", &Rates::batch_size, "Examples in a batch.", Constraint::at_least(1)}};
  const auto proximal = Schema<Proximal>{
      {"rate", &Proximal::rate, "Step size.", Constraint::positive()},
      {"batch_size", &Proximal::batch_size, "Examples in a batch.", Constraint::at_least(1)},
      {"mu", &Proximal::mu, "Pull towards the global model.", Constraint::between(0, 10)},
      {"average", &Proximal::average, "Weights of the mean.", Constraint::one_of({"examples", "clients"})},
      {"nesterov", &Proximal::nesterov, "Whether momentum looks ahead."}};
  const auto sizes =
      Schema<Sizes>{{"clients", &Sizes::clients, "Number of clients.", Constraint::at_least(1)},
                    {"classes_per_client", &Sizes::classes_per_client, "Classes that a client sees.",
                     Constraint::at_least(1)}};
  const auto alpha =
      Schema<Alpha>{{"clients", &Alpha::clients, "Number of clients.", Constraint::at_least(1)},
                    {"alpha", &Alpha::alpha, "Concentration.", Constraint::positive()}};
  const auto width = Schema<Width>{{"width", &Width::width, "Channels.", Constraint::between(1, 4096)},
                                   {"layers", &Width::layers, "Hidden layers.", Constraint::at_least(1)}};
  const auto noise = Schema<Noise>{
      {"clip_norm", &Noise::clip_norm, "Longest contribution.", Constraint::positive()},
      {"noise_multiplier", &Noise::noise_multiplier, "Noise per clip norm.", Constraint::at_least(0)},
      {"sampling", &Noise::sampling, "How records are drawn.", Constraint::one_of({"poisson", "fixed"})},
      {"batch", &Noise::batch, "Of fixed size.", Constraint::at_least(0)}};
  struct Crowd {
    double clip_norm = 2;
    double noise_for_epsilon = 0;
  };
  const auto crowd =
      Schema<Crowd>{{"clip_norm", &Crowd::clip_norm, "Longest message.", Constraint::positive()},
                    {"noise_for_epsilon", &Crowd::noise_for_epsilon, "Finds it.", Constraint::at_least(0)}};
  const std::vector<CatalogEntry> datasets = {{"glyphs", "Drawn letters.", {}},
                                              {"cifar10", "Photographs.", {}}};
  return {
      .datasets = datasets,
      .proxies = proxies_among(datasets),
      .partitions = {{"classes", "A few classes each.", sizes.fields()},
                     {"dirichlet", "Class shares by Dirichlet.", alpha.fields()}},
      .models = {{"convnet", "Three blocks of convolutions.", width.fields()}, {"linear", "One layer.", {}}},
      .algorithms = {{"fedavg", "Federated averaging.", rates.fields()},
                     {"fedprox", "Averaging with a proximal term.", proximal.fields()},
                     {"dp-fedavg", "Averaging of noised models.", rates.fields(), "record"},
                     {.name = "feddf",
                      .summary = "Averaging, then distillation.",
                      .fields = rates.fields(),
                      .requires_proxy = true}},
      .policies = {{"none", "Nothing.", {}},
                   {.name = "record",
                    .summary = "Noise on records.",
                    .fields = noise.fields(),
                    .check = [noise](const Settings& settings) { noise.read(settings); }},
                   {"client", "Noise on clients.", crowd.fields()}}};
}

/// A valid experiment that uses every section.
inline const std::string kSample = R"([experiment]
name = "quickstart"
seeds = [1, 2, 3]
rounds = 20
device = "cpu"

[data]
name = "glyphs"

[partition]
kind = "classes"
clients = 5

[model]
name = "convnet"
width = 64

[cohort]
size = 5

[evaluation]
every = 2

[privacy]
policy = "none"

[training]
rate = 0.5
batch_size = 64

[[algorithms]]
name = "fedavg"
label = "FedAvg"

[[algorithms]]
name = "fedprox"
mu = 1
rate = 0.25
)";

/// The same with profiles.
inline const std::string kProfiled = kSample + R"(
[profiles.quick]
"experiment.rounds" = 2
"experiment.seeds" = [7]
"algorithms.fedprox.mu" = 0
"evaluation.every" = 1

[profiles.wide]
"model.width" = 256
)";

/// The same with a sweep.
inline const std::string kSwept = kSample + R"(
[sweep]
"partition" = [{kind = "classes"}, {kind = "dirichlet", alpha = 0.5}]
"training.rate" = [0.1, 0.5]
"algorithms.fedprox.mu" = [0, 1]
)";

/// The sample under a policy, which FedProx has in a form of its own.
inline std::string private_sample() {
  std::string text = kSample;
  text.replace(text.find("policy = \"none\""), 15, "policy = \"record\"\nnoise_multiplier = 2");
  return text + "[algorithms.privacy]\nclip_norm = 0.2\n";
}

/// The text as the file "e.toml".
inline config::Document parsed(const std::string& text) { return config::parse_document(text, "e.toml"); }

inline Experiment parse_sample(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read_grid(parsed(text), overrides, sample_catalog()).front().experiment;
}

/// The message that the text is refused with, or "accepted".
inline std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {},
                           const std::optional<std::string>& profile = {},
                           const Catalog& catalog = sample_catalog()) {
  return test::message_or("accepted", [&] { read_plan(parsed(text), overrides, catalog, profile); });
}

/// The text with one piece in the place of another.
inline std::string with(std::string text, const std::string& piece, const std::string& replacement) {
  const std::size_t at = text.find(piece);
  FEDARENA_CHECK(at == std::string::npos, ==, false);
  return text.replace(at, piece.size(), replacement);
}

/// The same for the sample.
inline std::string with(const std::string& piece, const std::string& replacement) {
  return with(kSample, piece, replacement);
}

/// The sample with validation examples and two algorithms, FedAvg and fedprox, which both have a rate.
inline std::string tuning_sample() {
  return with(with("every = 2\n", "every = 2\nvalidation_fraction = 0.2\n"), "rate = 0.25\n", "");
}

}  // namespace fedarena
