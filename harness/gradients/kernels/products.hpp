#pragma once

#include <cstdint>

#include <torch/types.h>

/// Products of matrices of a few hundred rows and columns, many at a time. BLAS copies both matrices into an
/// order of its own and clears the result before each product, which takes a third of its time at these
/// sizes, and a BLAS that is older than the processor does not use the widest registers. With registers of
/// any width that have fused multiply-adds, the bits are the same.
namespace fedarena::kernels {

/// Numbers to leave between rows, and between matrices: steps that are powers of two would put all of them
/// into the same few lines of a cache, and the matrices stay where they are.
inline constexpr std::int64_t kGap = 16;

/// Number (row, column) of a matrix lies at data[row * row_step + column * column_step].
template <typename T>
struct Matrix {
  T* data = nullptr;
  std::int64_t row_step = 0, column_step = 1;

  Matrix from(std::int64_t row, std::int64_t column) const {
    return {data + row * row_step + column * column_step, row_step, column_step};
  }
};

/// Of a product [rows, columns] of [rows, inner] and [inner, columns].
struct ProductSize {
  std::int64_t rows, inner, columns;
};

/// Where the sums of a product start.
enum class Start { kZero, kProducts };

/// products = left * right, in float or double, or products += left * right. Rows of right and products are
/// dense. A number is a sum in the order of `inner`, whatever is beside it.
template <typename T>
void multiply(const Matrix<const T>& left, const Matrix<const T>& right, const ProductSize& size,
              const Matrix<T>& products, Start start = Start::kZero);

/// products[p] = left[p] * right[p] for [p, rows, inner] and [p, inner, columns], of one floating type on the
/// CPU, as above.
void multiply(const torch::Tensor& left, const torch::Tensor& right, const torch::Tensor& products);

}  // namespace fedarena::kernels
