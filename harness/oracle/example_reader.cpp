#include "harness/oracle/example_reader.hpp"

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "harness/gradients/cuda/tensors.hpp"

namespace fedarena {
namespace {

torch::Tensor turned(const torch::Tensor& images, std::int64_t degrees) {
  FEDARENA_CHECK(images.dim(), ==, 4);
  FEDARENA_CHECK(images.size(2), ==, images.size(3));
  FEDARENA_CHECK(degrees % 90, ==, 0);
  return images.rot90(degrees / 90, {2, 3}).contiguous();
}

}  // namespace

// Stored examples on a GPU, pixels as bytes, once they were read for the first time.
class ExampleReader::Residents {
 public:
  struct Stored {
    torch::Tensor inputs, targets;
  };

  explicit Residents(torch::Device device) : device_(device) {}

  // Those; or the examples where they are, if they would take too much of the GPU's memory or are one too
  // many.
  Stored of(const Stored& examples) {
    const std::lock_guard guard(lock_);
    for (const Kept& kept : all_) {
      if (kept.stored.inputs.is_same(examples.inputs) && kept.stored.targets.is_same(examples.targets))
        return kept.here;
    }
    if (all_.size() == kMost) return examples;
    Kept kept{examples, examples};
    try {
      if (fits(examples)) kept.here = {examples.inputs.to(device_), examples.targets.to(device_)};
    } catch (const c10::OutOfMemoryError&) {  // they stay where they are, which is slower
    }
    return all_.emplace_back(std::move(kept)).here;
  }

 private:
  struct Kept {
    Stored stored;  // held, so that no other tensor is taken for it
    Stored here;
  };

  // More than a data set has, so that others (what an attack puts together) do not pile up.
  static constexpr std::size_t kMost = 8;

  bool fits(const Stored& examples) const {
    constexpr std::int64_t kShare = 8;
    return static_cast<std::int64_t>(examples.inputs.nbytes()) <= cuda::memory_of(device_).total / kShare;
  }

  torch::Device device_;
  std::mutex lock_;
  std::vector<Kept> all_;
};

torch::Tensor tensor_of(std::span<const std::int64_t> positions) {
  torch::Tensor tensor = torch::empty({std::ssize(positions)}, torch::kInt64);
  std::ranges::copy(positions, tensor.data_ptr<std::int64_t>());
  return tensor;
}

ExampleReader::ExampleReader(const Dataset& dataset, torch::TensorOptions options)
    : options_(std::move(options)) {
  if (cuda::takes(options_.device())) residents_ = std::make_shared<Residents>(options_.device());
  if (dataset.mean.empty()) return;
  const torch::Tensor mean = torch::tensor(dataset.mean, torch::kFloat64);
  const torch::Tensor deviation = torch::tensor(dataset.deviation, torch::kFloat64);
  // ((x / 255) - mean) / deviation as one scale and one shift.
  scale_ = (1 / (255 * deviation)).view({1, -1, 1, 1}).to(options_);
  shift_ = (-mean / deviation).view({1, -1, 1, 1}).to(options_);
  pixel_range_ = torch::stack({shift_.flatten(), (255 * scale_ + shift_).flatten()});
}

Batch ExampleReader::read(const Examples& examples, const torch::Tensor& positions,
                          const InputSkew& skew) const {
  Residents::Stored stored{examples.inputs, examples.targets};
  if (residents_) stored = residents_->of(stored);
  // On a GPU, to wait for the copy would be to wait for all that was asked before; positions may go
  // meanwhile.
  const torch::Tensor places =
      positions.to(stored.inputs.device(), positions.scalar_type(), /*non_blocking=*/true);
  torch::Tensor inputs = stored.inputs.index_select(0, places);
  if (skew.degrees != 0) inputs = turned(inputs, skew.degrees);
  inputs = inputs.to(options_.device()).to(options_);
  if (scale_.defined()) inputs = inputs.mul_(scale_).add_(shift_);
  if (skew.noise > 0) inputs.add_(noise(inputs.sizes(), positions, skew));
  torch::Tensor targets = stored.targets.index_select(0, places);
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

torch::Tensor ExampleReader::pixels(const torch::Tensor& inputs) const {
  torch::Tensor pixels = inputs.detach();
  // (x - shift) / scale is in shades of 255.
  if (scale_.defined()) pixels = (pixels - shift_) / (255 * scale_);
  return pixels.to(torch::kCPU, torch::kFloat32, false, true).contiguous();
}

}  // namespace fedarena
