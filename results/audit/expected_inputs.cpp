#include "results/audit/expected_inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "fedarena/base/find.hpp"

#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// Published data sets: training examples, 0 where files differ, classes, and test examples where each class
// has as many.
struct KnownData {
  std::string_view name;
  std::int64_t train = 0, classes = 0, even_test = 0;
};
constexpr std::array<KnownData, 9> kKnownData = {{{"glyphs", 0, 10, 2'000},
                                                  {"linear-mixture", 0, 0},
                                                  {"mnist", 60'000, 10},
                                                  {"fashion-mnist", 60'000, 10, 10'000},
                                                  {"cifar10", 50'000, 10, 10'000},
                                                  {"cifar100", 50'000, 100, 10'000},
                                                  {"svhn", 73'257, 10},
                                                  {"femnist", 0, 62},
                                                  {"fed-emnist", 0, 62}}};

// Tables tell runs apart by what differs from these, so they never change.
struct Usual {
  std::string_view dataset, setting, text;
};
constexpr std::array<Usual, 31> kUsual = {{{"glyphs", "train", "12000"},
                                           {"linear-mixture", "users", "100"},
                                           {"linear-mixture", "samples", "10"},
                                           {"linear-mixture", "test_samples", "10"},
                                           {"linear-mixture", "inputs", "\"uniform\""},
                                           {"cifar100", "labels", "\"fine\""},
                                           {"femnist", "standardise", "true"},
                                           {"fed-emnist", "digits_only", "false"},
                                           {"fed-emnist", "standardise", "true"},
                                           {"image-folder", "path", "\"\""},
                                           {"image-folder", "test_fraction", "0.0"},
                                           {"image-folder", "colour", "\"as-is\""},
                                           {"image-folder", "standardise", "true"},
                                           {"csv", "path", "\"\""},
                                           {"csv", "target", "\"\""},
                                           {"csv", "task", "\"auto\""},
                                           {"csv", "features", "\"\""},
                                           {"csv", "categorical", "\"\""},
                                           {"csv", "index", "\"\""},
                                           {"csv", "index_values", "\"\""},
                                           {"csv", "join_path", "\"\""},
                                           {"csv", "join", "\"\""},
                                           {"csv", "user", "\"\""},
                                           {"csv", "test_path", "\"\""},
                                           {"csv", "test_fraction", "0.2"},
                                           {"csv", "standardise", "\"features\""},
                                           {"csv", "units", "\"\""},
                                           {"csv", "separator", "\"auto\""},
                                           {"csv", "decimal", "\"point\""},
                                           {"csv", "missing", "\"refuse\""},
                                           {"csv", "missing_as", "\"\""}}};

// Models of one shape whatever their settings, and the tensors of their parameters.
struct FixedModel {
  std::string_view name;
  std::int64_t tensors = 0;
};
constexpr std::array<FixedModel, 4> kFixedModels = {
    {{"logistic", 2}, {"dlg-lenet", 5}, {"femnist-cnn", 8}, {"niid-cnn", 10}}};

// An edited file may hold any number; no run has as many.
std::int64_t bounded(std::int64_t count) { return std::clamp<std::int64_t>(count, 0, kMostAccesses); }

// Those for validation among them.
std::optional<std::int64_t> training_examples(const ResolvedSettings& settings) {
  const std::string name = settings.of("data.name");
  const KnownData* known = find_named(kKnownData, name, &KnownData::name);
  if (known == nullptr) return std::nullopt;
  const auto number = [&](const std::string& key) {
    return std::clamp<std::int64_t>(settings.number<std::int64_t>(key, 0), 0, 100'000'000);
  };
  std::int64_t examples = known->train;
  if (name == "glyphs") examples = number("data.train");
  if (name == "linear-mixture") examples = bounded(number("data.users") * number("data.samples"));
  return examples == 0 ? std::nullopt : std::optional(examples);
}

}  // namespace

std::optional<std::int64_t> expected_examples(const ResolvedSettings& settings) {
  const std::optional<std::int64_t> all = training_examples(settings);
  return all ? std::optional(*all - expected_validation_examples(settings).value_or(0)) : std::nullopt;
}

std::optional<std::int64_t> expected_validation_examples(const ResolvedSettings& settings) {
  const std::optional<std::int64_t> all = training_examples(settings);
  const auto fraction = settings.number<double>("evaluation.validation_fraction", 0);
  if (!all || !(fraction > 0 && fraction < 1)) return std::nullopt;
  return std::llround(fraction * static_cast<double>(*all));
}

std::optional<std::int64_t> expected_classes(const ResolvedSettings& settings) {
  const std::string name = settings.of("data.name");
  const KnownData* known = find_named(kKnownData, name, &KnownData::name);
  if (known == nullptr) return std::nullopt;
  if (name == "cifar100" && settings.of("data.labels") == "coarse") return 20;
  if (name == "fed-emnist" && settings.of("data.digits_only") == "true") return 10;
  return known->classes;
}

std::optional<std::vector<std::int64_t>> expected_test_counts(const ResolvedSettings& settings) {
  const std::string name = settings.of("data.name");
  if (name == "mnist") return {{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}};
  const KnownData* known = find_named(kKnownData, name, &KnownData::name);
  if (known == nullptr || known->even_test == 0) return std::nullopt;
  const std::int64_t classes = *expected_classes(settings);
  return std::vector(static_cast<std::size_t>(classes), known->even_test / classes);
}

std::optional<std::int64_t> expected_tensors(const ResolvedSettings& settings) {
  const std::string name = settings.of("model.name");
  if (const FixedModel* fixed = find_named(kFixedModels, name, &FixedModel::name)) return fixed->tensors;
  if (name == "linear") return settings.of("model.bias", "true") == "true" ? 2 : 1;
  if (name == "mlp") {
    const std::string hidden = settings.of("model.hidden", "[]");
    return hidden == "[]" ? 2 : 2 * (std::ranges::count(hidden, ',') + 2);
  }
  if (name == "convnet") {
    const std::int64_t of_a_block = settings.of("model.norm") == "none" ? 2 : 4;
    return bounded(settings.number<std::int64_t>("model.depth", 0)) * of_a_block + 2;
  }
  if (name == "resnet") {
    const auto count = [&](const char* key) { return bounded(settings.number<std::int64_t>(key, 0)); };
    const std::int64_t stages = count("model.stages"), of_a_normalised_convolution = 4;
    // The first convolution, two in each block, and the projections.
    return bounded((1 + 2 * stages * count("model.blocks") + stages - 1) * of_a_normalised_convolution + 2);
  }
  if (name == "sequence") {
    std::string layers = settings.of("model.layers");
    for (char& letter : layers)
      letter = letter == '\n' || letter == '\r' ? ',' : letter == '\t' ? ' ' : letter;
    const std::int64_t learnt = std::ranges::count_if(split_at_commas(layers), [](std::string_view layer) {
      return layer.starts_with("conv") || layer.starts_with("group-norm") || layer.starts_with("linear");
    });
    return 2 * (learnt + 1);  // the last affine map is not listed
  }
  return std::nullopt;
}

std::optional<std::string> usual_of_data(const std::string& dataset, const std::string& setting) {
  const auto* usual = std::ranges::find_if(
      kUsual, [&](const Usual& entry) { return entry.dataset == dataset && entry.setting == setting; });
  if (usual == kUsual.end()) return std::nullopt;
  return std::string(usual->text);
}

}  // namespace fedarena::results
