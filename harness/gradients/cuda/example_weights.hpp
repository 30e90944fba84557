#pragma once

#include <cstdint>

#include "harness/gradients/cuda/blocks.hpp"

namespace fedarena::cuda {

/// A convolution of stride one, as layers.hpp has it. Maps have fewer than 2^15 rows and an example fewer
/// than 2^31 numbers.
struct ConvSizes {
  std::int64_t in, out, kernel, padding;
  std::int64_t height, width;  ///< of the inputs

  FEDARENA_HOST_DEVICE std::int64_t out_width() const { return width + 2 * padding - kernel + 1; }
  FEDARENA_HOST_DEVICE std::int64_t positions() const {
    return (height + 2 * padding - kernel + 1) * out_width();
  }
  /// Taps of an output, and one more for its bias, whose input is one everywhere.
  FEDARENA_HOST_DEVICE std::int64_t columns() const { return in * kernel * kernel + 1; }
};

/// Every example's own gradient in a convolution's weight and bias: for each example the product of its
/// deltas [out, positions] and its patches [positions, columns], which are read where they lie in the inputs.
/// A block has 16 * Rows outputs and 128 columns of one example; a thread Rows times eight numbers, sixteen
/// apart. The squares of what a block has written go with it, so that norms cost no second pass over memory.
template <typename T, int Rows>
struct ExampleWeights {
  static constexpr int kThreads = 256, kSide = 16, kColumns = 8;
  static constexpr int kTileRows = kSide * Rows, kTileColumns = kSide * kColumns;
  static constexpr int kDepth = 16;  ///< positions at a time
  // Two more than a tile, so that the threads that write a column of shared memory side by side take
  // different banks.
  static constexpr int kGap = 2;
  static constexpr short kNowhere = -(1 << 15);
  struct Shared {
    T deltas[kDepth][kTileRows + kGap], patches[kDepth][kTileColumns + kGap];
    double squares[kThreads];
  };
  struct Own {
    T sums[Rows][kColumns];
    // Where the columns that the thread fetches lie in an example's inputs, from the position's own place,
    // and how far from it down and to the right; the bias' column and those that are none lie nowhere in the
    // inputs.
    int offset[kColumns];
    short down[kColumns], right[kColumns];
    int bias;  // which of them is the bias', if any
  };

  ConvSizes sizes;
  const T *inputs, *deltas;
  T* gradients;     ///< [examples, out, columns]
  double* squared;  ///< [examples, tiles()]

  FEDARENA_HOST_DEVICE std::int64_t row_tiles() const { return ceil_div(sizes.out, kTileRows); }
  FEDARENA_HOST_DEVICE std::int64_t tiles() const {
    return row_tiles() * ceil_div(sizes.columns(), kTileColumns);
  }

  // Which columns a thread fetches, one in every sixteen; the other sixteen threads of its position fetch the
  // rest.
  FEDARENA_HOST_DEVICE void find_columns(std::int64_t first_column, int thread, Own& own) const {
    const std::int64_t taps = sizes.kernel * sizes.kernel;
    own.bias = -1;
    FEDARENA_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      const std::int64_t column = first_column + thread / kDepth + j * kSide;
      const bool is_tap = column < sizes.columns() - 1;
      const std::int64_t tap = is_tap ? column % taps : 0;
      const std::int64_t down = tap / sizes.kernel - sizes.padding,
                         right = tap % sizes.kernel - sizes.padding;
      own.down[j] = is_tap ? static_cast<short>(down) : kNowhere;
      own.right[j] = static_cast<short>(right);
      own.offset[j] =
          is_tap ? static_cast<int>((column / taps * sizes.height + down) * sizes.width + right) : 0;
      if (column == sizes.columns() - 1) own.bias = j;
    }
  }

