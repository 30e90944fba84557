#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/gradients/kernels/kernels.hpp"
#include "harness/gradients/kernels/pooling.hpp"
#include "harness/gradients/kernels/vectorised.hpp"

/// What the passes of group normalisation have in common; loops over planes in the innermost cache.
namespace fedarena::kernels {

/// Sizes of one pass. A plane is what one channel of one example has: height * width numbers.
struct Extent {
  std::int64_t groups, groups_per_example, channels;  ///< channels of a group
  std::int64_t plane, height, width, pooled_plane;

  Extent(const torch::Tensor& inputs, const GroupNorm& layer, const Tail& tail)
      : groups(inputs.size(0) * layer.groups),
        groups_per_example(layer.groups),
        channels(layer.channels / layer.groups),
        plane(inputs[0][0].numel()),
        height(tail.pool == 0 ? 1 : inputs.size(2)),
        width(tail.pool == 0 ? plane : inputs.size(3)),
        pooled_plane(tail.pool == 0 ? plane : (height / tail.pool) * (width / tail.pool)) {}

  /// Numbers of a group.
  std::int64_t group() const { return channels * plane; }
  /// Shape of the tail's outputs.
  std::vector<std::int64_t> outputs(const torch::Tensor& inputs, const Tail& tail) const {
    if (tail.pool == 0) return inputs.sizes().vec();
    return {inputs.size(0), inputs.size(1), height / tail.pool, width / tail.pool};
  }
  /// The first channel of that group.
  std::int64_t first_channel(std::int64_t group) const { return group % groups_per_example * channels; }
};

template <typename T>
struct Moments {
  T mean, inverse_deviation;
};

template <typename T>
inline Moments<T> moments_of(const T* x, std::int64_t count, double epsilon) {
  const auto size = static_cast<double>(count);
  const auto mean = static_cast<T>(sum_of<T>(count, [x](std::int64_t i) { return x[i]; }) / size);
  const double variance = sum_of<T>(count,
                                    [x, mean](std::int64_t i) {
                                      const T centred = x[i] - mean;
                                      return centred * centred;
                                    }) /
                          size;
  return {mean, static_cast<T>(1 / std::sqrt(variance + epsilon))};
}

/// The normalised number, by one expression: later passes compute it again and need the same bits.
template <typename T>
inline T normalised(T input, T mean, T scale, T shift) {
  return (input - mean) * scale + shift;
}

}  // namespace fedarena::kernels
