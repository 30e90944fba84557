#include "harness/simulation/round_notes.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "results/table/column_selection.hpp"

namespace fedarena {
namespace {

std::string shape_text(const torch::Tensor& tensor) {
  return tensor.defined() ? fmt::format("[{}]", fmt::join(tensor.sizes().vec(), ", ")) : "none";
}

template <typename Value>
std::vector<Value> values_of(const torch::Tensor& tensor) {
  const Value* first = tensor.data_ptr<Value>();
  return {first, first + tensor.numel()};
}

// Of class probabilities the likeliest class.
torch::Tensor labels_of(const torch::Tensor& targets, std::int64_t classes) {
  if (targets.is_floating_point() && targets.dim() == 2 && targets.size(1) == classes)
    return targets.argmax(1);
  const bool fits = targets.scalar_type() == torch::kInt64 && targets.dim() == 1 &&
                    targets.ge(0).logical_and(targets.lt(classes)).all().item<bool>();
  if (fits) return targets;
  throw Error(Complaint{.found = fmt::format("the algorithm's synthetic targets are {} {}, from {} to {}",
                                             torch::toString(targets.scalar_type()), shape_text(targets),
                                             targets.min().item<double>(), targets.max().item<double>()),
                        .allowed = fmt::format("classes from 0 to {}, int64 [n], or their probabilities, "
                                               "floating [n, {}]",
                                               classes - 1, classes)});
}

}  // namespace

std::vector<std::pair<std::string, double>> observed_means(const Observations& observed) {
  std::vector<std::pair<std::string, double>> means;
  for (const auto& [name, values] : observed.values()) {
    if (results::is_reserved(name)) {
      throw Error(Complaint{
          .found = fmt::format("the algorithm observes \"{}\", which is a name of the harness's own", name),
          .allowed = "a name that no quantity, column or field of a record has"});
    }
    means.emplace_back(name, values.sum / static_cast<double>(values.count));
  }
  return means;
}

std::vector<results::ModelChoice> choices_of(std::span<const std::int64_t> cohort,
                                             std::span<const std::int64_t> choices) {
  if (choices.empty()) return {};
  const auto least = std::ranges::min_element(choices);
  if (choices.size() != cohort.size() || *least < 0) {
    throw Error(Complaint{
        .found = fmt::format("the algorithm tells {} choices of models for a cohort of {}, {} the least",
                             choices.size(), cohort.size(), *least),
        .allowed = "a number from 0 for each client of the cohort, or nothing"});
  }
  std::vector<results::ModelChoice> chosen;
  for (std::size_t i = 0; i < cohort.size(); ++i) chosen.push_back({cohort[i], choices[i]});
  return chosen;
}

Batch in_pixels(const Batch& synthetic, const ExampleReader& reader, const Model& model) {
  const auto& [inputs, targets] = synthetic;
  if (!inputs.defined() && !targets.defined()) return {};
  if (!inputs.defined() || !targets.defined() || targets.dim() == 0 ||
      inputs.sizes() != torch::IntArrayRef(model.input_shape(targets.size(0)))) {
    throw Error::of(
        "the algorithm's synthetic inputs have the shape {}, their targets {}; the model's inputs have [n, "
        "{}]",
        shape_text(inputs), shape_text(targets), fmt::join(model.architecture().input_shape, ", "));
  }
  if (targets.size(0) == 0) return {};
  const bool classes = model.architecture().loss == Loss::kCrossEntropy;
  const torch::Tensor labels = classes ? labels_of(targets, model.architecture().outputs) : targets;
  return {reader.pixels(inputs),
          labels.detach().to(torch::kCPU, labels.scalar_type(), false, true).contiguous()};
}

results::Array to_array(const torch::Tensor& tensor) {
  results::Array array{.shape = tensor.sizes().vec(), .values = {}};
  if (tensor.scalar_type() == torch::kInt64) {
    array.values = values_of<std::int64_t>(tensor);
  } else {
    array.values = values_of<float>(tensor.to(torch::kFloat32));
  }
  return array;
}

}  // namespace fedarena