  FEDARENA_HOST_DEVICE void fetch(std::int64_t example, std::int64_t first_row, std::int64_t begin,
                                  int thread, Shared& shared, const Own& own) const {
    const std::int64_t position = begin + thread % kDepth;
    const bool is_position = position < sizes.positions();
    const T* delta = deltas + example * sizes.out * sizes.positions() + position;
    FEDARENA_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const int row = thread / kDepth + i * kSide;
      const bool there = is_position && first_row + row < sizes.out;
      shared.deltas[thread % kDepth][row] = there ? delta[(first_row + row) * sizes.positions()] : T(0);
    }
    const std::int64_t y = position / sizes.out_width(), x = position % sizes.out_width();
    const T* input = inputs + example * sizes.in * sizes.height * sizes.width + y * sizes.width + x;
    FEDARENA_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      const std::int64_t v = y + own.down[j], u = x + own.right[j];
      const bool inside = v >= 0 && v < sizes.height && u >= 0 && u < sizes.width;
      shared.patches[thread % kDepth][thread / kDepth + j * kSide] = !is_position    ? T(0)
                                                                     : inside        ? input[own.offset[j]]
                                                                     : j == own.bias ? T(1)
                                                                                     : T(0);
    }
  }

  FEDARENA_HOST_DEVICE static void multiply(int thread, const Shared& shared, Own& own) {
    FEDARENA_UNROLL
    for (int k = 0; k < kDepth; ++k) {
      T rows[Rows], columns[kColumns];
      FEDARENA_UNROLL
      for (int i = 0; i < Rows; ++i) rows[i] = shared.deltas[k][thread / kSide + i * kSide];
      FEDARENA_UNROLL
      for (int j = 0; j < kColumns; ++j) columns[j] = shared.patches[k][thread % kSide + j * kSide];
      FEDARENA_UNROLL
      for (int i = 0; i < Rows; ++i) {
        FEDARENA_UNROLL
        for (int j = 0; j < kColumns; ++j) own.sums[i][j] = fused(rows[i], columns[j], own.sums[i][j]);
      }
    }
  }

  // Returns the sum of squares of what it writes.
  FEDARENA_HOST_DEVICE double write(std::int64_t example, std::int64_t first_row, std::int64_t first_column,
                                    int thread, const Own& own) const {
    double squares = 0;
    FEDARENA_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const std::int64_t row = first_row + thread / kSide + i * kSide;
      FEDARENA_UNROLL
      for (int j = 0; j < kColumns; ++j) {
        const std::int64_t column = first_column + thread % kSide + j * kSide;
        if (row >= sizes.out || column >= sizes.columns()) continue;
        gradients[(example * sizes.out + row) * sizes.columns() + column] = own.sums[i][j];
        const auto value = static_cast<double>(own.sums[i][j]);
        squares += value * value;
      }
    }
    return squares;
  }

  template <typename Block>
  FEDARENA_HOST_DEVICE void operator()(Block& block) const {
    auto& shared = block.shared();
    const std::int64_t example = block.index() / tiles(), tile = block.index() % tiles();
    const std::int64_t first_row = tile % row_tiles() * kTileRows,
                       first_column = tile / row_tiles() * kTileColumns;
    block.threads([&](int thread, Own& own) {
      find_columns(first_column, thread, own);
      FEDARENA_UNROLL
      for (int i = 0; i < Rows; ++i) {
        FEDARENA_UNROLL
        for (int j = 0; j < kColumns; ++j) own.sums[i][j] = 0;
      }
    });
    for (std::int64_t begin = 0; begin < sizes.positions(); begin += kDepth) {
      block.threads([&](int thread, Own& own) { fetch(example, first_row, begin, thread, shared, own); });
      block.threads([&](int thread, Own& own) { multiply(thread, shared, own); });
    }
    block.threads([&](int thread, Own& own) {
      shared.squares[thread] = write(example, first_row, first_column, thread, own);
    });
    add_up(block, shared.squares, kThreads);
    block.threads([&](int thread, auto& /*own*/) {
      if (thread == 0) squared[block.index()] = shared.squares[0];
    });
  }
};

}  // namespace fedarena::cuda
