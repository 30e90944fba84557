#pragma once

#include <cstdint>

#include "harness/gradients/cuda/blocks.hpp"

namespace fedarena::cuda {

/// The squared norm of each row, in double. A block for each row.
template <typename T>
struct SquaredNorms {
  static constexpr int kThreads = 256;
  struct Shared {
    double sums[kThreads];
  };

  const T* rows;  ///< [count, size]
  std::int64_t count, size;
  double* squared;  ///< [count]

  std::int64_t blocks() const { return count; }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& sums = block.shared().sums;
    const T* row = rows + block.index() * size;
    block.threads([&](int thread) {
      sums[thread] = strided_sum<double, std::int64_t>(thread, size, kThreads, [row](std::int64_t i) {
        const auto value = static_cast<double>(row[i]);
        return value * value;
      });
    });
    add_up(block, kThreads, sums);
    block.threads([&](int thread) {
      if (thread == 0) squared[block.index()] = sums[0];
    });
  }
};

/// target += sum over rows, in their order, of factors[row] * row; rows whose factor is zero do not count.
/// The bits of the CPU's kernels::add_weighted_sum. An index for each number of the target.
template <typename T>
struct WeightedSum {
  static constexpr int kRows = 16;

  const T* rows;  ///< [height, size]
  const T* factors;
  std::int64_t height, size;
  T* target;  ///< [size]

  FEDARENA_HOST_DEVICE std::int64_t count() const { return size; }

  FEDARENA_HOST_DEVICE void operator()(std::int64_t place) const {
    T sum = target[place];
    for (std::int64_t begin = 0; begin < height; begin += kRows) {
      // All are asked for before the first is added, whatever the factors are, which would be one more wait.
      T factor[kRows], number[kRows];
      FEDARENA_UNROLL
      for (int i = 0; i < kRows; ++i) {
        const std::int64_t row = begin + i < height ? begin + i : height - 1;
        factor[i] = begin + i < height ? factors[row] : T(0);
        number[i] = rows[row * size + place];
      }
      FEDARENA_UNROLL
      for (int i = 0; i < kRows; ++i) {
        if (factor[i] != 0) sum += factor[i] * number[i];
      }
    }
    target[place] = sum;
  }
};

}  // namespace fedarena::cuda
