// Compiled to contract expressions: where the processor has fused multiply-adds, they are twice as fast.
#include "harness/gradients/kernels/products.hpp"

#include <algorithm>
#include <array>

#include <ATen/Dispatch.h>

#include "harness/gradients/kernels/registers.hpp"
#include "harness/gradients/kernels/vectorised.hpp"

namespace fedarena::kernels {
namespace {

template <int Rows, int Vectors, std::int64_t Bytes, typename T>
inline void multiply_block(const Matrix<const T>& left, const Matrix<const T>& right, std::int64_t inner,
                           Start start, const Matrix<T>& products) {
  constexpr std::int64_t kWide = kWidth<T, Bytes>;
  Vector<T, Bytes> sums[Rows][Vectors] = {};
  if (start == Start::kProducts) {
    for (int r = 0; r < Rows; ++r) {
      for (int v = 0; v < Vectors; ++v) {
        sums[r][v] = *vectors<Bytes>(products.data + r * products.row_step + v * kWide);
      }
    }
  }
  for (std::int64_t k = 0; k < inner; ++k) {
    const T* column = left.data + k * left.column_step;
    const T* row = right.data + k * right.row_step;
    Vector<T, Bytes> numbers[Vectors];
    for (int v = 0; v < Vectors; ++v) numbers[v] = *vectors<Bytes>(row + v * kWide);
    for (int r = 0; r < Rows; ++r) {
      const T factor = column[r * left.row_step];
      for (int v = 0; v < Vectors; ++v) sums[r][v] += factor * numbers[v];
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int v = 0; v < Vectors; ++v) {
      *vectors<Bytes>(products.data + r * products.row_step + v * kWide) = sums[r][v];
    }
  }
}

constexpr std::int64_t kInner = 256;  // at a time

// What columns are left when registers are full: in a register of their own, so that all sums are made alike.
template <typename Registers, typename T>
inline void multiply_rest(const Matrix<const T>& left, const Matrix<const T>& right, const ProductSize& size,
                          Start start, const Matrix<T>& products) {
  constexpr std::int64_t kWide = kWidth<T, Registers::kBytes>;
  std::array<T, kInner * kWide> columns{};
  for (std::int64_t k = 0; k < size.inner; ++k) {
    std::copy_n(right.data + k * right.row_step, size.columns, &columns[k * kWide]);
  }
  in_pieces<Registers::kRows>(size.rows, [&]<int Rows>(std::int64_t row) {
    std::array<T, Rows * kWide> sums{};
    const Matrix<T> from = products.from(row, 0);
    if (start == Start::kProducts) {
      for (int r = 0; r < Rows; ++r) {
        std::copy_n(from.data + r * from.row_step, size.columns, &sums[r * kWide]);
      }
    }
    multiply_block<Rows, 1, Registers::kBytes>(left.from(row, 0), Matrix<const T>{columns.data(), kWide},
                                               size.inner, start, Matrix<T>{sums.data(), kWide});
    for (int r = 0; r < Rows; ++r) std::copy_n(&sums[r * kWide], size.columns, from.data + r * from.row_step);
  });
}

// All columns, two registers of them at a time, for all rows; kInner numbers to add up at most.
template <typename Registers, typename T>
inline void multiply_columns(const Matrix<const T>& left, const Matrix<const T>& right,
                             const ProductSize& size, Start start, const Matrix<T>& products) {
  constexpr std::int64_t kWide = kWidth<T, Registers::kBytes>;
  std::int64_t column = 0;
  const auto block = [&]<int Vectors>() {
    in_pieces<Registers::kRows>(size.rows, [&]<int Rows>(std::int64_t row) {
      multiply_block<Rows, Vectors, Registers::kBytes>(left.from(row, 0), right.from(0, column), size.inner,
                                                       start, products.from(row, column));
    });
    column += Vectors * kWide;
  };
  while (column + 2 * kWide <= size.columns) block.template operator()<2>();
  if (column + kWide <= size.columns) block.template operator()<1>();
  if (column < size.columns) {
    multiply_rest<Registers>(left, right.from(0, column), {size.rows, size.inner, size.columns - column},
                             start, products.from(0, column));
  }
}

// What is used again stays in a cache: all of right where it is small, else some of its columns and of
// `inner`.
template <typename Registers, typename T>
inline void multiply_with(const Matrix<const T>& left, const Matrix<const T>& right, const ProductSize& size,
                          Start start, const Matrix<T>& products) {
  constexpr std::int64_t kSmall = 1 << 14;
  const std::int64_t rows = size.inner * size.columns <= kSmall ? Registers::kRows : size.rows;
  std::int64_t begin = 0;
  do {  // once where there is nothing to add up
    const std::int64_t inner = std::min(kInner, size.inner - begin);
    for (std::int64_t row = 0; row < size.rows; row += rows) {
      multiply_columns<Registers>(left.from(row, begin), right.from(begin, 0),
                                  {std::min(rows, size.rows - row), inner, size.columns}, start,
                                  products.from(row, 0));
    }
    start = Start::kProducts;
    begin += inner;
  } while (begin < size.inner);
}

}  // namespace

template <typename T>
void multiply(const Matrix<const T>& left, const Matrix<const T>& right, const ProductSize& size,
              const Matrix<T>& products, Start start) {
  run_in_registers(
      [&](auto registers) { multiply_with<decltype(registers)>(left, right, size, start, products); });
}

template void multiply<float>(const Matrix<const float>&, const Matrix<const float>&, const ProductSize&,
                              const Matrix<float>&, Start);
template void multiply<double>(const Matrix<const double>&, const Matrix<const double>&, const ProductSize&,
                               const Matrix<double>&, Start);

void multiply(const torch::Tensor& left, const torch::Tensor& right, const torch::Tensor& products) {
  AT_DISPATCH_FLOATING_TYPES(products.scalar_type(), "multiply", [&] {
    const auto* a = left.data_ptr<scalar_t>();
    const auto* b = right.data_ptr<scalar_t>();
    auto* out = products.data_ptr<scalar_t>();
    const ProductSize size{left.size(1), left.size(2), right.size(2)};
    for (std::int64_t p = 0; p < products.size(0); ++p) {
      multiply(Matrix<const scalar_t>{a + p * left.stride(0), left.stride(1), left.stride(2)},
               Matrix<const scalar_t>{b + p * right.stride(0), right.stride(1)}, size,
               Matrix<scalar_t>{out + p * products.stride(0), products.stride(1)});
    }
  });
}

}  // namespace fedarena::kernels
