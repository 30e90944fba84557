#include "harness/oracle/example_reader.hpp"

#include <span>
#include <utility>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena {
namespace {

torch::Tensor turned(const torch::Tensor& images, std::int64_t degrees) {
  FEDARENA_CHECK(images.dim(), ==, 4);
  FEDARENA_CHECK(images.size(2), ==, images.size(3));
  FEDARENA_CHECK(degrees % 90, ==, 0);
  return images.rot90(degrees / 90, {2, 3}).contiguous();
}

}  // namespace

ExampleReader::ExampleReader(const Dataset& dataset, torch::TensorOptions options)
    : options_(std::move(options)) {
  if (dataset.mean.empty()) return;
  const torch::Tensor mean = torch::tensor(dataset.mean, torch::kFloat64);
  const torch::Tensor deviation = torch::tensor(dataset.deviation, torch::kFloat64);
  // ((x / 255) - mean) / deviation as one scale and one shift.
  scale_ = (1 / (255 * deviation)).view({1, -1, 1, 1}).to(options_);
  shift_ = (-mean / deviation).view({1, -1, 1, 1}).to(options_);
}

Batch ExampleReader::read(const Examples& examples, const torch::Tensor& positions,
                          const InputSkew& skew) const {
  torch::Tensor inputs = examples.inputs.index_select(0, positions);
  if (skew.degrees != 0) inputs = turned(inputs, skew.degrees);
  // Pixels go to a GPU as bytes.
  inputs = inputs.to(options_.device()).to(options_);
  if (scale_.defined()) inputs = inputs.mul_(scale_).add_(shift_);
  if (skew.noise > 0) inputs.add_(noise(inputs.sizes(), positions, skew));
  torch::Tensor targets = examples.targets.index_select(0, positions);
  targets = targets.is_floating_point() ? targets.to(options_) : targets.to(options_.device());
  return {std::move(inputs), std::move(targets)};
}

torch::Tensor ExampleReader::noise(at::IntArrayRef shape, const torch::Tensor& positions,
                                   const InputSkew& skew) const {
  torch::Tensor noise = torch::empty(shape, torch::kFloat64);
  const std::int64_t size = positions.size(0) == 0 ? 0 : noise.numel() / positions.size(0);
  for (std::int64_t i = 0; i < positions.size(0); ++i) {
    // Partitions are dealt by streams without a client, so these are used by nobody else.
    Stream stream({.seed = skew.seed,
                   .client = skew.client,
                   .purpose = Purpose::kPartition,
                   .index = static_cast<std::uint64_t>(skew.first + positions[i].item<std::int64_t>())});
    stream.fill_normal(std::span(noise.data_ptr<double>() + i * size, static_cast<std::size_t>(size)));
  }
  noise = noise.mul_(skew.noise).to(options_);
  // In shades of 255 as pixels are stored, then as they are normalised.
  return scale_.defined() ? noise.mul_(255 * scale_) : noise;
}

torch::Tensor ExampleReader::pixel_range() const {
  if (!scale_.defined()) return {};
  return torch::stack({shift_.flatten(), (255 * scale_ + shift_).flatten()});
}

torch::Tensor ExampleReader::pixels(const torch::Tensor& inputs) const {
  torch::Tensor pixels = inputs.detach();
  // (x - shift) / scale is in shades of 255.
  if (scale_.defined()) pixels = (pixels - shift_) / (255 * scale_);
  return pixels.to(torch::kCPU, torch::kFloat32, false, true).contiguous();
}

}  // namespace fedarena
