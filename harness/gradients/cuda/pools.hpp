#pragma once

#include <cstdint>

#include "harness/gradients/cuda/blocks.hpp"
#include "harness/gradients/kernels/pooling.hpp"

namespace fedarena::cuda {

/// Planes of numbers that are pooled over non-overlapping windows of size x size; what is left over at the
/// right and below belongs to none. Without pooling `size` is one. A GPU divides 32 bits in a fifth of the
/// time of 64, so a plane has fewer than 2^31 numbers.
struct Windows {
  int height, width, size;

  FEDARENA_HOST_DEVICE int plane() const { return height * width; }
  FEDARENA_HOST_DEVICE int pooled_width() const { return width / size; }
  FEDARENA_HOST_DEVICE int pooled_plane() const { return (height / size) * (width / size); }
  /// The upper left position of a window.
  FEDARENA_HOST_DEVICE int first(int window) const {
    if (size == 1) return window;
    return (window / pooled_width()) * size * width + (window % pooled_width()) * size;
  }
  /// The window of a position, or -1.
  FEDARENA_HOST_DEVICE int window_at(int row, int column) const {
    constexpr unsigned kTwo = 2;  // most windows' size: a shift
    const auto of = [this](int place) {
      return size == 2 ? static_cast<int>(static_cast<unsigned>(place) / kTwo) : place / size;
    };
    const int y = of(row), x = of(column);
    return y < height / size && x < pooled_width() ? y * pooled_width() + x : -1;
  }
};

/// Every `stride`-th position of a plane from `first` on, with row and column, which are counted on.
class Positions {
 public:
  FEDARENA_HOST_DEVICE Positions(const Windows& windows, int first, int stride)
      : index_(first),
        row_(first / windows.width),
        column_(first % windows.width),
        stride_(stride),
        rows_(stride / windows.width),
        columns_(stride % windows.width),
        width_(windows.width) {}

  FEDARENA_HOST_DEVICE int index() const { return index_; }
  FEDARENA_HOST_DEVICE int row() const { return row_; }
  FEDARENA_HOST_DEVICE int column() const { return column_; }
  FEDARENA_HOST_DEVICE void next() {
    index_ += stride_;
    row_ += rows_;
    column_ += columns_;
    if (column_ >= width_) {
      column_ -= width_;
      ++row_;
    }
  }

 private:
  int index_, row_, column_, stride_, rows_, columns_, width_;
};

/// The part that one position has in its window's mean.
template <typename T>
FEDARENA_HOST_DEVICE inline T share_of_window(const Windows& windows) {
  return T(1) / static_cast<T>(windows.size * windows.size);
}

/// Mean over a window of at(position), in the order of the CPU's pool_plane.
template <typename T, typename At>
FEDARENA_HOST_DEVICE inline T window_mean(const Windows& windows, int window, const At& at) {
  const int first = windows.first(window), width = windows.width;
  if (windows.size == 1) return at(first);
  if (windows.size == 2) {
    return ((at(first) + at(first + 1)) + (at(first + width) + at(first + width + 1))) * T(0.25);
  }
  T sum = 0;
  for (int dy = 0; dy < windows.size; ++dy) {
    for (int dx = 0; dx < windows.size; ++dx) sum += at(first + dy * width + dx);
  }
  return sum * share_of_window<T>(windows);
}

/// The gradient of the mean of a position's window; 0 where it has none.
template <typename T>
FEDARENA_HOST_DEVICE inline T delta_of_window(const Windows& windows, const Positions& at, const T* deltas) {
  if (windows.size == 1) return deltas[at.index()];
  const int window = windows.window_at(at.row(), at.column());
  return window < 0 ? T(0) : deltas[window];
}

/// The position of a window's largest number, the first of equals. What is not a number is larger than none,
/// as in the CPU's for_each_largest_of_plane.
template <typename T>
FEDARENA_HOST_DEVICE inline int largest_of(const Windows& windows, int window, const T* plane) {
  const int first = windows.first(window);
  int largest = first;
  for (int dy = 0; dy < windows.size; ++dy) {
    for (int dx = 0; dx < windows.size; ++dx) {
      const int position = first + dy * windows.width + dx;
      if (plane[position] > plane[largest]) largest = position;
    }
  }
  return largest;
}

using kernels::Pooling;

/// Pooling of planes one after the other: an index for each result.
template <typename T>
struct Pool {
  Pooling what;
  Windows windows;
  std::int64_t planes;
  const T *inputs, *from;
  T* to;

  /// Results of a plane.
  FEDARENA_HOST_DEVICE int results() const {
    return is_adjoint(what) ? windows.plane() : windows.pooled_plane();
  }
  FEDARENA_HOST_DEVICE std::int64_t count() const { return planes * results(); }

  FEDARENA_HOST_DEVICE T largest_number(int window, const T* plane) const {
    const int first = windows.first(window);
    T largest = plane[first];
    for (int dy = 0; dy < windows.size; ++dy) {
      for (int dx = 0; dx < windows.size; ++dx) {
        const T value = plane[first + dy * windows.width + dx];
        if (value > largest || value != value) largest = value;
      }
    }
    return largest;
  }

  FEDARENA_HOST_DEVICE T result(std::int64_t plane, int place) const {
    const std::int64_t whole = plane * windows.plane(), pooled = plane * windows.pooled_plane();
    switch (what) {
      case Pooling::kAverage: {
        const T* numbers = from + whole;
        return window_mean<T>(windows, place, [numbers](int position) { return numbers[position]; });
      }
      case Pooling::kAverageAdjoint:
        return delta_of_window(windows, Positions(windows, place, 0), from + pooled) *
               share_of_window<T>(windows);
      case Pooling::kMax:
        return largest_number(place, inputs + whole);
      case Pooling::kMaxTangent:
        return from[whole + largest_of(windows, place, inputs + whole)];
      case Pooling::kMaxAdjoint: {
        const int window = windows.window_at(place / windows.width, place % windows.width);
        return window >= 0 && largest_of(windows, window, inputs + whole) == place ? from[pooled + window]
                                                                                   : T(0);
      }
    }
    return 0;
  }

  FEDARENA_HOST_DEVICE void operator()(std::int64_t index) const {
    to[index] = result(index / results(), static_cast<int>(index % results()));
  }
};

}  // namespace fedarena::cuda
