#include "harness/simulation/round_notes.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "results/measures/quantity.hpp"

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

}  // namespace

std::vector<std::pair<std::string, double>> observed_means(const Observations& observed) {
  std::vector<std::pair<std::string, double>> means;
  for (const auto& [name, values] : observed.values()) {
    if (results::find_quantity(name)) {
      throw Error(
          Complaint{.found = fmt::format("the algorithm observes \"{}\", which the harness measures", name),
                    .allowed = "another name"});
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
  if (classes && (targets.scalar_type() != torch::kInt64 || targets.dim() != 1 ||
                  targets.min().item<std::int64_t>() < 0 ||
                  targets.max().item<std::int64_t>() >= model.architecture().outputs)) {
    throw Error(Complaint{.found = fmt::format("the algorithm's synthetic targets are {} {}, from {} to {}",
                                               torch::toString(targets.scalar_type()), shape_text(targets),
                                               targets.min().item<double>(), targets.max().item<double>()),
                          .allowed = fmt::format("a class for each input: int64 [n], 0 to {}",
                                                 model.architecture().outputs - 1),
                          .remedy = "Set server.synthetic to them in aggregate()"});
  }
  return {reader.pixels(inputs),
          targets.detach().to(torch::kCPU, targets.scalar_type(), false, true).contiguous()};
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
