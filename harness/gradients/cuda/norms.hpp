#pragma once

#include <cstdint>

#include "harness/gradients/cuda/blocks.hpp"
#include "harness/gradients/cuda/pools.hpp"

namespace fedarena::cuda {

/// Sizes of a group normalisation of [examples, groups, channels, plane] with the tail of kernels::Tail:
/// ReLU, then average pooling, both if at all. A block takes one group of one example.
struct NormSizes {
  std::int64_t groups, channels;  ///< of an example; of a group
  Windows windows;                ///< size 1: no pooling
  bool relu;
  double epsilon;

  FEDARENA_HOST_DEVICE std::int64_t plane() const { return windows.plane(); }
  FEDARENA_HOST_DEVICE std::int64_t pooled_plane() const { return windows.pooled_plane(); }
  /// Numbers of a group.
  FEDARENA_HOST_DEVICE std::int64_t group() const { return channels * plane(); }
  /// A group's first channel among its example's.
  FEDARENA_HOST_DEVICE std::int64_t first_channel(std::int64_t block) const {
    return block % groups * channels;
  }
};

inline constexpr int kNormThreads = 256;

/// How a block's threads share the channels of a group: so many at a time, with `lanes` threads each.
struct ChannelTeams {
  int teams = 1, lanes = kNormThreads;

  FEDARENA_HOST_DEVICE explicit ChannelTeams(std::int64_t channels) {
    constexpr int kFewestLanes = 32;
    for (; lanes > kFewestLanes && 2 * teams <= channels; lanes /= 2) teams *= 2;
  }
};

/// (x - mean) * scale + shift, by one expression: passes that compute it again need the same bits.
template <typename T>
FEDARENA_HOST_DEVICE inline T normalised(T input, T mean, T scale, T shift) {
  return (input - mean) * scale + shift;
}

/// Mean and inverse deviation of a group, in two phases' sums; leaves them in `mean` and `inverse` of what
/// the block shares.
template <typename T, typename Block>
FEDARENA_HOST_DEVICE inline void find_moments(Block& block, const T* x, std::int64_t count, double epsilon) {
  auto& shared = block.shared();
  const auto size = static_cast<double>(count);
  block.threads([&](int thread, auto& /*own*/) {
    shared.sums[thread] = strided_sum<T>(thread, count, kNormThreads, [x](std::int64_t i) { return x[i]; });
  });
  add_up(block, shared.sums, kNormThreads);
  block.threads([&](int thread, auto& /*own*/) {
    if (thread == 0) shared.mean = static_cast<T>(shared.sums[0] / size);
  });
  block.threads([&](int thread, auto& /*own*/) {
    const T mean = shared.mean;
    shared.sums[thread] = strided_sum<T>(thread, count, kNormThreads, [x, mean](std::int64_t i) {
      const T centred = x[i] - mean;
      return centred * centred;
    });
  });
  add_up(block, shared.sums, kNormThreads);
  block.threads([&](int thread, auto& /*own*/) {
    if (thread == 0) shared.inverse = static_cast<T>(1 / sqrt(shared.sums[0] / size + epsilon));
  });
}

/// kernels::group_norm: forward, with the tail.
template <typename T>
struct NormForward {
  static constexpr int kThreads = kNormThreads;
  struct Shared {
    double sums[kThreads];
    T mean, inverse;
  };
  using Own = Nothing;

  NormSizes sizes;
  const T *inputs, *weight, *bias;
  T *outputs, *mean, *inverse;

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& shared = block.shared();
    const T* x = inputs + block.index() * sizes.group();
    find_moments(block, x, sizes.group(), sizes.epsilon);
    block.threads([&](int thread, auto& /*own*/) {
      if (thread == 0) {
        mean[block.index()] = shared.mean;
        inverse[block.index()] = shared.inverse;
      }
      const std::int64_t first = sizes.first_channel(block.index()),
                         count = sizes.channels * sizes.pooled_plane();
      T* out = outputs + block.index() * count;
      for (std::int64_t i = thread; i < count; i += kThreads) {
        const std::int64_t channel = i / sizes.pooled_plane();
        const T *plane = x + channel * sizes.plane(), centre = shared.mean;
        const T scale = shared.inverse * weight[first + channel], shift = bias[first + channel];
        const bool relu = sizes.relu;
        out[i] = window_mean<T>(sizes.windows, i % sizes.pooled_plane(), [=](std::int64_t position) {
          const T value = normalised(plane[position], centre, scale, shift);
          return relu && value < 0 ? T(0) : value;  // NaN and minus zero stay, as LibTorch has it
        });
      }
    });
  }
};

