#include "fedarena/features.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <torch/autograd.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kPart = 32;  // inputs at a time

}  // namespace

Model feature_model(const Model& model, std::string_view algorithm) {
  Architecture architecture = model.architecture();
  const auto* last = architecture.layers.empty() ? nullptr : std::get_if<Linear>(&architecture.layers.back());
  if (last == nullptr) {
    throw Error(Complaint{
        .found = std::string(algorithm) + " needs features, but the model does not end in an affine map",
        .remedy = "choose another model, or a method that needs gradients only, such as fedlap or dsc"});
  }
  architecture.outputs = last->in;
  architecture.layers.pop_back();
  return {std::move(architecture), model.options()};
}

Params feature_weights(const Model& features, const Params& at) {
  return {features.layout(), at.flat().narrow(0, 0, features.layout()->numel())};
}

torch::Tensor features_of(const Model& features, const Params& weights, const torch::Tensor& inputs) {
  const torch::NoGradGuard no_graph;
  std::vector<torch::Tensor> parts;
  for (std::int64_t first = 0; first < inputs.size(0); first += kPart) {
    const std::int64_t count = std::min(kPart, inputs.size(0) - first);
    parts.push_back(features.forward(weights, inputs.narrow(0, first, count)).flatten(1));
  }
  return torch::cat(parts);
}

}  // namespace fedarena
