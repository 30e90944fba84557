#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "sample.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

// Draws experiments that are valid by construction.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  Experiment experiment(const Catalog& catalog) {
    Experiment result;
    result.name = folder_name();
    const auto first = static_cast<std::int64_t>(below(1U << 31)) << below(32);
    for (std::int64_t index = 0; index <= static_cast<std::int64_t>(below(5)); ++index) {
      result.seeds.push_back(first + index);
    }
    result.rounds = 1 + static_cast<std::int64_t>(below(1'000'000));
    result.device = std::array{"cpu", "cuda", "cuda:3", "auto"}.at(below(4));
    if (below(2) == 0) result.dtype = "float64";
    result.data = choice(catalog.datasets);
    do {
      result.proxy = choice(catalog.proxies);
    } while (result.proxy.name == result.data.name);
    result.partition = choice(catalog.partitions);
    result.model = choice(catalog.models);
    result.privacy = choice(catalog.policies);
    const auto clients = std::get<std::int64_t>(setting(result.partition.settings, "clients"));
    if (below(2) == 0) {
      result.cohort.size = std::min<std::int64_t>(clients, static_cast<std::int64_t>(below(100)));
    } else {
      result.cohort.fraction = unit();
    }
    result.evaluation.every = 1 + static_cast<std::int64_t>(below(1000));
    result.evaluation.per_client = below(2) == 0;
    if (below(2) == 0) {
      result.evaluation.validation_fraction = 0.9 * unit();
      const auto patience = static_cast<std::int64_t>(below(100));
      result.stopping = {unit(), patience, patience > 0 ? unit() : 0};
    }
    for (std::uint64_t index = 0; index <= below(4); ++index) {
      Choice algorithm = choice(catalog.algorithms);
      const std::string& required = find_entry(catalog.algorithms, algorithm.name)->requires_policy;
      Choice policy = below(2) == 0 ? result.privacy : choice(catalog.policies);
      while (!required.empty() && policy.name != required) policy = choice(catalog.policies);
      const bool needs_proxy = find_entry(catalog.algorithms, algorithm.name)->requires_proxy;
      while (needs_proxy && (result.proxy.name == kNoProxy || result.proxy.name == result.data.name))
        result.proxy = choice(catalog.proxies);
      result.algorithms.push_back({algorithm.name, fmt::format("{}{}", folder_name(), index),
                                   std::move(algorithm.settings), std::move(policy)});
    }
    return result;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  std::string folder_name() {
    static const std::string kLetters = "abzAZ019-_.";
    std::string name(1, kLetters[below(8)]);
    for (std::uint64_t size = below(20); size > 0; --size) name += kLetters[below(kLetters.size())];
    return name;
  }

  std::string any_text() {
    static const std::vector<std::string> kPieces = {"a",  "\"", "\\", "\n", "\t", "\x01", "\x7f", "#",
                                                     "''", "[",  "=",  " ",  "é",  "漢",   "🙂", "\\u00e9"};
    std::string text;
    for (std::uint64_t size = below(12); size > 0; --size) text += kPieces[below(kPieces.size())];
    return text;
  }

  // Wide magnitudes, to try every way of writing a number.
  double magnitude() { return std::ldexp(1 + unit(), static_cast<int>(below(2000)) - 1000); }

  Value value(const Field& field) {
    if (below(4) == 0) return field.fallback;
    for (int attempt = 0; attempt < 100; ++attempt) {
      Value candidate = field.fallback;
      if (auto* flag = std::get_if<bool>(&candidate)) *flag = below(2) == 0;
      if (auto* number = std::get_if<std::int64_t>(&candidate))
        *number = static_cast<std::int64_t>(engine_() >> below(64));
      if (auto* number = std::get_if<double>(&candidate)) *number = below(2) == 0 ? unit() : magnitude();
      if (auto* text = std::get_if<std::string>(&candidate)) {
        const auto& names = field.constraint.names();
        *text = names.empty() ? any_text() : names[below(names.size())];
      }
      if (auto* list = std::get_if<std::vector<std::int64_t>>(&candidate)) {
        list->clear();
        for (std::uint64_t size = below(5); size > 0; --size)
          list->push_back(1 + static_cast<std::int64_t>(below(99)));
      }
      if (field.constraint.holds(candidate)) return candidate;
    }
    return field.fallback;
  }

  static bool obeys_rules(const CatalogEntry& entry, const Settings& settings) {
    try {
      if (entry.check) entry.check(settings);
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  Choice choice(const std::vector<CatalogEntry>& entries) {
    const CatalogEntry& entry = entries[below(entries.size())];
    Choice result{entry.name, {}};
    for (bool accepted = false; !accepted;) {
      result.settings.clear();
      for (const Field& field : entry.fields) result.settings.emplace_back(field.name, value(field));
      accepted = obeys_rules(entry, result.settings);
    }
    return result;
  }

  std::mt19937_64 engine_;
};

struct Odd {
  std::string note = "";
  double clip = kInfinity;  // a default out of range
  double scale = -0.0;
};

Catalog odd_catalog() {
  Catalog catalog = sample_catalog();
  catalog.datasets.push_back(
      {"odd", "Every kind of text and number.",
       Schema<Odd>{{"note", &Odd::note, "Any text."},
                   {"clip", &Odd::clip, "Infinite: no clipping.", Constraint::positive()},
                   {"scale", &Odd::scale, "Any number."}}
           .fields()});
  return catalog;
}

TEST(ToToml, ReadsBackToTheSameExperiment) {
  const Catalog catalog = odd_catalog();
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Experiment experiment = Draw(seed).experiment(catalog);
    const std::string text = to_toml(experiment);
    const Experiment again =
        read_grid(config::parse_document(text, "again.toml"), {}, catalog).front().experiment;
    ASSERT_EQ(again, experiment) << text;
    ASSERT_EQ(to_toml(again), text);
  }
}

