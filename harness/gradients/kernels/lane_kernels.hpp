#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/gradients/kernels/kernels.hpp"
#include "harness/gradients/kernels/vectorised.hpp"

/// The loops of LaneConv2d (rules/lane_rule.hpp), on one block of sixteen examples.
namespace fedarena::kernels::lanes {

/// Maps [channels][height][width] of sixteen examples.
template <typename T>
struct Maps {
  T* data;
  std::int64_t channels, height, width;

  std::int64_t map() const { return height * width * kLanes; }  // between channels
  std::int64_t numel() const { return channels * map(); }
  Maps block(std::int64_t index) const { return {data + index * numel(), channels, height, width}; }
  Maps<const T> constant() const { return {data, channels, height, width}; }
  T* at(std::int64_t c, std::int64_t y, std::int64_t x) const {
    return data + ((c * height + y) * width + x) * kLanes;
  }
};

/// `count` examples of maps [channels][height][width] into lanes, `margin` zeros around each map; lanes that
/// are left hold zeros.
template <typename T>
inline void to_lanes(const T* examples, std::int64_t count, std::int64_t margin, const Maps<T>& lanes) {
  const std::int64_t height = lanes.height - 2 * margin, width = lanes.width - 2 * margin;
  const std::int64_t size = lanes.channels * height * width;
  if (margin > 0 || count < kLanes) std::fill_n(lanes.data, lanes.numel(), T(0));
  const auto copy_row = [=](const T* in, T* out, std::int64_t filled) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t lane = 0; lane < filled; ++lane) out[x * kLanes + lane] = in[lane * size + x];
    }
  };
  for (std::int64_t c = 0; c < lanes.channels; ++c) {
    for (std::int64_t y = 0; y < height; ++y) {
      const T* in = examples + (c * height + y) * width;
      T* out = lanes.at(c, y + margin, margin);
      count == kLanes ? copy_row(in, out, kLanes) : copy_row(in, out, count);
    }
  }
}

/// The way back.
template <typename T>
inline void from_lanes(const Maps<const T>& lanes, std::int64_t count, T* examples) {
  const std::int64_t size = lanes.channels * lanes.height * lanes.width;
  for (std::int64_t lane = 0; lane < count; ++lane) {
    for (std::int64_t i = 0; i < size; ++i) examples[lane * size + i] = lanes.data[i * kLanes + lane];
  }
}

/// The inputs [kernel][in][kernel] that an output depends on, as steps from the first one: row after row, so
/// that those in some rows lie together.
template <typename T>
std::vector<std::int64_t> taps_of(const Maps<T>& inputs, std::int64_t kernel) {
  std::vector<std::int64_t> taps;
  for (std::int64_t y = 0; y < kernel; ++y) {
    for (std::int64_t c = 0; c < inputs.channels; ++c) {
      for (std::int64_t x = 0; x < kernel; ++x) taps.push_back(inputs.at(c, y, x) - inputs.data);
    }
  }
  return taps;
}

/// Sums stay in registers: of sixteen, ten leave room for what is multiplied. One sum in memory would halve
/// the speed.
inline constexpr int kSums = 10;

/// outputs = constants + weight [taps][out] on the inputs at the taps. Of the inputs' rows, the first and
/// last `margin` are zeros.
template <typename T>
inline void convolve(const Maps<const T>& inputs, std::int64_t margin, std::span<const std::int64_t> taps,
                     const T* weight, const T* constants, const Maps<T>& outputs) {
  constexpr auto kVectors = static_cast<int>(kLanes / kWidth<T>);
  const std::int64_t kernel = inputs.height - outputs.height + 1;
  const std::int64_t taps_of_row = static_cast<std::int64_t>(taps.size()) / kernel;
  for (std::int64_t y = 0; y < outputs.height; ++y) {
    const std::int64_t first_row = std::max<std::int64_t>(0, margin - y);
    const std::int64_t last_row = std::min(kernel, inputs.height - margin - y);
    const auto used = taps.subspan(first_row * taps_of_row, (last_row - first_row) * taps_of_row);
    const T* weights = weight + first_row * taps_of_row * outputs.channels;
    in_pieces<kSums / kVectors>(outputs.channels, [&]<int Channels>(std::int64_t first) {
      for (std::int64_t x = 0; x < outputs.width; ++x) {
        Vector<T> sums[Channels][kVectors];
        for (int c = 0; c < Channels; ++c) {
          for (int v = 0; v < kVectors; ++v) sums[c][v] = Vector<T>{} + constants[first + c];
        }
        const T* in = inputs.at(0, y, x);
        const T* factors = weights + first;
        for (const std::int64_t tap : used) {
          const LooseVector<T>* numbers = vectors(in + tap);
          for (int c = 0; c < Channels; ++c) {
            for (int v = 0; v < kVectors; ++v) sums[c][v] += factors[c] * numbers[v];
          }
          factors += outputs.channels;
        }
        for (int c = 0; c < Channels; ++c) {
          LooseVector<T>* out = vectors(outputs.at(first + c, y, x));
          for (int v = 0; v < kVectors; ++v) out[v] = sums[c][v];
        }
      }
    });
  }
}

