#pragma once

#include <cstdint>

#include "harness/gradients/cuda/blocks.hpp"
#include "harness/gradients/kernels/pooling.hpp"

namespace fedarena::cuda {

/// Planes of numbers that are pooled over non-overlapping windows of size x size; what is left over at the
/// right and below belongs to none. Without pooling `size` is one.
struct Windows {
  std::int64_t height, width, size;

  FEDARENA_HOST_DEVICE std::int64_t plane() const { return height * width; }
  FEDARENA_HOST_DEVICE std::int64_t pooled_width() const { return width / size; }
  FEDARENA_HOST_DEVICE std::int64_t pooled_plane() const { return (height / size) * (width / size); }
  /// The upper left position of a window.
  FEDARENA_HOST_DEVICE std::int64_t first(std::int64_t window) const {
    return (window / pooled_width()) * size * width + (window % pooled_width()) * size;
  }
  /// The window of a position, or -1.
  FEDARENA_HOST_DEVICE std::int64_t window_of(std::int64_t position) const {
    const std::int64_t y = position / width / size, x = position % width / size;
    return y < height / size && x < pooled_width() ? y * pooled_width() + x : -1;
  }
};

/// Mean over a window of at(position), in the order of the CPU's pool_plane.
template <typename T, typename At>
FEDARENA_HOST_DEVICE inline T window_mean(const Windows& windows, std::int64_t window, const At& at) {
  const std::int64_t first = windows.first(window), width = windows.width;
  if (windows.size == 1) return at(first);
  if (windows.size == 2) {
    return ((at(first) + at(first + 1)) + (at(first + width) + at(first + width + 1))) * T(0.25);
  }
  T sum = 0;
  for (std::int64_t dy = 0; dy < windows.size; ++dy) {
    for (std::int64_t dx = 0; dx < windows.size; ++dx) sum += at(first + dy * width + dx);
  }
  return sum * (T(1) / static_cast<T>(windows.size * windows.size));
}

/// The gradient at a position, from those of the windows' means.
template <typename T>
FEDARENA_HOST_DEVICE inline T spread(const Windows& windows, std::int64_t position, const T* deltas) {
  if (windows.size == 1) return deltas[position];
  const std::int64_t window = windows.window_of(position);
  return window < 0 ? T(0) : deltas[window] * (T(1) / static_cast<T>(windows.size * windows.size));
}

/// The position of a window's largest number, the first of equals. What is not a number is larger than none,
/// as in the CPU's for_each_largest_of_plane.
template <typename T>
FEDARENA_HOST_DEVICE inline std::int64_t largest_of(const Windows& windows, std::int64_t window,
                                                    const T* plane) {
  const std::int64_t first = windows.first(window);
  std::int64_t largest = first;
  for (std::int64_t dy = 0; dy < windows.size; ++dy) {
    for (std::int64_t dx = 0; dx < windows.size; ++dx) {
      const std::int64_t position = first + dy * windows.width + dx;
      if (plane[position] > plane[largest]) largest = position;
    }
  }
  return largest;
}

using kernels::Pooling;

/// Pooling of planes one after the other: a thread for each result.
template <typename T>
struct Pool {
  static constexpr int kThreads = 256;
  using Shared = Nothing;
  using Own = Nothing;

  Pooling what;
  Windows windows;
  std::int64_t planes;
  const T *inputs, *from;
  T* to;

  /// Results of a plane.
  FEDARENA_HOST_DEVICE std::int64_t results() const {
    return is_adjoint(what) ? windows.plane() : windows.pooled_plane();
  }
  std::int64_t blocks() const { return ceil_div(planes * results(), kThreads); }

  FEDARENA_HOST_DEVICE T largest_number(std::int64_t window, const T* plane) const {
    const std::int64_t first = windows.first(window);
    T largest = plane[first];
    for (std::int64_t dy = 0; dy < windows.size; ++dy) {
      for (std::int64_t dx = 0; dx < windows.size; ++dx) {
        const T value = plane[first + dy * windows.width + dx];
        if (value > largest || value != value) largest = value;
      }
    }
    return largest;
  }

  FEDARENA_HOST_DEVICE T result(std::int64_t plane, std::int64_t place) const {
    const std::int64_t whole = plane * windows.plane(), pooled = plane * windows.pooled_plane();
    switch (what) {
      case Pooling::kAverage: {
        const T* numbers = from + whole;
        return window_mean<T>(windows, place, [numbers](std::int64_t position) { return numbers[position]; });
      }
      case Pooling::kAverageAdjoint:
        return spread(windows, place, from + pooled);
      case Pooling::kMax:
        return largest_number(place, inputs + whole);
      case Pooling::kMaxTangent:
        return from[whole + largest_of(windows, place, inputs + whole)];
      case Pooling::kMaxAdjoint: {
        const std::int64_t window = windows.window_of(place);
        return window >= 0 && largest_of(windows, window, inputs + whole) == place ? from[pooled + window]
                                                                                   : T(0);
      }
    }
    return 0;
  }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    block.threads([&](int thread, auto& /*own*/) {
      const std::int64_t index = block.index() * kThreads + thread;
      if (index < planes * results()) to[index] = result(index / results(), index % results());
    });
  }
};

}  // namespace fedarena::cuda