TEST(ToToml, WritesEveryDefault) {
  EXPECT_EQ(to_toml(parse_sample(kSample)), R"(# Every setting of the experiment, defaults included.

[experiment]
name = "quickstart"
seeds = [1, 2, 3]
rounds = 20
device = "cpu"
dtype = "float32"

[data]
name = "glyphs"

[partition]
kind = "classes"
clients = 5
classes_per_client = 2

[model]
name = "convnet"
width = 64
layers = [64, 64]

[cohort]
size = 5
fraction = 0.0

[evaluation]
every = 2
validation_fraction = 0.0
per_client = false

[stopping]
target_accuracy = 0.0
patience = 0
improvement = 0.0

[privacy]
policy = "none"

[[algorithms]]
name = "fedavg"
label = "FedAvg"
rate = 0.5
batch_size = 64

[algorithms.privacy]
policy = "none"

[[algorithms]]
name = "fedprox"
label = "fedprox"
rate = 0.25
batch_size = 64
mu = 1.0
average = "examples"
nesterov = false

[algorithms.privacy]
policy = "none"
)");
}

TEST(ToToml, WritesTheWholePolicyOfEveryAlgorithm) {
  const std::string text = to_toml(parse_sample(private_sample()));
  EXPECT_NE(text.find("\n[privacy]\npolicy = \"record\"\nclip_norm = 1.0\nnoise_multiplier = 2.0\n"
                      "sampling = \"poisson\"\nbatch = 0\n\n[[algorithms]]\nname = \"fedavg\""),
            std::string::npos)
      << text;
  EXPECT_TRUE(
      text.ends_with("\nnesterov = false\n\n[algorithms.privacy]\npolicy = \"record\"\n"
                     "clip_norm = 0.2\nnoise_multiplier = 2.0\nsampling = \"poisson\"\nbatch = 0\n"))
      << text;
}

// A recorded run means the same after its [privacy] was edited.
TEST(ToToml, LeavesNothingToInherit) {
  const Experiment experiment = parse_sample(private_sample());
  const std::string text = to_toml(experiment);
  const Experiment other = parse_sample(
      with(text, "policy = \"record\"\nclip_norm = 1.0", "policy = \"record\"\nclip_norm = 9.0"));
  EXPECT_EQ(other.algorithms, experiment.algorithms);
  EXPECT_NE(other.privacy, experiment.privacy);
}

// Runs from before there were proxy data keep their names.
TEST(ToToml, NamesProxyDataOnlyWhereThereAreSome) {
  EXPECT_EQ(to_toml(parse_sample(kSample)).find("proxy"), std::string::npos);
  const std::string text = to_toml(parse_sample(kSample, {"proxy.name=cifar10", "proxy.limit=7"}));
  EXPECT_NE(text.find("\n[proxy]\nname = \"cifar10\"\nlimit = 7\n"), std::string::npos) << text;
}

TEST(RoundTrip, OfOneAlgorithmUnderOneSeed) {
  const Experiment experiment = parse_sample(private_sample());
  for (const AlgorithmEntry& algorithm : experiment.algorithms) {
    for (const std::int64_t seed : experiment.seeds) {
      Experiment one = experiment;
      one.seeds = {seed};
      one.algorithms = {algorithm};
      EXPECT_EQ(parse_sample(to_toml(one)), one);
    }
  }
}

}  // namespace
}  // namespace fedarena
