#pragma once

#include <cstdint>

#include "harness/gradients/cuda/blocks.hpp"

namespace fedarena::cuda {

/// A convolution, as layers.hpp has it, as a product of matrices: of the weight, [out, taps],
/// and of patches, [taps, positions], whose rows are the inputs that a tap meets at each position of the
/// outputs. An example has fewer than 2^31 of either, and a batch fewer than 2^31 planes of positions.
struct PatchSizes {
  int in, kernel, padding;
  int height, width;  ///< of the inputs
  int stride = 1;

  FEDARENA_HOST_DEVICE int out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  FEDARENA_HOST_DEVICE int out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
  /// The output that meets its inputs from there on, counted from the padding; -1 where none does.
  FEDARENA_HOST_DEVICE int output_at(int place) const {
    if (stride == 1) return place;
    return place >= 0 && place % stride == 0 ? place / stride : -1;
  }
  FEDARENA_HOST_DEVICE int positions() const { return out_height() * out_width(); }
  FEDARENA_HOST_DEVICE int taps() const { return in * kernel * kernel; }
  /// Numbers of an example's inputs.
  FEDARENA_HOST_DEVICE std::int64_t inputs() const { return std::int64_t{in} * height * width; }
  /// Taps, a row of ones for the bias, and rows of zeros up to a multiple of four: products of matrices read
  /// four numbers at a time.
  FEDARENA_HOST_DEVICE int rows() const {
    constexpr int kAtOnce = 4;
    return (taps() / kAtOnce + 1) * kAtOnce;
  }
};

/// Patches of all examples, [n, rows, positions]. An index for the taps of each position in each channel;
/// those of a channel after the last are for what follows the taps.
template <typename T>
struct Patches {
  PatchSizes sizes;
  std::int64_t examples;
  const T* inputs;
  T* patches;

  FEDARENA_HOST_DEVICE std::int64_t count() const { return examples * (sizes.in + 1) * sizes.positions(); }

  FEDARENA_HOST_DEVICE void operator()(std::int64_t index) const {
    const auto plane = static_cast<int>(index / sizes.positions()),
               position = static_cast<int>(index - static_cast<std::int64_t>(plane) * sizes.positions());
    const int channel = plane % (sizes.in + 1), example = plane / (sizes.in + 1);
    const int taps = sizes.kernel * sizes.kernel;
    T* out = patches +
             (static_cast<std::int64_t>(example) * sizes.rows() + static_cast<std::int64_t>(channel) * taps) *
                 sizes.positions() +
             position;
    if (channel == sizes.in) {
      for (int row = sizes.taps(); row < sizes.rows(); ++row, out += sizes.positions()) {
        *out = row == sizes.taps() ? T(1) : T(0);
      }
      return;
    }
    const T* in =
        inputs + (static_cast<std::int64_t>(example) * sizes.in + channel) * sizes.height * sizes.width;
    const int top = position / sizes.out_width() * sizes.stride - sizes.padding,
              left = position % sizes.out_width() * sizes.stride - sizes.padding;
    for (int dy = 0; dy < sizes.kernel; ++dy) {
      for (int dx = 0; dx < sizes.kernel; ++dx, out += sizes.positions()) {
        const int y = top + dy, x = left + dx;
        const bool inside = y >= 0 && y < sizes.height && x >= 0 && x < sizes.width;
        *out = inside ? in[y * sizes.width + x] : T(0);
      }
    }
  }
};

/// The weight's matrix for such patches, [out, rows]: taps, the bias where patches have ones, and zeros. An
/// index for each number.
template <typename T>
struct WeightMatrix {
  int out, taps, rows;
  const T *weight, *bias;
  T* matrix;

  FEDARENA_HOST_DEVICE std::int64_t count() const { return std::int64_t{out} * rows; }

  FEDARENA_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t row = index / rows, column = index % rows;
    matrix[index] = column < taps ? weight[row * taps + column] : column == taps ? bias[row] : T(0);
  }
};

/// The transpose: every input's sum, tap by tap, of what lies where patches have it. From [n, taps,
/// positions]; an index for each input.
template <typename T>
struct AddPatches {
  PatchSizes sizes;
  std::int64_t examples;
  const T* patches;
  T* inputs;

  FEDARENA_HOST_DEVICE std::int64_t count() const { return examples * sizes.inputs(); }

  FEDARENA_HOST_DEVICE void operator()(std::int64_t index) const {
    const int numbers = sizes.height * sizes.width;
    const auto plane = static_cast<int>(index / numbers),
               place = static_cast<int>(index - static_cast<std::int64_t>(plane) * numbers);
    const int bottom = place / sizes.width + sizes.padding, right = place % sizes.width + sizes.padding;
    const T* from =
        patches + static_cast<std::int64_t>(plane) * sizes.kernel * sizes.kernel * sizes.positions();
    T sum = 0;
    for (int dy = 0; dy < sizes.kernel; ++dy) {
      for (int dx = 0; dx < sizes.kernel; ++dx, from += sizes.positions()) {
        const int y = sizes.output_at(bottom - dy), x = sizes.output_at(right - dx);
        const bool inside = y >= 0 && y < sizes.out_height() && x >= 0 && x < sizes.out_width();
        if (inside) sum += from[y * sizes.out_width() + x];
      }
    }
    inputs[index] = sum;
  }
};

}  // namespace fedarena::cuda
