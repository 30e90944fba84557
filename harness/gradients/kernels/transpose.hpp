#pragma once

#include <cstdint>
#include <utility>

#include "harness/gradients/kernels/vectorised.hpp"

namespace fedarena::kernels {

/// A square block of numbers in registers, kWidth<T> of them; rows become columns.
template <typename T>
struct TransposedBlock {
  static constexpr int kSide = static_cast<int>(kWidth<T>);
  Vector<T> rows[kSide];

  TransposedBlock(const T* in, std::int64_t step) {
    for (int i = 0; i < kSide; ++i) rows[i] = *vectors(in + i * step);
    exchange<kSide / 2>(std::make_integer_sequence<int, kSide>());
  }

  void store(T* out, std::int64_t step) const {
    for (int i = 0; i < kSide; ++i) *vectors(out + i * step) = rows[i];
  }

 private:
  // Of each 2 * Half columns and rows, the upper right quarter goes to the lower left and back; then within
  // quarters.
  template <int Half, int... Lane>
  void exchange(std::integer_sequence<int, Lane...> lanes) {
    for (int i = 0; i < kSide; ++i) {
      if ((i & Half) != 0) continue;
      const Vector<T> upper = rows[i], lower = rows[i + Half];
      rows[i] = __builtin_shufflevector(upper, lower, ((Lane & Half) != 0 ? kSide + Lane - Half : Lane)...);
      rows[i + Half] =
          __builtin_shufflevector(upper, lower, ((Lane & Half) != 0 ? kSide + Lane : Lane + Half)...);
    }
    if constexpr (Half > 1) exchange<Half / 2>(lanes);
  }
};

/// out[column * out_step + row] = in[row * in_step + column]
template <typename T>
inline void transpose(const T* in, std::int64_t in_step, std::int64_t rows, std::int64_t columns, T* out,
                      std::int64_t out_step) {
  const std::int64_t full_rows = rows / kWidth<T> * kWidth<T>, full_columns = columns / kWidth<T> * kWidth<T>;
  for (std::int64_t row = 0; row < full_rows; row += kWidth<T>) {
    for (std::int64_t column = 0; column < full_columns; column += kWidth<T>) {
      TransposedBlock<T>(in + row * in_step + column, in_step).store(out + column * out_step + row, out_step);
    }
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = row < full_rows ? full_columns : 0; column < columns; ++column) {
      out[column * out_step + row] = in[row * in_step + column];
    }
  }
}

}  // namespace fedarena::kernels
