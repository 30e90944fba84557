#include "harness/simulation/synthetic_batch.hpp"

#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

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
