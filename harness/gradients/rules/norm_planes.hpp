#pragma once

#include <algorithm>
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

  Extent(const torch::Tensor& inputs, const Norm& norm)
      : groups(inputs.size(0) * norm.layer.groups),
        groups_per_example(norm.layer.groups),
        channels(norm.layer.channels / norm.layer.groups),
        plane(inputs.numel() / std::max<std::int64_t>(1, inputs.size(0) * inputs.size(1))),
        height(norm.tail.pool == 0 ? 1 : inputs.size(2)),
        width(norm.tail.pool == 0 ? plane : inputs.size(3)),
        pooled_plane(norm.tail.pool == 0 ? plane : (height / norm.tail.pool) * (width / norm.tail.pool)) {}

  /// Numbers of a group.
  std::int64_t group() const { return channels * plane; }
  /// The first channel of that group.
  std::int64_t first_channel(std::int64_t group) const { return group % groups_per_example * channels; }
};

/// Shape of the tail's outputs.
inline std::vector<std::int64_t> outputs_of(const torch::Tensor& inputs, const Tail& tail) {
  if (tail.pool == 0) return inputs.sizes().vec();
  return {inputs.size(0), inputs.size(1), inputs.size(2) / tail.pool, inputs.size(3) / tail.pool};
}

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

/// Gradients in a plane after normalisation from those in the tail's outputs: `from` itself where there is no
/// tail, else at `place`.
template <typename T>
inline const T* through_tail(const Extent& extent, const Tail& tail, const T* x, T mean, T scale, T shift,
                             const T* from, T* place) {
  if (tail.pool != 0) {
    unpool_plane(from, extent.height, extent.width, tail.pool, place);
    from = place;
  }
  if (!tail.relu) return from;
  for (std::int64_t i = 0; i < extent.plane; ++i) {
    place[i] = normalised(x[i], mean, scale, shift) <= 0 ? T(0) : from[i];
  }
  return place;
}

}  // namespace fedarena::kernels
