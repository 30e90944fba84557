// One example's gradient in the weight of a convolution by tiles. Compiled to contract expressions, like
// products.cpp.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "harness/gradients/kernels/registers.hpp"
#include "harness/gradients/kernels/vectorised.hpp"
#include "harness/gradients/kernels/winograd.hpp"
#include "harness/gradients/kernels/winograd_transforms.hpp"

namespace fedarena::kernels {
namespace winograd {
namespace {

constexpr std::int64_t kIn = Four::kIn;
// Outputs at a time: what they and their places of a row need stays in the innermost cache.
constexpr int kBlock = 16;

// A register of inputs beside some outputs.
template <typename Registers, typename T>
struct Block {
  using Numbers = Vector<T, Registers::kBytes>;

  Block(const Tiles<const T>& of_deltas, const Tiles<const T>& of_inputs, std::int64_t of_tiles)
      : deltas(of_deltas), inputs(of_inputs), tiles(of_tiles) {}

  Tiles<const T> deltas, inputs;
  std::int64_t tiles;
  Numbers halves[kBlock][kTaps][kIn];

  // Products of the places of row i, added up over tiles, for Rows outputs from `first` on; six of them
  // become three before anything is written.
  template <int Rows>
  void take_row(std::int64_t i, std::int64_t first) {
    Numbers sums[Rows][kIn] = {};
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      for (std::int64_t j = 0; j < kIn; ++j) {
        const std::int64_t place = i * kIn + j;
        const T* delta = deltas.data + place * deltas.place + tile * deltas.tile + first;
        const Numbers input =
            *vectors<Registers::kBytes>(inputs.data + place * inputs.place + tile * inputs.tile);
        for (int r = 0; r < Rows; ++r) sums[r][j] += delta[r] * input;
      }
    }
    for (int r = 0; r < Rows; ++r) {
      Numbers half[kTaps];
      Four::FiltersTransposed::apply_to<T>(sums[r], half);
      for (std::int64_t k = 0; k < kTaps; ++k) halves[first + r][k][i] = half[k];
    }
  }
  void take(std::int64_t rows) {
    constexpr int kOperands = 4;  // registers that hold no sum
    constexpr int kRows = (Registers::kCount - kOperands) / kIn;
    for (std::int64_t i = 0; i < kIn; ++i)
      in_pieces<kRows>(rows, [&]<int Rows>(std::int64_t first) { take_row<Rows>(i, first); });
  }
  void write(std::int64_t rows, const Lines<T>& taps, std::int64_t row_step) const {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < kTaps; ++k) {
        Numbers results[kTaps];
        Four::FiltersTransposed::apply_to<T>(halves[row][k], results);
        for (std::int64_t i = 0; i < kTaps; ++i)
          *vectors<Registers::kBytes>(taps.data + (i * kTaps + k) * taps.stride + row * row_step) =
              results[i];
      }
    }
  }
};

// taps [9][out][in].
template <typename Registers, typename T>
inline void weight_delta(const Tiles<const T>& deltas, std::int64_t out, const Tiles<const T>& inputs,
                         std::int64_t in, std::int64_t tiles, T* taps) {
  constexpr std::int64_t kWide = kWidth<T, Registers::kBytes>;
  const auto all_rows = [&](const Tiles<const T>& columns, const Lines<T>& to, std::int64_t row_step) {
    for (std::int64_t row = 0; row < out; row += kBlock) {
      const std::int64_t rows = std::min<std::int64_t>(kBlock, out - row);
      Block<Registers, T> block(deltas.from(row), columns, tiles);
      block.take(rows);
      block.write(rows, to.from(row * row_step), row_step);
    }
  };
  std::int64_t column = 0;
  for (; column + kWide <= in; column += kWide)
    all_rows(inputs.from(column), Lines<T>{taps + column, out * in}, in);
  if (column == in) return;
  // What is left of the inputs has a register of its own.
  const std::int64_t left = in - column;
  std::vector<T> rest(static_cast<std::size_t>(kIn * kIn * tiles * kWide)),
      results(static_cast<std::size_t>(kTaps * kTaps * out * kWide));
  for (std::int64_t line = 0; line < kIn * kIn * tiles; ++line) {
    const T* from = inputs.data + line / tiles * inputs.place + line % tiles * inputs.tile + column;
    std::copy_n(from, left, rest.data() + line * kWide);
  }
  all_rows(Tiles<const T>(rest.data(), tiles * kWide, kWide), Lines<T>{results.data(), out * kWide}, kWide);
  for (std::int64_t line = 0; line < kTaps * kTaps * out; ++line)
    std::copy_n(results.data() + line * kWide, left, taps + line * in + column);
}

}  // namespace
}  // namespace winograd

torch::Tensor weight_deltas_of_tiles(const torch::Tensor& deltas, const torch::Tensor& inputs,
                                     std::int64_t begin, std::int64_t count) {
  const std::int64_t out = deltas.size(2), in = inputs.size(2);
  torch::Tensor taps = torch::empty({winograd::kTaps * winograd::kTaps, out, in}, deltas.options());
  AT_DISPATCH_FLOATING_TYPES(taps.scalar_type(), "weight_deltas_of_tiles", [&] {
    const winograd::Tiles<const scalar_t> of_deltas(deltas.narrow(1, begin, count)),
        of_inputs(inputs.narrow(1, begin, count));
    auto* to = taps.data_ptr<scalar_t>();
    run_in_registers([&](auto registers) {
      winograd::weight_delta<decltype(registers)>(of_deltas, out, of_inputs, in, count, to);
    });
  });
  return taps;
}

}  // namespace fedarena::kernels
