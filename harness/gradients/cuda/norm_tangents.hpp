#pragma once

#include <cstdint>

#include "harness/gradients/cuda/norms.hpp"

namespace fedarena::cuda {

/// A group's moments while inputs move, as kernels::NormTangent has them: mean, inverse deviation, derivative
/// of the mean, and of the inverse deviation's logarithm.
inline constexpr int kMoments = 4;

/// Parameters of a normalisation and the direction in which they move.
template <typename T>
struct MovingScales {
  const T *weight, *bias, *weight_tangent, *bias_tangent;
};

/// kernels::group_norm_tangent.
template <typename T>
struct NormTangentForward {
  static constexpr int kThreads = kNormThreads;
  struct Shared {
    double sums[kThreads];
    T mean, inverse, mean_tangent, rate;
  };
  using Own = Nothing;

  NormSizes sizes;
  MovingScales<T> at;
  const T *inputs, *input_tangents;
  T *outputs, *moments;

  template <typename Block>
  FEDARENA_HOST_DEVICE void find_tangents(Block& block, const T* x, const T* dx) const {
    auto& shared = block.shared();
    const std::int64_t count = sizes.group();
    const auto size = static_cast<double>(count);
    block.threads([&](int thread, auto& /*own*/) {
      shared.sums[thread] = strided_sum<T>(thread, count, kThreads, [dx](std::int64_t i) { return dx[i]; });
    });
    add_up(block, shared.sums, kThreads);
    block.threads([&](int thread, auto& /*own*/) {
      if (thread == 0) shared.mean_tangent = static_cast<T>(shared.sums[0] / size);
    });
    block.threads([&](int thread, auto& /*own*/) {
      const T mean = shared.mean, tangent = shared.mean_tangent;
      shared.sums[thread] = strided_sum<T>(thread, count, kThreads,
                                           [=](std::int64_t i) { return (x[i] - mean) * (dx[i] - tangent); });
    });
    add_up(block, shared.sums, kThreads);
    block.threads([&](int thread, auto& /*own*/) {
      if (thread != 0) return;
      const auto r = static_cast<double>(shared.inverse);
      shared.rate = static_cast<T>(-(r * r) * (shared.sums[0] / size));
      T* own = moments + block.index() * kMoments;
      own[0] = shared.mean;
      own[1] = shared.inverse;
      own[2] = shared.mean_tangent;
      own[3] = shared.rate;
    });
  }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& shared = block.shared();
    const T *x = inputs + block.index() * sizes.group(), *dx = input_tangents + block.index() * sizes.group();
    find_moments(block, x, sizes.group(), sizes.epsilon);
    find_tangents(block, x, dx);
    block.threads([&](int thread, auto& /*own*/) {
      const std::int64_t first = sizes.first_channel(block.index()),
                         count = sizes.channels * sizes.pooled_plane();
      const T mean = shared.mean, mean_tangent = shared.mean_tangent;
      T* out = outputs + block.index() * count;
      for (std::int64_t i = thread; i < count; i += kThreads) {
        const std::int64_t channel = first + i / sizes.pooled_plane(),
                           start = i / sizes.pooled_plane() * sizes.plane();
        const T scale = shared.inverse * at.weight[channel], shift = at.bias[channel];
        const T turn = shared.inverse * (at.weight_tangent[channel] + shared.rate * at.weight[channel]);
        const T slide = at.bias_tangent[channel];
        const bool relu = sizes.relu;
        out[i] = window_mean<T>(sizes.windows, i % sizes.pooled_plane(), [=](std::int64_t position) {
          const T value = x[start + position];
          if (relu && normalised(value, mean, scale, shift) <= 0) return T(0);
          return scale * (dx[start + position] - mean_tangent) + turn * (value - mean) + slide;
        });
      }
    });
  }
};

/// kernels::group_norm_backward_tangent.
template <typename T>
struct NormTangentBackward {
  static constexpr int kThreads = kNormThreads;
  struct Shared {
    double totals[kThreads], total_tangents[kThreads], products[kThreads], product_tangents[kThreads];
    double constant, constant_tangent, slope, slope_tangent;
    T still, along_tangent, along;  ///< what every number of the group loses
  };
  using Own = Nothing;

  NormSizes sizes;
  MovingScales<T> at;
  const T *inputs, *input_tangents, *deltas, *delta_tangents, *moments;
  T* outputs;

