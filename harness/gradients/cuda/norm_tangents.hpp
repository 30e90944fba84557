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
    OfGroups<T> mean, inverse, mean_tangent, rate;
  };

  NormSizes sizes;
  std::int64_t count;  ///< groups of all examples
  MovingScales<T> scales;
  const T *inputs, *input_tangents;
  T *outputs, *moments;

  std::int64_t blocks() const { return NormTeams(sizes).blocks(count); }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& shared = block.shared();
    const NormTeams teams(sizes);
    const T *x = inputs, *dx = input_tangents;
    find_moments(block, sizes, count, x);
    average_groups<T>(
        block, sizes, count, shared.mean_tangent, [dx](int /*slot*/, std::int64_t i) { return dx[i]; },
        [](int /*slot*/, double mean) { return mean; });
    average_groups<T>(
        block, sizes, count, shared.rate,
        [=, &shared](int slot, std::int64_t i) {
          return (x[i] - shared.mean[slot]) * (dx[i] - shared.mean_tangent[slot]);
        },
        [&shared](int slot, double product) {
          const auto r = static_cast<double>(shared.inverse[slot]);
          return -(r * r) * product;
        });
    block.threads([&](int thread) {
      const NormPlace at(teams, block.index(), thread);
      if (at.group >= count) return;
      const T mean = shared.mean[at.slot], inverse = shared.inverse[at.slot],
              mean_tangent = shared.mean_tangent[at.slot], rate = shared.rate[at.slot];
      if (at.rank == 0) {
        T* own = moments + at.group * kMoments;
        own[0] = mean;
        own[1] = inverse;
        own[2] = mean_tangent;
        own[3] = rate;
      }
      const bool relu = sizes.relu;
      for (int channel = at.channel; channel < sizes.channels; channel += teams.channels()) {
        const std::int64_t row = at.group * sizes.channels + channel,
                           parameter = sizes.first_channel(at.group) + channel;
        const T *plane = x + row * sizes.plane(), *tangents = dx + row * sizes.plane();
        T* out = outputs + row * sizes.pooled_plane();
        const T scale = inverse * scales.weight[parameter], shift = scales.bias[parameter];
        const T turn = inverse * (scales.weight_tangent[parameter] + rate * scales.weight[parameter]);
        const T slide = scales.bias_tangent[parameter];
        for (int i = at.lane; i < sizes.pooled_plane(); i += teams.lanes) {
          out[i] = window_mean<T>(sizes.windows, i, [=](int position) {
            const T value = plane[position];
            if (relu && normalised(value, mean, scale, shift) <= 0) return T(0);
            return scale * (tangents[position] - mean_tangent) + turn * (value - mean) + slide;
          });
        }
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
    OfGroups<double> constant, constant_tangent, slope, slope_tangent;
  };

  NormSizes sizes;
  std::int64_t count;  ///< groups of all examples
  MovingScales<T> scales;
  const T *inputs, *input_tangents, *deltas, *delta_tangents, *moments;
  T* outputs;

  std::int64_t blocks() const { return NormTeams(sizes).blocks(count); }

  // What is read of a channel at a position: x and its tangent, the gradient and its tangent.
  struct Read {
    T input, input_tangent, delta, delta_tangent;
  };
  struct Channel {
    ThroughTail<T> delta, tangent;
    const T* input_tangents;

    FEDARENA_HOST_DEVICE Read read(const Positions& at) const {
      return {delta.inputs[at.index()], input_tangents[at.index()],
              delta_of_window(delta.windows, at, delta.deltas),
              delta_of_window(delta.windows, at, tangent.deltas)};
    }
  };
  FEDARENA_HOST_DEVICE Channel channel_of(std::int64_t group, int channel) const {
    return {tail(deltas, group, channel), tail(delta_tangents, group, channel),
            input_tangents + (group * sizes.channels + channel) * sizes.plane()};
  }

  // Of `from`, gradients in the tail's outputs or their tangents.
  FEDARENA_HOST_DEVICE ThroughTail<T> tail(const T* from, std::int64_t group, int channel) const {
    const std::int64_t parameter = sizes.first_channel(group) + channel,
                       row = group * sizes.channels + channel;
    return {sizes.windows,
            sizes.relu,
            inputs + row * sizes.plane(),
            from + row * sizes.pooled_plane(),
            moments[group * kMoments],
            moments[group * kMoments + 1] * scales.weight[parameter],
            scales.bias[parameter]};
  }

  FEDARENA_HOST_DEVICE void sum_channel(Shared& shared, const NormTeams& teams, const NormPlace& at,
                                        int channel, int thread) const {
    double sums[4] = {0, 0, 0, 0};
    if (at.group < count && channel < sizes.channels) {
      const Channel from = channel_of(at.group, channel);
      const T mean_tangent = moments[at.group * kMoments + 2];
      sum_positions<T, 4>(
          sizes.windows, at.lane, teams.lanes, sums, [&](const Positions& place) { return from.read(place); },
          [&](const Read& read, T* parts) {
            const T d = from.delta.of(read.input, read.delta),
                    dd = from.delta.of(read.input, read.delta_tangent), x = read.input - from.delta.mean;
            parts[0] += d;
            parts[1] += dd;
            parts[2] += d * x;
            parts[3] += dd * x + d * (read.input_tangent - mean_tangent);
          });
    }
    shared.totals[thread] = sums[0];
    shared.total_tangents[thread] = sums[1];
    shared.products[thread] = sums[2];
    shared.product_tangents[thread] = sums[3];
  }

  // Adds one channel's sums, which lie at the first thread of its team.
  FEDARENA_HOST_DEVICE void add_channel(Shared& shared, const NormPlace& at, int first, int channel) const {
    const std::int64_t parameter = sizes.first_channel(at.group) + channel;
    const auto inverse = static_cast<double>(moments[at.group * kMoments + 1]),
               rate = static_cast<double>(moments[at.group * kMoments + 3]);
    const auto weight = static_cast<double>(scales.weight[parameter]);
    const auto weight_tangent = static_cast<double>(scales.weight_tangent[parameter]);
    shared.constant[at.slot] += weight * shared.totals[first];
    shared.constant_tangent[at.slot] +=
        weight_tangent * shared.totals[first] + weight * shared.total_tangents[first];
    shared.slope[at.slot] += inverse * weight * shared.products[first];
    shared.slope_tangent[at.slot] += inverse * ((weight_tangent + rate * weight) * shared.products[first] +
                                                weight * shared.product_tangents[first]);
  }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& shared = block.shared();
    const NormTeams teams(sizes);
    const auto place = [&](int thread) { return NormPlace(teams, block.index(), thread); };
    block.threads([&](int thread) {
      const NormPlace at = place(thread);
      if (at.rank != 0) return;
      shared.constant[at.slot] = shared.constant_tangent[at.slot] = 0;
      shared.slope[at.slot] = shared.slope_tangent[at.slot] = 0;
    });
    for (int begin = 0; begin < sizes.channels; begin += teams.channels()) {
      block.threads([&](int thread) {
        const NormPlace at = place(thread);
        sum_channel(shared, teams, at, begin + at.channel, thread);
      });
      add_up(block, teams.lanes, shared.totals, shared.total_tangents, shared.products,
             shared.product_tangents);
      block.threads([&](int thread) {
        const NormPlace at = place(thread);
        if (at.rank != 0 || at.group >= count) return;
        for (int team = 0; team < teams.channels() && begin + team < sizes.channels; ++team) {
          add_channel(shared, at, thread + team * teams.lanes, begin + team);
        }
      });
    }
    block.threads([&](int thread) {
      const NormPlace at = place(thread);
      if (at.group >= count) return;
      const T* own = moments + at.group * kMoments;
      const T mean = own[0], inverse = own[1], mean_tangent = own[2], rate = own[3];
      const auto size = static_cast<double>(sizes.group()), r = static_cast<double>(inverse),
                 rho = static_cast<double>(rate);
      // What every number of the group loses.
      const T still = static_cast<T>(r * (shared.constant_tangent[at.slot] + rho * shared.constant[at.slot]) /
                                     size),
              along_tangent = static_cast<T>(r * r * shared.slope[at.slot] / size),
              along = static_cast<T>(
                  r * r * (shared.slope_tangent[at.slot] + 2 * rho * shared.slope[at.slot]) / size);
      for (int channel = at.channel; channel < sizes.channels; channel += teams.channels()) {
        const std::int64_t parameter = sizes.first_channel(at.group) + channel;
        const Channel from = channel_of(at.group, channel);
        T* out = outputs + (at.group * sizes.channels + channel) * sizes.plane();
        const T scale = inverse * scales.weight[parameter];
        const T turn = inverse * (scales.weight_tangent[parameter] + rate * scales.weight[parameter]);
        for_positions(
            sizes.windows, at.lane, teams.lanes, [&](const Positions& place) { return from.read(place); },
            [&](int position, const Read& read) {
              const T d = from.delta.of(read.input, read.delta),
                      dd = from.delta.of(read.input, read.delta_tangent);
              out[position] = scale * dd + turn * d - still -
                              along_tangent * (read.input_tangent - mean_tangent) -
                              along * (read.input - mean);
            },
            [] {});
      }
    });
  }
};

}  // namespace fedarena::cuda
