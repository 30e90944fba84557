// On a GPU: every kernel has the bits of its walk on the host, which the tests of any machine compare with
// definitions. Not among ctest's tests; scripts/gpu-check runs it, alone and under compute-sanitizer.
#include <cstdio>
#include <cstring>

#include <gtest/gtest.h>

#include "tests/harness/gradients/cuda/gpu_arrays.hpp"
#include "tests/harness/gradients/cuda/host_arrays.hpp"
#include "tests/harness/gradients/cuda/kernel_cases.hpp"

namespace fedarena::cuda {
namespace {

// What is not a number has whatever payload.
template <typename T>
std::int64_t bits_that_differ(const Numbers<T>& left, const Numbers<T>& right) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const bool both_nan = std::isnan(left[i]) && std::isnan(right[i]);
    count += !both_nan && std::memcmp(&left[i], &right[i], sizeof(T)) != 0;
  }
  return count;
}

// `run` gives numbers, from arrays of the host or of the GPU.
template <typename Run>
void expect_bits_of_the_walk(const Run& run, const std::string& what) {
  HostArrays host;
  GpuArrays gpu, in_many_launches(3);
  const auto expected = run(host);
  for (const auto& actual : {run(gpu), run(in_many_launches)}) {
    ASSERT_EQ(actual.size(), expected.size()) << what;
    EXPECT_EQ(bits_that_differ(actual, expected), 0) << what << ", of " << actual.size() << " numbers";
  }
}

template <typename T>
class OnTheGpu : public ::testing::Test {};
using FloatingTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OnTheGpu, FloatingTypes);

TYPED_TEST(OnTheGpu, RowsHaveTheBitsOfTheWalk) {
  using T = TypeParam;
  for (const std::int64_t size : {1, 31, 256, 257, 70'000}) {
    const Numbers<T> rows = random_numbers<T>(1, 7 * size), target = random_numbers<T>(2, size);
    const std::string what = fmt::format("rows of {}", size);
    expect_bits_of_the_walk([&](auto& arrays) { return squared_norms(arrays, rows, 7); }, what);
    expect_bits_of_the_walk(
        [&](auto& arrays) {
          return weighted_sum(arrays, rows, {T(1), T(0), T(0.25), T(1e-20), T(1), T(3), T(-1)}, target);
        },
        what);
  }
}

TYPED_TEST(OnTheGpu, NormalsHaveTheBitsOfTheWalk) {
  for (const int drawn : {0, 1, 3}) {
    for (const std::int64_t count : {0, 2, 514, 300'000}) {
      expect_bits_of_the_walk(
          [&](auto& arrays) {
            Stream stream({.seed = 3, .index = 1});
            for (int i = 0; i < drawn; ++i) (void)stream();
            return add_normals(arrays, stream, 0.7, random_numbers<TypeParam>(4, count));
          },
          fmt::format("{} normals", count));
    }
  }
}

TYPED_TEST(OnTheGpu, PoolingHasTheBitsOfTheWalk) {
  using T = TypeParam;
  for (const Windows& windows : std::vector<Windows>{{32, 32, 2}, {5, 7, 2}, {9, 10, 3}, {2, 3, 4}}) {
    for (const Pooling what : {Pooling::kAverage, Pooling::kAverageAdjoint, Pooling::kMax,
                               Pooling::kMaxTangent, Pooling::kMaxAdjoint}) {
      const Numbers<T> inputs = random_numbers<T>(5, 9 * windows.plane()),
                       from = random_numbers<T>(6, 9 * windows.plane());
      expect_bits_of_the_walk([&](auto& arrays) { return pool(arrays, what, windows, 9, inputs, from); },
                              fmt::format("{} of {}x{} by {}", static_cast<int>(what), windows.height,
                                          windows.width, windows.size));
    }
  }
}

TYPED_TEST(OnTheGpu, NormalisationHasTheBitsOfTheWalk) {
  using T = TypeParam;
  for (const auto& [sizes, examples] : norm_shapes()) {
    const NormCase<T> at(sizes, examples, 11), by(sizes, examples, 12);
    expect_bits_of_the_walk([&](auto& arrays) { return all_of(arrays, at, by); }, describe(at.sizes));
  }
}

TYPED_TEST(OnTheGpu, PatchesHaveTheBitsOfTheWalk) {
  using T = TypeParam;
  const Numbers<T> weight = random_numbers<T>(73, 130 * 27), bias = random_numbers<T>(74, 130);
  expect_bits_of_the_walk([&](auto& arrays) { return weight_matrix(arrays, 27, 28, weight, bias); },
                          "matrix");
  std::vector<std::pair<PatchSizes, std::int64_t>> shapes = conv_shapes();
  shapes.push_back({{128, 3, 1, 8, 8}, 2});  // those of the ConvNet
  shapes.push_back({{3, 3, 1, 32, 32}, 2});
  shapes.push_back({{64, 3, 1, 32, 32, 2}, 2});  // of the ResNet
  for (const auto& [shape, examples] : shapes) {
    const PatchSizes& sizes = shape;
    const Numbers<T> inputs = random_numbers<T>(71, examples * sizes.inputs()),
                     taps = random_numbers<T>(72, examples * sizes.taps() * sizes.positions());
    expect_bits_of_the_walk([&](auto& arrays) { return patches(arrays, sizes, inputs); }, describe(sizes));
    expect_bits_of_the_walk([&](auto& arrays) { return add_patches(arrays, sizes, taps); }, describe(sizes));
  }
}

}  // namespace
}  // namespace fedarena::cuda

int main(int argc, char** argv) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::fputs("There is no GPU here: these tests compare what a GPU computes with the host's walk.\n",
               stderr);
    return 2;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