/// The gradient in a number after normalisation from those in the tail's outputs.
template <typename T>
FEDARENA_HOST_DEVICE inline T through_tail(const NormSizes& sizes, std::int64_t position, const T* deltas,
                                           T input, T mean, T scale, T shift) {
  if (sizes.relu && normalised(input, mean, scale, shift) <= 0) return T(0);
  return spread(sizes.windows, position, deltas);
}

/// kernels::group_norm_backward, from gradients in the tail's outputs: those in the inputs, and each
/// example's own in weight and bias.
template <typename T>
struct NormBackward {
  static constexpr int kThreads = kNormThreads;
  struct Shared {
    double slopes[kThreads], totals[kThreads];
    double product, sum;  ///< over the channels so far, times their weights
    T along, constant;
  };
  using Own = Nothing;

  NormSizes sizes;
  const T *inputs, *deltas, *weight, *bias, *mean, *inverse;
  T *outputs, *weight_rows, *bias_rows;

  FEDARENA_HOST_DEVICE T delta(std::int64_t block, std::int64_t channel, std::int64_t position) const {
    const std::int64_t at = sizes.first_channel(block) + channel, row = block * sizes.channels + channel;
    const T centre = mean[block], scale = inverse[block] * weight[at], shift = bias[at];
    return through_tail(sizes, position, deltas + row * sizes.pooled_plane(),
                        inputs[row * sizes.plane() + position], centre, scale, shift);
  }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& shared = block.shared();
    const std::int64_t index = block.index(), first = sizes.first_channel(index);
    const T* x = inputs + index * sizes.group();
    const T centre = mean[index], deviation = inverse[index];
    const ChannelTeams threads(sizes.channels);
    block.threads([&](int thread, auto& /*own*/) {
      if (thread == 0) shared.product = shared.sum = 0;
    });
    for (std::int64_t begin = 0; begin < sizes.channels; begin += threads.teams) {
      block.threads([&](int thread, auto& /*own*/) {
        const std::int64_t channel = begin + thread / threads.lanes, lane = thread % threads.lanes;
        const std::int64_t count = channel < sizes.channels ? sizes.plane() : 0;
        const T* plane = x + channel * sizes.plane();
        shared.slopes[thread] = strided_sum<T>(lane, count, threads.lanes, [&](std::int64_t i) {
          return delta(index, channel, i) * (plane[i] - centre);
        });
        shared.totals[thread] = strided_sum<T>(lane, count, threads.lanes,
                                               [&](std::int64_t i) { return delta(index, channel, i); });
      });
      add_up(block, shared.slopes, threads.lanes);
      add_up(block, shared.totals, threads.lanes);
      block.threads([&](int thread, auto& /*own*/) {
        if (thread != 0) return;
        for (std::int64_t team = 0; team < threads.teams && begin + team < sizes.channels; ++team) {
          const std::int64_t channel = begin + team, row = index * sizes.channels + channel;
          const double slope = shared.slopes[team * threads.lanes],
                       total = shared.totals[team * threads.lanes];
          weight_rows[row] = static_cast<T>(slope * static_cast<double>(deviation));
          bias_rows[row] = static_cast<T>(total);
          shared.product += slope * static_cast<double>(weight[first + channel]);
          shared.sum += total * static_cast<double>(weight[first + channel]);
        }
      });
    }
    block.threads([&](int thread, auto& /*own*/) {
      if (thread != 0) return;
      const auto size = static_cast<double>(sizes.group()), r = static_cast<double>(deviation);
      shared.along = static_cast<T>(shared.product / size * r * r);
      shared.constant = static_cast<T>(shared.sum / size);
    });
    block.threads([&](int thread, auto& /*own*/) {
      T* out = outputs + index * sizes.group();
      for (std::int64_t i = thread; i < sizes.group(); i += kThreads) {
        const std::int64_t channel = i / sizes.plane();
        const T d = delta(index, channel, i % sizes.plane());
        out[i] = deviation * (weight[first + channel] * d - shared.constant - (x[i] - centre) * shared.along);
      }
    });
  }
};

}  // namespace fedarena::cuda
