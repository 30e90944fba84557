#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include <torch/types.h>

#include "harness/gradients/kernels/vectorised.hpp"

/// The one-dimensional transforms of F(4, 3) and F(2, 3): polynomials are interpolated at 0, +-1, +-2 and
/// infinity, or at 0, +-1 and infinity (Lavin and Gray, CVPR 2016, section 4).
namespace fedarena::kernels::winograd {

inline constexpr std::int64_t kTaps = 3;  ///< of a kernel in each direction
/// Of filters or products, at a time.
inline constexpr std::int64_t kColumns = 512;

/// Of each, x are taps, inputs or outputs, and y the places of a transformed tile.
struct Four {
  static constexpr std::int64_t kOut = 4;  ///< outputs of a tile in each direction
  static constexpr std::int64_t kIn = 6;   ///< inputs that they depend on, and places of a transformed tile

  static constexpr auto kFilters = []<typename T>(const std::array<T, kTaps>& x, std::array<T, kIn>& y) {
    const T near = (x[0] + x[2]) * T(-1. / 6);
    const T far = x[0] * T(1. / 24) + x[2] * T(1. / 6);
    y[0] = x[0] * T(0.25);
    y[1] = near - x[1] * T(1. / 6);
    y[2] = near + x[1] * T(1. / 6);
    y[3] = far + x[1] * T(1. / 12);
    y[4] = far - x[1] * T(1. / 12);
    y[5] = x[2];
  };

  /// On T, or on vectors of them.
  template <typename T, typename From, typename To>
  static void transpose_filters(const From& y, To& x) {
    const auto near = (y[1] + y[2]) * T(-1. / 6);
    const auto far = (y[3] + y[4]) * T(1. / 24);
    x[0] = y[0] * T(0.25) + near + far;
    x[1] = (y[2] - y[1]) * T(1. / 6) + (y[3] - y[4]) * T(1. / 12);
    x[2] = near + far * T(4) + y[5];
  }
  static constexpr auto kFiltersTransposed =
      []<typename T>(const std::array<T, kIn>& y, std::array<T, kTaps>& x) { transpose_filters<T>(y, x); };

  static constexpr auto kInputs = []<typename T>(const std::array<T, kIn>& x, std::array<T, kIn>& y) {
    const T even_near = x[4] - 4 * x[2], odd_near = x[3] - 4 * x[1];
    const T even_far = x[4] - x[2], odd_far = 2 * (x[3] - x[1]);
    y[0] = 4 * x[0] - 5 * x[2] + x[4];
    y[1] = even_near + odd_near;
    y[2] = even_near - odd_near;
    y[3] = even_far + odd_far;
    y[4] = even_far - odd_far;
    y[5] = 4 * x[1] - 5 * x[3] + x[5];
  };

  static constexpr auto kInputsTransposed = []<typename T>(const std::array<T, kIn>& y,
                                                           std::array<T, kIn>& x) {
    const T even_near = y[1] + y[2], odd_near = y[1] - y[2];
    const T even_far = y[3] + y[4], odd_far = 2 * (y[3] - y[4]);
    x[0] = 4 * y[0];
    x[1] = 4 * (y[5] - odd_near) - odd_far;
    x[2] = -5 * y[0] - 4 * even_near - even_far;
    x[3] = odd_near + odd_far - 5 * y[5];
    x[4] = y[0] + even_near + even_far;
    x[5] = y[5];
  };

  static constexpr auto kOutputs = []<typename T>(const std::array<T, kIn>& y, std::array<T, kOut>& x) {
    const T even_near = y[1] + y[2], odd_near = y[1] - y[2];
    const T even_far = y[3] + y[4], odd_far = 2 * (y[3] - y[4]);
    x[0] = y[0] + even_near + even_far;
    x[1] = odd_near + odd_far;
    x[2] = even_near + 4 * even_far;
    x[3] = odd_near + 4 * odd_far + y[5];
  };

  static constexpr auto kOutputsTransposed = []<typename T>(const std::array<T, kOut>& x,
                                                            std::array<T, kIn>& y) {
    const T even_near = x[0] + x[2], odd_near = x[1] + x[3];
    const T even_far = x[0] + 4 * x[2], odd_far = 2 * (x[1] + 4 * x[3]);
    y[0] = x[0];
    y[1] = even_near + odd_near;
    y[2] = even_near - odd_near;
    y[3] = even_far + odd_far;
    y[4] = even_far - odd_far;
    y[5] = x[3];
  };
};

/// Only adds and halves.
struct Two {
  static constexpr std::int64_t kOut = 2;
  static constexpr std::int64_t kIn = 4;

  static constexpr auto kFilters = []<typename T>(const std::array<T, kTaps>& x, std::array<T, kIn>& y) {
    const T even = (x[0] + x[2]) * T(0.5), odd = x[1] * T(0.5);
    y[0] = x[0];
    y[1] = even + odd;
    y[2] = even - odd;
    y[3] = x[2];
  };

  static constexpr auto kInputs = []<typename T>(const std::array<T, kIn>& x, std::array<T, kIn>& y) {
    y[0] = x[0] - x[2];
    y[1] = x[1] + x[2];
    y[2] = x[2] - x[1];
    y[3] = x[3] - x[1];
  };

  static constexpr auto kOutputs = []<typename T>(const std::array<T, kIn>& y, std::array<T, kOut>& x) {
    x[0] = y[0] + y[1] + y[2];
    x[1] = y[1] - y[2] + y[3];
  };
};

/// Numbers lie in lines, `stride` apart.
template <typename T>
struct Lines {
  T* data;
  std::int64_t stride;

  Lines from(std::int64_t offset) const { return {data + offset, stride}; }
};

/// One direction of a transform, on `count` columns of From lines into To lines.
template <std::int64_t From, std::int64_t To, typename Transform, typename T>
inline void apply(const Transform& transform, const Lines<const T>& in, const Lines<T>& out,
                  std::int64_t count) {
  const auto one = [&](std::int64_t column, std::array<T, To>& results) {
    std::array<T, From> numbers{};
    for (std::int64_t j = 0; j < From; ++j) numbers[j] = in.data[j * in.stride + column];
    transform(numbers, results);
  };
  std::int64_t column = 0;
  for (; column + kLanes <= count; column += kLanes) {
    T block[To][kLanes];  // of its own, so that compilers see that nothing overlaps
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      std::array<T, To> results{};
      one(column + lane, results);
      for (std::int64_t k = 0; k < To; ++k) block[k][lane] = results[k];
    }
    for (std::int64_t k = 0; k < To; ++k) std::copy_n(block[k], kLanes, out.data + k * out.stride + column);
  }
  for (; column < count; ++column) {
    std::array<T, To> results{};
    one(column, results);
    for (std::int64_t k = 0; k < To; ++k) out.data[k * out.stride + column] = results[k];
  }
}

/// Transformed tiles [places][tiles][channels], or filters [places][rows][columns].
template <typename T>
struct Tiles {
  T* data;
  std::int64_t place, tile;  // strides

  explicit Tiles(const torch::Tensor& tensor)
      : data(tensor.data_ptr<std::remove_const_t<T>>()), place(tensor.stride(0)), tile(tensor.stride(1)) {}
  Tiles(T* numbers, std::int64_t of_place, std::int64_t of_tile)
      : data(numbers), place(of_place), tile(of_tile) {}

  Tiles from(std::int64_t channel) const { return {data + channel, place, tile}; }
};

}  // namespace fedarena::kernels::winograd