/// gradient [channels][taps + 1][16] = each lane's sum over positions of deltas * inputs at the taps, and of
/// deltas, which have a margin. Row after row, because maps are larger than the innermost cache.
template <typename T>
inline void multiply_deltas(const Maps<const T>& inputs, std::span<const std::int64_t> taps,
                            const Maps<const T>& deltas, std::int64_t margin, T* gradient) {
  constexpr int kChannels = 3;
  const std::int64_t height = deltas.height - 2 * margin, width = deltas.width - 2 * margin;
  const auto count = static_cast<std::int64_t>(taps.size());
  const std::int64_t row = (count + 1) * kLanes;
  std::fill_n(gradient, deltas.channels * row, T(0));
  for (std::int64_t y = 0; y < height; ++y) {
    in_pieces<kChannels>(deltas.channels, [&]<int Channels>(std::int64_t channel) {
      in_pieces<kSums / kChannels>(count, [&]<int Taps>(std::int64_t tap) {
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth<T>) {
          T* totals = gradient + channel * row + tap * kLanes + lane;
          Vector<T> sums[Channels][Taps];
          for (int c = 0; c < Channels; ++c) {
            for (int t = 0; t < Taps; ++t) sums[c][t] = *vectors(totals + c * row + t * kLanes);
          }
          const T* in = inputs.at(0, y, 0) + lane;
          const T* delta = deltas.at(channel, y + margin, margin) + lane;
          for (std::int64_t x = 0; x < width; ++x, in += kLanes, delta += kLanes) {
            for (int t = 0; t < Taps; ++t) {
              const Vector<T> numbers = *vectors(in + taps[tap + t]);
              for (int c = 0; c < Channels; ++c) {
                sums[c][t] += numbers * *vectors(delta + c * deltas.map());
              }
            }
          }
          for (int c = 0; c < Channels; ++c) {
            for (int t = 0; t < Taps; ++t) *vectors(totals + c * row + t * kLanes) = sums[c][t];
          }
        }
      });
    });
    for (std::int64_t c = 0; c < deltas.channels; ++c) {
      const T* delta = deltas.at(c, y + margin, margin);
      for (std::int64_t lane = 0; lane < kLanes; lane += kWidth<T>) {
        LooseVector<T>& total = *vectors(gradient + (c + 1) * row - kLanes + lane);
        for (std::int64_t x = 0; x < width; ++x) total += *vectors(delta + x * kLanes + lane);
      }
    }
  }
}

/// The first of the largest numbers of a window in the lanes of one vector, and where it is; one that is no
/// number is larger than any.
template <typename T>
struct Largest {
  Vector<T> number, place;

  // `first` is the window's first number.
  Largest(const Maps<const T>& maps, const T* first, std::int64_t pool)
      : number(*vectors(first)), place(Vector<T>{}) {
    T index = 0;
    for (std::int64_t y = 0; y < pool; ++y) {
      for (std::int64_t x = 0; x < pool; ++x, ++index) {
        const Vector<T> other = *vectors(first + (y * maps.width + x) * kLanes);
        const auto larger = (other > number) | (other != other);
        number = larger ? other : number;
        place = larger ? Vector<T>{} + index : place;
      }
    }
  }
};

/// The largest numbers first, then ReLU, which gives what ReLU and MaxPool give in their order.
template <typename T>
inline void apply_tail(const Maps<const T>& convolved, const Tail& tail, const Maps<T>& outputs) {
  for (std::int64_t c = 0; c < outputs.channels; ++c) {
    for (std::int64_t y = 0; y < outputs.height; ++y) {
      for (std::int64_t x = 0; x < outputs.width; ++x) {
        const T* window = convolved.at(c, y * tail.pool, x * tail.pool);
        T* out = outputs.at(c, y, x);
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth<T>) {
          const Vector<T> number = Largest<T>(convolved, window + lane, tail.pool).number;
          *vectors(out + lane) = tail.relu ? (number <= 0 ? Vector<T>{} : number) : number;
        }
      }
    }
  }
}

/// Gradients in the tail's outputs to those in the convolution's, with `margin` zeros around.
template <typename T>
inline void undo_tail(const Maps<const T>& deltas, const Maps<const T>& convolved, const Tail& tail,
                      std::int64_t margin, const Maps<T>& result) {
  std::fill_n(result.data, result.numel(), T(0));
  for (std::int64_t c = 0; c < deltas.channels; ++c) {
    for (std::int64_t y = 0; y < deltas.height; ++y) {
      for (std::int64_t x = 0; x < deltas.width; ++x) {
        const T* window = convolved.at(c, y * tail.pool, x * tail.pool);
        const T* from = deltas.at(c, y, x);
        T* to = result.at(c, margin + y * tail.pool, margin + x * tail.pool);
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth<T>) {
          const Largest<T> largest(convolved, window + lane, tail.pool);
          const Vector<T> all = *vectors(from + lane);
          const Vector<T> delta = tail.relu ? (largest.number <= 0 ? Vector<T>{} : all) : all;
          T index = 0;
          for (std::int64_t dy = 0; dy < tail.pool; ++dy) {
            for (std::int64_t dx = 0; dx < tail.pool; ++dx, ++index) {
              *vectors(to + (dy * result.width + dx) * kLanes + lane) =
                  largest.place == index ? delta : Vector<T>{};
            }
          }
        }
      }
    }
  }
}

}  // namespace fedarena::kernels::lanes