  // Of `from`, gradients in the tail's outputs or their tangents.
  FEDARENA_HOST_DEVICE T through(const T* from, std::int64_t block, std::int64_t channel,
                                 std::int64_t position) const {
    const std::int64_t parameter = sizes.first_channel(block) + channel,
                       row = block * sizes.channels + channel;
    const T mean = moments[block * kMoments], scale = moments[block * kMoments + 1] * at.weight[parameter];
    return through_tail(sizes, position, from + row * sizes.pooled_plane(),
                        inputs[row * sizes.plane() + position], mean, scale, at.bias[parameter]);
  }

  // One channel's sums, which thread 0 of its team has found.
  template <typename Shared_>
  FEDARENA_HOST_DEVICE void add_channel(Shared_& shared, std::int64_t place, std::int64_t parameter,
                                        double inverse, double rate) const {
    const auto weight = static_cast<double>(at.weight[parameter]);
    const auto weight_tangent = static_cast<double>(at.weight_tangent[parameter]);
    shared.constant += weight * shared.totals[place];
    shared.constant_tangent += weight_tangent * shared.totals[place] + weight * shared.total_tangents[place];
    shared.slope += inverse * weight * shared.products[place];
    shared.slope_tangent += inverse * ((weight_tangent + rate * weight) * shared.products[place] +
                                       weight * shared.product_tangents[place]);
  }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& shared = block.shared();
    const std::int64_t index = block.index(), first = sizes.first_channel(index);
    const T *x = inputs + index * sizes.group(), *dx = input_tangents + index * sizes.group();
    const T mean = moments[index * kMoments], inverse = moments[index * kMoments + 1];
    const T mean_tangent = moments[index * kMoments + 2], rate = moments[index * kMoments + 3];
    const auto r = static_cast<double>(inverse), rho = static_cast<double>(rate);
    const ChannelTeams threads(sizes.channels);
    block.threads([&](int thread, auto& /*own*/) {
      if (thread == 0) shared.constant = shared.constant_tangent = shared.slope = shared.slope_tangent = 0;
    });
    for (std::int64_t begin = 0; begin < sizes.channels; begin += threads.teams) {
      block.threads([&](int thread, auto& /*own*/) {
        const std::int64_t channel = begin + thread / threads.lanes, lane = thread % threads.lanes;
        const std::int64_t count = channel < sizes.channels ? sizes.plane() : 0,
                           start = channel * sizes.plane();
        const auto d = [&](std::int64_t i) { return through(deltas, index, channel, i); };
        const auto dd = [&](std::int64_t i) { return through(delta_tangents, index, channel, i); };
        shared.totals[thread] = strided_sum<T>(lane, count, threads.lanes, d);
        shared.total_tangents[thread] = strided_sum<T>(lane, count, threads.lanes, dd);
        shared.products[thread] = strided_sum<T>(
            lane, count, threads.lanes, [&](std::int64_t i) { return d(i) * (x[start + i] - mean); });
        shared.product_tangents[thread] = strided_sum<T>(lane, count, threads.lanes, [&](std::int64_t i) {
          return dd(i) * (x[start + i] - mean) + d(i) * (dx[start + i] - mean_tangent);
        });
      });
      add_up(block, shared.totals, threads.lanes);
      add_up(block, shared.total_tangents, threads.lanes);
      add_up(block, shared.products, threads.lanes);
      add_up(block, shared.product_tangents, threads.lanes);
      block.threads([&](int thread, auto& /*own*/) {
        if (thread != 0) return;
        for (std::int64_t team = 0; team < threads.teams && begin + team < sizes.channels; ++team) {
          add_channel(shared, team * threads.lanes, first + begin + team, r, rho);
        }
      });
    }
    block.threads([&](int thread, auto& /*own*/) {
      if (thread != 0) return;
      const auto size = static_cast<double>(sizes.group());
      shared.still = static_cast<T>(r * (shared.constant_tangent + rho * shared.constant) / size);
      shared.along_tangent = static_cast<T>(r * r * shared.slope / size);
      shared.along = static_cast<T>(r * r * (shared.slope_tangent + 2 * rho * shared.slope) / size);
    });
    block.threads([&](int thread, auto& /*own*/) {
      T* out = outputs + index * sizes.group();
      for (std::int64_t i = thread; i < sizes.group(); i += kThreads) {
        const std::int64_t channel = i / sizes.plane(), position = i % sizes.plane(),
                           parameter = first + channel;
        const T scale = inverse * at.weight[parameter];
        const T turn = inverse * (at.weight_tangent[parameter] + rate * at.weight[parameter]);
        out[i] = scale * through(delta_tangents, index, channel, position) +
                 turn * through(deltas, index, channel, position) - shared.still -
                 shared.along_tangent * (dx[i] - mean_tangent) - shared.along * (x[i] - mean);
      }
    });
  }
};

}  // namespace fedarena::cuda
