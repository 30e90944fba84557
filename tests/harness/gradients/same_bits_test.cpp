// Kernels that pass over memory once give the same bits as the LibTorch operations and separate kernels that
// they replace: results of earlier releases stay reproducible.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedarena/random.hpp"

#include "harness/gradients/kernels/kernels.hpp"
#include "harness/gradients/kernels/vectorised.hpp"
#include "tests/infinity.hpp"

namespace fedarena::kernels {
namespace {

// Positions whose bits differ; any NaN equals any other, because processors choose payloads by operand order.
template <typename T>
std::int64_t bits_that_differ(const torch::Tensor& left, const torch::Tensor& right) {
  const torch::Tensor a = left.contiguous(), b = right.contiguous();
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const T x = a.data_ptr<T>()[i], y = b.data_ptr<T>()[i];
    const bool both_nan = x != x && y != y;
    count += !both_nan && std::memcmp(&x, &y, sizeof(T)) != 0;
  }
  return count;
}

void expect_same_bits(const torch::Tensor& actual, const torch::Tensor& expected, const std::string& what) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  ASSERT_EQ(actual.scalar_type(), expected.scalar_type()) << what;
  EXPECT_EQ(actual.scalar_type() == torch::kFloat32 ? bits_that_differ<float>(actual, expected)
                                                    : bits_that_differ<double>(actual, expected),
            0)
      << what;
}

struct SameBitsShape {
  std::int64_t examples, channels, groups, height, width;
};
const std::vector<SameBitsShape> kSameBitsShapes{{2, 4, 4, 32, 32}, {3, 6, 2, 7, 9},   {1, 5, 1, 8, 5},
                                                 {2, 3, 3, 1, 1},   {1, 2, 1, 33, 47}, {4, 4, 2, 16, 6},
                                                 {2, 2, 2, 5, 2},   {1, 2, 2, 40, 41}};

torch::Tensor random_numbers(Stream& stream, const std::vector<std::int64_t>& shape, torch::ScalarType type) {
  return normal(stream, shape).to(type);
}

// One special number an example and channel at most, so that most groups stay finite.
void add_specials(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.view({-1});
  const std::vector<double> specials{kNan, kInfinity, -kInfinity, 0.0, -0.0, 1e-42};
  for (std::size_t i = 0; i < specials.size(); ++i) {
    flat[static_cast<std::int64_t>(i * 7919) % flat.numel()] = specials[i];
  }
}

// Every tail on that shape, against the same steps one after the other.
void compare_tails(const SameBitsShape& shape, torch::ScalarType type, bool special) {
  Stream stream({.seed = static_cast<std::uint64_t>(shape.height * 100 + shape.width)});
  const GroupNorm layer{shape.groups, shape.channels};
  const std::vector<std::int64_t> sizes{shape.examples, shape.channels, shape.height, shape.width};
  const torch::Tensor inputs = random_numbers(stream, sizes, type);
  const torch::Tensor weight = random_numbers(stream, {shape.channels}, type);
  const torch::Tensor bias = random_numbers(stream, {shape.channels}, type);
  // Every number of a channel whose scale and shift are zero is a zero of either sign.
  weight[0] = 0;
  bias[0] = -0.0;
  if (special) add_specials(inputs);
  const Norm alone{layer, {}, weight, bias};
  const Normalised plain = group_norm(inputs, alone);
  const torch::Tensor rectified = at::relu(plain.outputs);
  for (const bool relu : {false, true}) {
    for (const std::int64_t pool : {0, 1, 2, 3}) {
      if (pool > std::min(shape.height, shape.width)) continue;
      const std::string what = fmt::format("{}x{} type {} special {} relu {} pool {}", shape.height,
                                           shape.width, torch::toString(type), special, relu, pool);
      torch::Tensor outputs = relu ? rectified : plain.outputs;
      if (pool != 0) outputs = pool_planes(Pooling::kAverage, pool, sizes, {}, outputs);
      const Norm norm{layer, {.relu = relu, .pool = pool}, weight, bias};
      const Normalised fused = group_norm(inputs, norm);
      expect_same_bits(fused.outputs, outputs, what);
      expect_same_bits(fused.mean, plain.mean, what);
      expect_same_bits(fused.inverse_deviation, plain.inverse_deviation, what);

      const torch::Tensor deltas = random_numbers(stream, outputs.sizes().vec(), type);
      if (special) add_specials(deltas);
      torch::Tensor before = deltas;
      if (pool != 0) before = pool_planes(Pooling::kAverageAdjoint, pool, sizes, {}, before);
      if (relu) before = at::threshold_backward(before, rectified, 0);
      const NormGradient expected = group_norm_backward(before, inputs, plain, alone);
      const NormGradient actual = group_norm_backward(deltas, inputs, fused, norm);
      expect_same_bits(actual.inputs, expected.inputs, what);
      expect_same_bits(actual.weight, expected.weight, what);
      expect_same_bits(actual.bias, expected.bias, what);
    }
  }
}

TEST(SameBits, NormalisationWithItsTailIsTheStepsOneAfterTheOther) {
  for (const SameBitsShape& shape : kSameBitsShapes) {
    for (const torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
      for (const bool special : {false, true}) compare_tails(shape, type, special);
    }
  }
}

