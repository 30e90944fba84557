// Products of matrices against those in double, in every shape that leaves a rest.
#include "harness/gradients/kernels/products.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedarena/random.hpp"

namespace fedarena::kernels {
namespace {

// {rows, inner, columns}: rests of rows, of one and two registers, of what a cache holds; nothing to add up.
const std::vector<ProductSize> kSizes{{8, 16, 32},  {128, 128, 128}, {1, 1, 1},    {13, 7, 45},
                                      {5, 300, 70}, {29, 513, 3},    {6, 256, 16}, {200, 10, 990},
                                      {17, 0, 19},  {0, 4, 8}};

std::string described(const ProductSize& size) {
  return fmt::format("[{}, {}] * [{}, {}]", size.rows, size.inner, size.inner, size.columns);
}

class Products : public ::testing::TestWithParam<torch::ScalarType> {
 protected:
  // With a gap after each row, and noise there.
  torch::Tensor numbers(const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> wider = shape;
    wider.back() += 3;
    return normal(stream_, wider).to(GetParam()).narrow(-1, 0, shape.back());
  }
  double tolerance() const { return GetParam() == torch::kFloat64 ? 1e-13 : 1e-5; }

 private:
  Stream stream_{{.seed = 5}};
};

TEST_P(Products, AreThoseOfTheDefinition) {
  for (const ProductSize& size : kSizes) {
    SCOPED_TRACE(described(size));
    const torch::Tensor left = numbers({3, size.rows, size.inner}),
                        turned = numbers({3, size.inner, size.rows});
    const torch::Tensor right = numbers({3, size.inner, size.columns});
    for (const torch::Tensor& factor : {left, turned.transpose(1, 2)}) {
      const torch::Tensor storage = at::full({3, size.rows, size.columns + 2}, 7, left.options());
      const torch::Tensor products = storage.narrow(2, 0, size.columns);
      multiply(factor, right, products);
      const torch::Tensor expected = at::bmm(factor.to(torch::kFloat64), right.to(torch::kFloat64));
      EXPECT_TRUE(at::allclose(products.to(torch::kFloat64), expected, tolerance(), 20 * tolerance()));
      EXPECT_TRUE(storage.narrow(2, size.columns, 2).eq(7).all().item<bool>()) << "wrote beside the products";
    }
  }
}

// One after the other in the order of `inner`, each term fused or none: neither the width of registers nor
// neighbours nor the place in a block show.
TEST_P(Products, AreOneChainOfMultiplyAdds) {
  const torch::Tensor left = numbers({1, 21, 700}), right = numbers({1, 700, 77});
  const torch::Tensor products = at::empty({1, 21, 77}, left.options());
  multiply(left, right, products);
  const auto check = [&]<typename T>(T /*type*/) {
    const auto a = left.accessor<T, 3>()[0], b = right.accessor<T, 3>()[0], c = products.accessor<T, 3>()[0];
    std::int64_t fused = 0, plain = 0;
    for (std::int64_t row = 0; row < 21; ++row) {
      for (std::int64_t column = 0; column < 77; ++column) {
        T with = 0, without = 0;
        for (std::int64_t k = 0; k < 700; ++k) {
          with = std::fma(a[row][k], b[k][column], with);
          without += a[row][k] * b[k][column];
        }
        fused += c[row][column] == with;
        plain += c[row][column] == without;
      }
    }
    EXPECT_EQ(std::max(fused, plain), 21 * 77) << fused << " fused, " << plain << " plain";
  };
  GetParam() == torch::kFloat64 ? check(double()) : check(float());
}

TEST_P(Products, ThatAreAddedContinueTheSum) {
  const torch::Tensor left = numbers({1, 21, 700}), right = numbers({1, 700, 77});
  const torch::Tensor whole = at::empty({1, 21, 77}, left.options()), parts = at::empty_like(whole);
  multiply(left, right, whole);
  multiply(left.narrow(2, 0, 300), right.narrow(1, 0, 300), parts);
  const auto add = [&]<typename T>(T /*type*/) {
    const torch::Tensor rest = left.narrow(2, 300, 400), others = right.narrow(1, 300, 400);
    multiply(Matrix<const T>{rest.data_ptr<T>(), rest.stride(1)},
             Matrix<const T>{others.data_ptr<T>(), others.stride(1)}, {21, 400, 77},
             Matrix<T>{parts.data_ptr<T>(), parts.stride(1)}, Start::kProducts);
  };
  GetParam() == torch::kFloat64 ? add(double()) : add(float());
  EXPECT_TRUE(at::equal(parts, whole));
}

INSTANTIATE_TEST_SUITE_P(Types, Products, ::testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& info) { return std::string(torch::toString(info.param)); });

}  // namespace
}  // namespace fedarena::kernels
