#pragma once

#include <algorithm>
#include <cstdint>

#include "fedarena/base/host_device.hpp"

/// Pooling of one plane in memory, for the kernels that pool and those that pool what they have just
/// computed.
namespace fedarena::kernels {

/// What is computed of planes whose windows of size x size do not overlap; what is left over at the right and
/// below is in none.
enum class Pooling {
  kAverage,         ///< means of `from`
  kAverageAdjoint,  ///< gradients in the inputs from those in the means, `from`
  kMax,             ///< largest numbers of `inputs`; what is not a number is larger than any
  kMaxTangent,      ///< `from` where `inputs` are largest, the first of equals
  kMaxAdjoint,      ///< gradients in `inputs` from those in the largest numbers, `from`
};
FEDARENA_HOST_DEVICE constexpr bool is_adjoint(Pooling what) {
  return what == Pooling::kAverageAdjoint || what == Pooling::kMaxAdjoint;
}

/// Means over non-overlapping windows of in[height][width].
template <typename T>
inline void pool_plane(const T* in, std::int64_t height, std::int64_t width, std::int64_t size, T* out) {
  const std::int64_t out_height = height / size;
  const std::int64_t out_width = width / size;
  const T scale = T(1) / static_cast<T>(size * size);
  for (std::int64_t y = 0; y < out_height; ++y, in += size * width, out += out_width) {
    if (size == 2) {
      const T* lower = in + width;
      for (std::int64_t x = 0; x < out_width; ++x) {
        out[x] = ((in[2 * x] + in[2 * x + 1]) + (lower[2 * x] + lower[2 * x + 1])) * T(0.25);
      }
      continue;
    }
    for (std::int64_t x = 0; x < out_width; ++x) {
      T sum = 0;
      for (std::int64_t dy = 0; dy < size; ++dy) {
        for (std::int64_t dx = 0; dx < size; ++dx) sum += in[dy * width + x * size + dx];
      }
      out[x] = sum * scale;
    }
  }
}

/// The transposed map: writes all of out[height][width], zeros where no window reaches.
template <typename T>
inline void unpool_plane(const T* delta, std::int64_t height, std::int64_t width, std::int64_t size, T* out) {
  const std::int64_t out_height = height / size;
  const std::int64_t out_width = width / size;
  const std::int64_t covered = out_width * size;
  const T scale = T(1) / static_cast<T>(size * size);
  for (std::int64_t y = 0; y < out_height; ++y, delta += out_width) {
    if (size == 2) {
      T* lower = out + width;
      for (std::int64_t x = 0; x < out_width; ++x) {
        out[2 * x] = out[2 * x + 1] = lower[2 * x] = lower[2 * x + 1] = delta[x] * scale;
      }
    } else {
      for (std::int64_t x = 0; x < covered; ++x) out[x] = delta[x / size] * scale;
      for (std::int64_t dy = 1; dy < size; ++dy) std::copy_n(out, covered, out + dy * width);
    }
    for (std::int64_t dy = 0; dy < size; ++dy, out += width) std::fill(out + covered, out + width, T(0));
  }
  std::fill_n(out, (height - out_height * size) * width, T(0));
}

/// The larger of two numbers; what is not a number is larger than any, as in LibTorch's pooling.
template <typename T>
inline T larger(T left, T right) {
  return right > left || right != right ? right : left;
}

/// The largest numbers of non-overlapping windows of in[height][width].
template <typename T>
inline void max_pool_plane(const T* in, std::int64_t height, std::int64_t width, std::int64_t size, T* out) {
  const std::int64_t out_height = height / size;
  const std::int64_t out_width = width / size;
  for (std::int64_t y = 0; y < out_height; ++y, in += size * width, out += out_width) {
    if (size == 2) {
      const T* lower = in + width;
      for (std::int64_t x = 0; x < out_width; ++x) {
        out[x] = larger(larger(in[2 * x], in[2 * x + 1]), larger(lower[2 * x], lower[2 * x + 1]));
      }
      continue;
    }
    for (std::int64_t x = 0; x < out_width; ++x) {
      T largest = in[x * size];
      for (std::int64_t dy = 0; dy < size; ++dy) {
        for (std::int64_t dx = 0; dx < size; ++dx) largest = larger(largest, in[dy * width + x * size + dx]);
      }
      out[x] = largest;
    }
  }
}

/// Where in a plane each window has its largest number, the first of equals: use(position, index) for every
/// window, in order.
template <typename T, typename Use>
inline void for_each_largest_of_plane(const T* in, std::int64_t height, std::int64_t width, std::int64_t size,
                                      const Use& use) {
  std::int64_t index = 0;
  for (std::int64_t y = 0; y + size <= height; y += size) {
    for (std::int64_t x = 0; x + size <= width; x += size, ++index) {
      std::int64_t largest = y * width + x;
      for (std::int64_t dy = 0; dy < size; ++dy) {
        for (std::int64_t dx = 0; dx < size; ++dx) {
          const std::int64_t position = (y + dy) * width + x + dx;
          if (in[position] > in[largest]) largest = position;
        }
      }
      use(largest, index);
    }
  }
}

}  // namespace fedarena::kernels
