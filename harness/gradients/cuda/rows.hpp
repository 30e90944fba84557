#pragma once

#include <cstdint>

#include "harness/gradients/cuda/blocks.hpp"

namespace fedarena::cuda {

/// The squared norm of each row, in double. One block a row.
template <typename T>
struct SquaredNorms {
  static constexpr int kThreads = 256;
  struct Shared {
    double sums[kThreads];
  };
  using Own = Nothing;

  const T* rows;  ///< [blocks, size]
  std::int64_t size;
  double* squared;  ///< [blocks]

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& sums = block.shared().sums;
    const T* row = rows + block.index() * size;
    block.threads([&](int thread, auto& /*own*/) {
      sums[thread] = strided_sum<double, std::int64_t>(thread, size, kThreads, [row](std::int64_t i) {
        const auto value = static_cast<double>(row[i]);
        return value * value;
      });
    });
    add_up(block, kThreads, sums);
    block.threads([&](int thread, auto& /*own*/) {
      if (thread == 0) squared[block.index()] = sums[0];
    });
  }
};

/// target += sum over rows, in their order, of factors[row] * row; rows whose factor is zero do not count.
/// The bits of the CPU's kernels::add_weighted_sum. A thread for each number of the target.
template <typename T>
struct WeightedSum {
  static constexpr int kThreads = 256, kRows = 16;
  using Shared = Nothing;
  using Own = Nothing;

  const T* rows;  ///< [count, size]
  const T* factors;
  std::int64_t count, size;
  T* target;  ///< [size]

  std::int64_t blocks() const { return blocks_for<WeightedSum>(size); }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    for_each_index<WeightedSum>(block, size, [&](std::int64_t place) {
      T sum = target[place];
      for (std::int64_t begin = 0; begin < count; begin += kRows) {
        // All are asked for before the first is added, whatever the factors are, which would be one more
        // wait.
        T factor[kRows], number[kRows];
        FEDARENA_UNROLL
        for (int i = 0; i < kRows; ++i) {
          const std::int64_t row = begin + i < count ? begin + i : count - 1;
          factor[i] = begin + i < count ? factors[row] : T(0);
          number[i] = rows[row * size + place];
        }
        FEDARENA_UNROLL
        for (int i = 0; i < kRows; ++i) {
          if (factor[i] != 0) sum += factor[i] * number[i];
        }
      }
      target[place] = sum;
    });
  }
};

}  // namespace fedarena::cuda
