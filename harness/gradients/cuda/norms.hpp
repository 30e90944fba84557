#pragma once

#include <cstdint>

#include "harness/gradients/cuda/blocks.hpp"
#include "harness/gradients/cuda/pools.hpp"

namespace fedarena::cuda {

/// Sizes of a group normalisation of [examples, groups, channels, plane] with the tail of kernels::Tail:
/// ReLU, then average pooling, both if at all. A group has fewer than 2^31 numbers.
struct NormSizes {
  std::int64_t groups;  ///< of an example
  int channels;         ///< of a group
  Windows windows;      ///< size 1: no pooling
  bool relu;
  double epsilon;

  FEDARENA_HOST_DEVICE int plane() const { return windows.plane(); }
  FEDARENA_HOST_DEVICE int pooled_plane() const { return windows.pooled_plane(); }
  /// Numbers of a group.
  FEDARENA_HOST_DEVICE int group() const { return channels * plane(); }
  /// A group's first channel among its example's.
  FEDARENA_HOST_DEVICE std::int64_t first_channel(std::int64_t group) const {
    return group % groups * channels;
  }
};

inline constexpr int kNormThreads = 256;

/// How a block's threads share its channels: `teams` of `lanes` threads have one each at a time, with some
/// kTerms numbers of its plane a thread. Where a group is one channel, a block takes as many groups as it has
/// teams; else one, whose channels the teams take in turn.
struct NormTeams {
  static constexpr int kFewestLanes = 8, kMostGroups = kNormThreads / kFewestLanes;
  int lanes = kFewestLanes, teams = kMostGroups;
  int groups = 1;  ///< of a block
  int lane_bits = 3, width_bits = kThreadBits;

  FEDARENA_HOST_DEVICE explicit NormTeams(const NormSizes& sizes) {
    for (; lanes < kNormThreads && lanes * kTerms < sizes.plane(); lanes *= 2, ++lane_bits) teams /= 2;
    if (sizes.channels == 1) {
      groups = teams;
      width_bits = lane_bits;
    } else {
      for (; teams > sizes.channels; teams /= 2, ++lane_bits) lanes *= 2;
    }
  }

  /// Threads of a group.
  FEDARENA_HOST_DEVICE int width() const { return 1 << width_bits; }
  /// Channels of a group that are under way at a time.
  FEDARENA_HOST_DEVICE int channels() const { return 1 << (width_bits - lane_bits); }
  std::int64_t blocks(std::int64_t count) const { return ceil_div(count, groups); }

 private:
  static constexpr int kThreadBits = 8;
  static_assert(kNormThreads == 1 << kThreadBits && kFewestLanes == 1 << 3);
};

/// What a thread of a block does. By shifts: of powers of two, which a compiler cannot know, a GPU makes
/// divisions of some twenty instructions, which every phase repeats.
struct NormPlace {
  int slot, rank;      ///< which of the block's groups; which of its threads
  int channel, lane;   ///< the first channel of the group; which of the team's threads
  std::int64_t group;  ///< among those of all examples; the last block may have places beyond the last

  FEDARENA_HOST_DEVICE NormPlace(const NormTeams& teams, std::int64_t block, int thread)
      : slot(thread >> teams.width_bits),
        rank(thread & (teams.width() - 1)),
        channel(rank >> teams.lane_bits),
        lane(thread & (teams.lanes - 1)),
        group(block * teams.groups + slot) {}
};

/// (x - mean) * scale + shift, by one expression: passes that compute it again need the same bits.
template <typename T>
FEDARENA_HOST_DEVICE inline T normalised(T input, T mean, T scale, T shift) {
  return (input - mean) * scale + shift;
}

/// One number for each of a block's groups.
template <typename T>
using OfGroups = T[NormTeams::kMostGroups];

/// Sums over each of a block's groups of term(slot, place in all numbers), divided by its size: leaves
/// finish(mean) at `results`. Needs `sums` among what the block shares.
template <typename T, typename Block, typename Term, typename Finish>
FEDARENA_HOST_DEVICE inline void average_groups(Block& block, const NormSizes& sizes, std::int64_t count,
                                                T* results, const Term& term, const Finish& finish) {
  auto& shared = block.shared();
  const NormTeams teams(sizes);
  block.threads([&](int thread) {
    const NormPlace at(teams, block.index(), thread);
    const std::int64_t start = at.group * sizes.group();
    shared.sums[thread] = at.group >= count ? 0
                                            : strided_sum<T>(at.rank, sizes.group(), teams.width(),
                                                             [&](int i) { return term(at.slot, start + i); });
  });
  add_up(block, teams.width(), shared.sums);
  block.threads([&](int thread) {
    const NormPlace at(teams, block.index(), thread);
    if (at.rank == 0) results[at.slot] = static_cast<T>(finish(at.slot, shared.sums[thread] / sizes.group()));
  });
}

/// Mean and inverse deviation of each of a block's groups; leaves them in `mean` and `inverse` of what the
/// block shares.
template <typename T, typename Block>
FEDARENA_HOST_DEVICE inline void find_moments(Block& block, const NormSizes& sizes, std::int64_t count,
                                              const T* inputs) {
  auto& shared = block.shared();
  average_groups<T>(
      block, sizes, count, shared.mean, [inputs](int /*slot*/, std::int64_t i) { return inputs[i]; },
      [](int /*slot*/, double mean) { return mean; });
  average_groups<T>(
      block, sizes, count, shared.inverse,
      [inputs, &shared](int slot, std::int64_t i) {
        const T centred = inputs[i] - shared.mean[slot];
        return centred * centred;
      },
      [&sizes](int /*slot*/, double variance) { return 1 / sqrt(variance + sizes.epsilon); });
}

/// kernels::group_norm: forward, with the tail.
template <typename T>
struct NormForward {
  static constexpr int kThreads = kNormThreads;
  struct Shared {
    double sums[kThreads];
    OfGroups<T> mean, inverse;
  };

