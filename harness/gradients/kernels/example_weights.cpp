// One example's gradient in the weight of a convolution by tiles, and its squared norm. Compiled to contract
// expressions, like products.cpp.
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

// Sums of squares, while taps are in registers: reading an example's gradient again, which is as large as the
// second cache, took a twentieth of a private pass. A tap's numbers go to sixteen lanes (eight of doubles) by
// their column, whatever a register holds, so that the bits are those of any processor.
template <typename Registers, typename T>
class Squares {
 public:
  static constexpr std::int64_t kWide = kWidth<T, Registers::kBytes>;
  static constexpr std::int64_t kSets = ThirtyTwoRegisters::kBytes / Registers::kBytes;
  using Doubles = Vector<double, kWide* static_cast<std::int64_t>(sizeof(double))>;

  // Those of the register of columns from `column` on.
  auto& of(std::int64_t column) { return sums_[column / kWide % kSets]; }
  double total() const {
    double sum = 0;
    for (std::int64_t tap = 0; tap < kTaps; ++tap) {
      for (std::int64_t lane = 0; lane < kSets * kWide; ++lane) sum += sums_[lane / kWide][tap][lane % kWide];
    }
    return sum;
  }

 private:
  Doubles sums_[kSets][kTaps] = {};
};

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
      Four::transpose_filters<T>(sums[r], half);
      for (std::int64_t k = 0; k < kTaps; ++k) halves[first + r][k][i] = half[k];
    }
  }
  void take(std::int64_t rows) {
    constexpr int kOperands = 4;  // registers that hold no sum
    constexpr int kRows = (Registers::kCount - kOperands) / kIn;
    for (std::int64_t i = 0; i < kIn; ++i)
      in_pieces<kRows>(rows, [&]<int Rows>(std::int64_t first) { take_row<Rows>(i, first); });
  }
  template <typename Doubles>
  void write(std::int64_t rows, const Lines<T>& taps, std::int64_t row_step,
             Doubles (&squares)[kTaps]) const {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < kTaps; ++k) {
        Numbers results[kTaps];
        Four::transpose_filters<T>(halves[row][k], results);
        for (std::int64_t i = 0; i < kTaps; ++i) {
          *vectors<Registers::kBytes>(taps.data + (i * kTaps + k) * taps.stride + row * row_step) =
              results[i];
          const auto wide = __builtin_convertvector(results[i], Doubles);
          squares[i] += wide * wide;
        }
      }
    }
  }
};

// taps [9][out][in]; returns the sum of their squares.
template <typename Registers, typename T>
inline double weight_delta(const Tiles<const T>& deltas, std::int64_t out, const Tiles<const T>& inputs,
                           std::int64_t in, std::int64_t tiles, T* taps) {
  constexpr std::int64_t kWide = kWidth<T, Registers::kBytes>;
  Squares<Registers, T> squares;
  std::int64_t column = 0;
  const auto all_rows = [&](const Tiles<const T>& columns, const Lines<T>& to, std::int64_t row_step) {
    for (std::int64_t row = 0; row < out; row += kBlock) {
      const std::int64_t rows = std::min<std::int64_t>(kBlock, out - row);
      Block<Registers, T> block(deltas.from(row), columns, tiles);
      block.take(rows);
      block.write(rows, to.from(row * row_step), row_step, squares.of(column));
    }
  };
  for (; column + kWide <= in; column += kWide)
    all_rows(inputs.from(column), Lines<T>{taps + column, out * in}, in);
  if (column == in) return squares.total();
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
  return squares.total();
}

}  // namespace
}  // namespace winograd

ExampleWeight weight_delta_of_example(const torch::Tensor& deltas, const torch::Tensor& inputs,
                                      std::int64_t begin, std::int64_t count) {
  const std::int64_t out = deltas.size(2), in = inputs.size(2);
  ExampleWeight result{torch::empty({winograd::kTaps * winograd::kTaps, out, in}, deltas.options()), 0};
  AT_DISPATCH_FLOATING_TYPES(deltas.scalar_type(), "weight_delta_of_example", [&] {
    const winograd::Tiles<const scalar_t> of_deltas(deltas.narrow(1, begin, count)),
        of_inputs(inputs.narrow(1, begin, count));
    auto* to = result.taps.data_ptr<scalar_t>();
    run_in_registers([&](auto registers) {
      result.squared = winograd::weight_delta<decltype(registers)>(of_deltas, out, of_inputs, in, count, to);
    });
  });
  return result;
}

}  // namespace fedarena::kernels
