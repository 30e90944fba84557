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
      sums[thread] = strided_sum<double>(thread, size, kThreads, [row](std::int64_t i) {
        const auto value = static_cast<double>(row[i]);
        return value * value;
      });
    });
    add_up(block, sums, kThreads);
    block.threads([&](int thread, auto& /*own*/) {
      if (thread == 0) squared[block.index()] = sums[0];
    });
  }
};

/// target += sum over rows, in their order, of factors[row] * row; rows whose factor is zero are not read.
/// The bits of the CPU's kernels::add_weighted_sum. A thread for each number of the target.
template <typename T>
struct WeightedSum {
  static constexpr int kThreads = 256;
  using Shared = Nothing;
  using Own = Nothing;

  const T* rows;  ///< [count, size]
  const T* factors;
  std::int64_t count, size;
  T* target;  ///< [size]

  std::int64_t blocks() const { return ceil_div(size, kThreads); }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    block.threads([&](int thread, auto& /*own*/) {
      const std::int64_t place = block.index() * kThreads + thread;
      if (place >= size) return;
      T sum = target[place];
      for (std::int64_t row = 0; row < count; ++row) {
        const T factor = factors[row];
        if (factor != 0) sum += factor * rows[row * size + place];
      }
      target[place] = sum;
    });
  }
};

}  // namespace fedarena::cuda