  NormSizes sizes;
  std::int64_t count;  ///< groups of all examples
  const T *inputs, *weight, *bias;
  T *outputs, *mean, *inverse;

  std::int64_t blocks() const { return NormTeams(sizes).blocks(count); }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& shared = block.shared();
    const NormTeams teams(sizes);
    find_moments(block, sizes, count, inputs);
    block.threads([&](int thread) {
      const NormPlace at(teams, block.index(), thread);
      if (at.group >= count) return;
      const T centre = shared.mean[at.slot], deviation = shared.inverse[at.slot];
      if (at.rank == 0) {
        mean[at.group] = centre;
        inverse[at.group] = deviation;
      }
      const bool relu = sizes.relu;
      for (int channel = at.channel; channel < sizes.channels; channel += teams.channels()) {
        const std::int64_t row = at.group * sizes.channels + channel,
                           parameter = sizes.first_channel(at.group) + channel;
        const T* plane = inputs + row * sizes.plane();
        T* out = outputs + row * sizes.pooled_plane();
        const T scale = deviation * weight[parameter], shift = bias[parameter];
        for (int i = at.lane; i < sizes.pooled_plane(); i += teams.lanes) {
          out[i] = window_mean<T>(sizes.windows, i, [=](int position) {
            const T value = normalised(plane[position], centre, scale, shift);
            return relu && value < 0 ? T(0) : value;  // NaN and minus zero stay, as LibTorch has it
          });
        }
      }
    });
  }
};

/// Gradients in what was normalised, from those in the tail's outputs, on one channel of one example.
template <typename T>
struct ThroughTail {
  Windows windows;
  bool relu;
  const T *inputs, *deltas;  ///< of the channel
  T mean, scale, shift;
  T share = share_of_window<T>(windows);

  /// What it reads at a position.
  struct Read {
    T input, delta;
  };
  FEDARENA_HOST_DEVICE Read read(const Positions& at) const {
    return {inputs[at.index()], delta_of_window(windows, at, deltas)};
  }
  FEDARENA_HOST_DEVICE T of(T input, T delta) const {
    return relu && normalised(input, mean, scale, shift) <= 0 ? T(0) : delta * share;
  }
  FEDARENA_HOST_DEVICE T operator()(const Read& read) const { return of(read.input, read.delta); }
};

/// Calls use(position, read(position)) for a lane's positions of a plane, and close() after kTerms of them
/// and at the end. All kTerms are read before the first is used: a GPU waits for them together.
template <typename Read, typename Use, typename Close>
FEDARENA_HOST_DEVICE inline void for_positions(const Windows& windows, int lane, int lanes, const Read& read,
                                               const Use& use, const Close& close) {
  const int plane = windows.plane();
  Positions at(windows, lane, lanes);
  while (at.index() < plane) {
    if (plane - at.index() > (kTerms - 1) * lanes) {
      const int first = at.index();
      decltype(read(at)) numbers[kTerms];
      FEDARENA_UNROLL
      for (int k = 0; k < kTerms; ++k, at.next()) numbers[k] = read(at);
      FEDARENA_UNROLL
      for (int k = 0; k < kTerms; ++k) use(first + k * lanes, numbers[k]);
    } else {
      for (; at.index() < plane; at.next()) use(at.index(), read(at));
    }
    close();
  }
}

/// Adds up what add(numbers, parts) adds to kSums numbers, of what is read at a lane's positions of a plane:
/// into `parts` in their own type, kTerms at a time, and those in double.
template <typename T, int kSums, typename Read, typename Add>
FEDARENA_HOST_DEVICE inline void sum_positions(const Windows& windows, int lane, int lanes, double* totals,
                                               const Read& read, const Add& add) {
  FEDARENA_UNROLL
  for (int sum = 0; sum < kSums; ++sum) totals[sum] = 0;
  T parts[kSums] = {};
  for_positions(
      windows, lane, lanes, read, [&](int /*position*/, const auto& numbers) { add(numbers, parts); },
      [&] {
        FEDARENA_UNROLL
        for (int sum = 0; sum < kSums; ++sum) {
          totals[sum] += static_cast<double>(parts[sum]);
          parts[sum] = 0;
        }
      });
}