TEST(SameBits, ReluKeepsMinusZeroAndNanLikeLibTorch) {
  // A single channel of constants: what is normalised is the bias, whatever its sign.
  for (const torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
    for (const double bias : {-0.0, 0.0, kNan, -1.0, 1e-42}) {
      const torch::Tensor inputs = torch::full({1, 1, 5, 7}, 3.0, type);
      const torch::Tensor weight = torch::full({1}, -0.0, type);
      const torch::Tensor shift = torch::full({1}, bias, type);
      const Normalised plain = group_norm(inputs, {{1, 1}, {}, weight, shift});
      const Normalised fused = group_norm(inputs, {{1, 1}, {.relu = true}, weight, shift});
      expect_same_bits(fused.outputs, at::relu(plain.outputs), fmt::format("bias {}", bias));
    }
  }
}

// The loop that a compiler sees twice, for the baseline and for AVX2.
template <typename T>
void compare_vector_units(torch::ScalarType type) {
  Stream stream({.seed = 3});
  for (const std::int64_t count : {1, 15, 16, 17, 1023, 1024, 1041, 5000}) {
    const torch::Tensor numbers = random_numbers(stream, {count}, type);
    const T* values = numbers.data_ptr<T>();
    const auto sum = [=] {
      return sum_of<T>(count, [values](std::int64_t i) { return values[i] * values[i] + T(0.1); });
    };
    double wide = 0;
    run_vectorised([&] { wide = sum(); });
    EXPECT_EQ(wide, sum()) << count;
  }
}

TEST(SameBits, SumsDoNotDependOnTheVectorUnit) {
  compare_vector_units<float>(torch::kFloat32);
  compare_vector_units<double>(torch::kFloat64);
}

// Sums by the plain definition, which fixes the order of additions.
template <typename T>
torch::Tensor pool_by_definition(const torch::Tensor& in, std::int64_t size) {
  torch::Tensor out = torch::empty({in.size(0) / size, in.size(1) / size}, in.options());
  const auto at = [&](std::int64_t y, std::int64_t x) { return in.data_ptr<T>()[y * in.size(1) + x]; };
  for (std::int64_t y = 0; y < out.size(0); ++y) {
    for (std::int64_t x = 0; x < out.size(1); ++x) {
      T sum = 0;
      for (std::int64_t k = 0; k < size * size; ++k) sum += at(y * size + k / size, x * size + k % size);
      if (size == 2) {
        sum = (at(2 * y, 2 * x) + at(2 * y, 2 * x + 1)) + (at(2 * y + 1, 2 * x) + at(2 * y + 1, 2 * x + 1));
      }
      out.data_ptr<T>()[y * out.size(1) + x] = sum * (T(1) / static_cast<T>(size * size));
    }
  }
  return out;
}

// body(type, size, height, width) for planes that windows fill, and such that they do not.
template <typename Body>
void for_windows(const Body& body) {
  for (const torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
    for (const std::int64_t size : {1, 2, 3, 4}) {
      body(type, size, 4, 4);
      body(type, size, 5, 7);
      body(type, size, 24, 32);
      body(type, size, 13, 41);
    }
  }
}

TEST(SameBits, PoolingAddsInTheStatedOrder) {
  Stream stream({.seed = 5});
  for_windows([&](torch::ScalarType type, std::int64_t size, std::int64_t height, std::int64_t width) {
    const torch::Tensor inputs = random_numbers(stream, {1, 1, height, width}, type);
    const torch::Tensor expected = type == torch::kFloat32 ? pool_by_definition<float>(inputs[0][0], size)
                                                           : pool_by_definition<double>(inputs[0][0], size);
    expect_same_bits(pool_planes(Pooling::kAverage, size, inputs.sizes(), {}, inputs)[0][0], expected,
                     fmt::format("{}", size));
  });
}

// Few different numbers, so that windows have equals.
TEST(SameBits, MaxPoolingIsThatOfLibTorchAndGivesTheFirstOfEquals) {
  Stream stream({.seed = 6});
  for_windows([&](torch::ScalarType type, std::int64_t size, std::int64_t height, std::int64_t width) {
    const std::string what = fmt::format("{} of {}x{}", size, height, width);
    const torch::Tensor inputs = random_numbers(stream, {2, 3, height, width}, type).mul(2).round();
    const auto [outputs, largest] = at::max_pool2d_with_indices(inputs, size);
    expect_same_bits(pool_planes(Pooling::kMax, size, inputs.sizes(), inputs, {}), outputs, what);
    const torch::Tensor deltas = random_numbers(stream, outputs.sizes().vec(), type);
    expect_same_bits(pool_planes(Pooling::kMaxAdjoint, size, inputs.sizes(), inputs, deltas),
                     at::max_pool2d_with_indices_backward(deltas, inputs, size, size, 0, 1,
                                                          /*ceil_mode=*/false, largest),
                     what);
    const torch::Tensor tangents = random_numbers(stream, inputs.sizes().vec(), type);
    expect_same_bits(pool_planes(Pooling::kMaxTangent, size, inputs.sizes(), inputs, tangents),
                     tangents.flatten(2).gather(2, largest.flatten(2)).view(outputs.sizes()), what);
    const torch::Tensor special = random_numbers(stream, inputs.sizes().vec(), type);
    add_specials(special);
    expect_same_bits(pool_planes(Pooling::kMax, size, inputs.sizes(), special, {}),
                     at::max_pool2d(special, size), what);
  });
}

}  // namespace
}  // namespace fedarena::kernels
