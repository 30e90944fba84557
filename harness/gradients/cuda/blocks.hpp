#pragma once

#include <cmath>
#include <cstdint>

#include "fedarena/base/host_device.hpp"

/// What a kernel is written in, once for both compilers: nvcc makes a GPU's code of it (gpu.cu), and the
/// compiler of the rest an ordinary loop over blocks and threads (walk.hpp), with which the CPU's tests see
/// every index, barrier and order of addition.
///
/// A kernel is a struct of plain pointers and sizes with
///
///     static constexpr int kThreads;              // of a block, a power of two
///     struct Shared { ... };                      // what a block's threads share
///     std::int64_t blocks() const;
///     template <typename Block> FEDARENA_HOST_DEVICE void operator()(Block& block) const;
///
/// whose body is a sequence of phases, block.threads([&](int thread) { ... }), with a barrier after each.
/// Within a phase threads have no order, so none may read what another one writes. Whether a phase comes at
/// all depends on the block alone. Sums are added up in a fixed order, never by atomic operations, and no
/// product is contracted with a sum: the same bits from every GPU, and from the walk.

namespace fedarena::cuda {

FEDARENA_HOST_DEVICE inline std::int64_t ceil_div(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

/// The kernel that calls work(index) for every index below work.count(), a thread each.
template <typename Work>
struct ForEach {
  static constexpr int kThreads = 256;
  struct Shared {};

  Work work;

  std::int64_t blocks() const { return ceil_div(work.count(), kThreads); }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    block.threads([&](int thread) {
      const std::int64_t index = block.index() * kThreads + thread;
      if (index < work.count()) work(index);
    });
  }
};
template <typename Work>
ForEach(Work) -> ForEach<Work>;

/// Terms that are added up in their own type before the sum goes on in double; as many reads are under way at
/// once.
inline constexpr int kTerms = 8;

/// Sum over i = first, first + stride, ... below count of term(i).
template <typename T, typename Index, typename Term>
FEDARENA_HOST_DEVICE inline double strided_sum(Index first, Index count, Index stride, const Term& term) {
  double total = 0;
  Index i = first;
  for (; count - i > (kTerms - 1) * stride; i += kTerms * stride) {
    T part = 0;
    FEDARENA_UNROLL
    for (int k = 0; k < kTerms; ++k) part += term(i + k * stride);
    total += static_cast<double>(part);
  }
  T rest = 0;
  for (; i < count; i += stride) rest += term(i);
  return total + static_cast<double>(rest);
}

/// Adds up the numbers of `width` neighbouring threads each, a power of two, in each of the arrays: the first
/// one's place then has their sum.
template <typename Block, typename... Arrays>
FEDARENA_HOST_DEVICE inline void add_up(Block& block, int width, Arrays*... numbers) {
  for (int half = width / 2; half > 0; half /= 2) {
    block.threads([&](int thread) {
      if ((thread & (width - 1)) < half) ((numbers[thread] += numbers[thread + half]), ...);
    });
  }
}

}  // namespace fedarena::cuda