/// kernels::group_norm_backward, from gradients in the tail's outputs: those in the inputs, and each
/// example's own in weight and bias.
template <typename T>
struct NormBackward {
  static constexpr int kThreads = kNormThreads;
  struct Shared {
    double slopes[kThreads], totals[kThreads];
    OfGroups<double> product, sum;  ///< over the channels so far, times their weights
  };

  NormSizes sizes;
  std::int64_t count;  ///< groups of all examples
  const T *inputs, *deltas, *weight, *bias, *mean, *inverse;
  T *outputs, *weight_rows, *bias_rows;

  std::int64_t blocks() const { return NormTeams(sizes).blocks(count); }

  FEDARENA_HOST_DEVICE ThroughTail<T> tail(std::int64_t group, int channel) const {
    const std::int64_t parameter = sizes.first_channel(group) + channel,
                       row = group * sizes.channels + channel;
    return {sizes.windows,
            sizes.relu,
            inputs + row * sizes.plane(),
            deltas + row * sizes.pooled_plane(),
            mean[group],
            inverse[group] * weight[parameter],
            bias[parameter]};
  }

  // Of one channel: what its lanes add up, and then what the first of them makes of the sums.
  FEDARENA_HOST_DEVICE void sum_channel(Shared& shared, const NormTeams& teams, const NormPlace& at,
                                        int channel, int thread) const {
    double sums[2] = {0, 0};
    if (at.group < count && channel < sizes.channels) {
      const ThroughTail<T> delta = tail(at.group, channel);
      sum_positions<T, 2>(
          sizes.windows, at.lane, teams.lanes, sums,
          [&](const Positions& place) { return delta.read(place); },
          [&](const auto& read, T* parts) {
            const T d = delta(read);
            parts[0] += d * (read.input - delta.mean);
            parts[1] += d;
          });
    }
    shared.slopes[thread] = sums[0];
    shared.totals[thread] = sums[1];
  }
  FEDARENA_HOST_DEVICE void close_channel(Shared& shared, const NormPlace& at, int channel,
                                          int thread) const {
    if (at.lane != 0 || at.group >= count || channel >= sizes.channels) return;
    const std::int64_t row = at.group * sizes.channels + channel;
    const auto scale = static_cast<double>(weight[sizes.first_channel(at.group) + channel]);
    weight_rows[row] = static_cast<T>(shared.slopes[thread] * static_cast<double>(inverse[at.group]));
    bias_rows[row] = static_cast<T>(shared.totals[thread]);
    shared.slopes[thread] *= scale;
    shared.totals[thread] *= scale;
  }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& shared = block.shared();
    const NormTeams teams(sizes);
    const auto place = [&](int thread) { return NormPlace(teams, block.index(), thread); };
    block.threads([&](int thread) {
      const NormPlace at = place(thread);
      if (at.rank == 0) shared.product[at.slot] = shared.sum[at.slot] = 0;
    });
    for (int begin = 0; begin < sizes.channels; begin += teams.channels()) {
      block.threads([&](int thread) {
        const NormPlace at = place(thread);
        sum_channel(shared, teams, at, begin + at.channel, thread);
      });
      add_up(block, teams.lanes, shared.slopes, shared.totals);
      block.threads([&](int thread) {
        const NormPlace at = place(thread);
        close_channel(shared, at, begin + at.channel, thread);
      });
      block.threads([&](int thread) {
        const NormPlace at = place(thread);
        if (at.rank != 0) return;
        for (int team = 0; team < teams.channels() && begin + team < sizes.channels; ++team) {
          shared.product[at.slot] += shared.slopes[thread + team * teams.lanes];
          shared.sum[at.slot] += shared.totals[thread + team * teams.lanes];
        }
      });
    }
    block.threads([&](int thread) {
      const NormPlace at = place(thread);
      if (at.group >= count) return;
      const T centre = mean[at.group], deviation = inverse[at.group];
      const auto size = static_cast<double>(sizes.group()), r = static_cast<double>(deviation);
      const T along = static_cast<T>(shared.product[at.slot] / size * r * r),
              constant = static_cast<T>(shared.sum[at.slot] / size);
      for (int channel = at.channel; channel < sizes.channels; channel += teams.channels()) {
        const ThroughTail<T> delta = tail(at.group, channel);
        const T scale = weight[sizes.first_channel(at.group) + channel];
        T* out = outputs + (at.group * sizes.channels + channel) * sizes.plane();
        for_positions(
            sizes.windows, at.lane, teams.lanes, [&](const Positions& place) { return delta.read(place); },
            [&](int position, const auto& read) {
              out[position] = deviation * (scale * delta(read) - constant - (read.input - centre) * along);
            },
            [] {});
      }
    });
  }
};

}  // namespace fedarena::cuda
