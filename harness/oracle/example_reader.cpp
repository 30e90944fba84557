#include "harness/oracle/example_reader.hpp"

#include <utility>

namespace fedarena {

ExampleReader::ExampleReader(const Dataset& dataset, torch::TensorOptions options)
    : options_(std::move(options)) {
  if (dataset.mean.empty()) return;
  const torch::Tensor mean = torch::tensor(dataset.mean, torch::kFloat64);
  const torch::Tensor deviation = torch::tensor(dataset.deviation, torch::kFloat64);
  // ((x / 255) - mean) / deviation as one scale and one shift.
  scale_ = (1 / (255 * deviation)).view({1, -1, 1, 1}).to(options_);
  shift_ = (-mean / deviation).view({1, -1, 1, 1}).to(options_);
}

Batch ExampleReader::read(const Examples& examples, const torch::Tensor& positions) const {
  torch::Tensor inputs = examples.inputs.index_select(0, positions).to(options_);
  if (scale_.defined()) inputs = inputs.mul_(scale_).add_(shift_);
  torch::Tensor targets = examples.targets.index_select(0, positions);
  targets = targets.is_floating_point() ? targets.to(options_) : targets.to(options_.device());
  return {std::move(inputs), std::move(targets)};
}

torch::Tensor ExampleReader::pixels(const torch::Tensor& inputs) const {
  torch::Tensor pixels = inputs.detach();
  // (x - shift) / scale is in shades of 255.
  if (scale_.defined()) pixels = (pixels - shift_) / (255 * scale_);
  return pixels.to(torch::kCPU, torch::kFloat32, false, true).contiguous();
}

}  // namespace fedarena
