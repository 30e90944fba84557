// The GPU's kernels, walked by the host: against plain definitions and derivatives, at every edge, and with
// the same bits in whatever order threads and blocks come.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "tests/harness/gradients/cuda/host_arrays.hpp"
#include "tests/harness/gradients/cuda/kernel_cases.hpp"

namespace fedarena::cuda {
namespace {

// A result is what `run` makes of arrays.
template <typename Run>
void expect_same_bits_in_any_order(const Run& run, const std::string& what) {
  HostArrays forward, backward({.order = Order::kBackward, .most_blocks = 3});  // in many launches
  const auto a = run(forward), b = run(backward);
  ASSERT_EQ(a.size(), b.size()) << what;
  EXPECT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a.front())) == 0) << what;
  EXPECT_TRUE(std::ranges::none_of(a, [](auto number) { return std::isnan(number); })) << what;
}

template <typename T>
double dot(const Numbers<T>& left, const Numbers<T>& right) {
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i)
    sum += static_cast<double>(left[i]) * static_cast<double>(right[i]);
  return sum;
}

template <typename T>
Numbers<T> moved(const Numbers<T>& at, double step, const Numbers<T>& by) {
  Numbers<T> result(at);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += static_cast<T>(step) * by[i];
  return result;
}

template <typename T>
NormCase<T> moved(const NormCase<T>& at, double step, const NormCase<T>& by) {
  NormCase<T> result(at);
  result.inputs = moved(at.inputs, step, by.inputs);
  result.weight = moved(at.weight, step, by.weight);
  result.bias = moved(at.bias, step, by.bias);
  result.deltas = moved(at.deltas, step, by.deltas);
  return result;
}

template <typename T, typename U>
void expect_near(const Numbers<T>& actual, const Numbers<U>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double error = 0, scale = 1;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    error = std::max(error, std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i])));
    scale = std::max(scale, std::abs(static_cast<double>(expected[i])));
    ASSERT_FALSE(std::isnan(actual[i])) << what << ", place " << i;
  }
  EXPECT_LE(error, tolerance * scale) << what;
}

TEST(GpuKernels, SquaredNormsAreSumsOfSquares) {
  for (const auto& [count, size] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {3, 1}, {2, 255}, {1, 256}, {2, 5003}, {4, 0}, {0, 7}}) {
    const Numbers<float> rows = random_numbers<float>(1, count * size);
    HostArrays arrays;
    const Numbers<double> squared = squared_norms(arrays, rows, count);
    for (std::int64_t row = 0; row < count; ++row) {
      const Numbers<float> one(rows.begin() + row * size, rows.begin() + (row + 1) * size);
      EXPECT_NEAR(squared[static_cast<std::size_t>(row)], dot(one, one), 1e-12 * dot(one, one))
          << count << " of " << size;
    }
  }
  // Numbers whose squares single precision does not hold.
  HostArrays arrays;
  EXPECT_DOUBLE_EQ(squared_norms<float>(arrays, {1e30F, 2e-30F}, 2)[0], 1e30F * static_cast<double>(1e30F));
  expect_same_bits_in_any_order(
      [](HostArrays& at) { return squared_norms(at, random_numbers<float>(2, 5 * 777), 5); }, "norms");
}

TEST(GpuKernels, WeightedSumsAddRowsInTheirOrderAndReadNoneWithoutWeight) {
  constexpr std::int64_t kRows = 5, kSize = 300;
  Numbers<float> rows = random_numbers<float>(3, kRows * kSize);
  rows[2 * kSize + 7] = std::numeric_limits<float>::quiet_NaN();
  const Numbers<float> factors{0.5F, 1, 0, 1e-3F, 1}, target = random_numbers<float>(4, kSize);
  HostArrays arrays;
  Numbers<float> expected = target;
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < kSize && factors[row] != 0; ++i)
      expected[i] += factors[row] * rows[row * kSize + i];
  }
  EXPECT_EQ(weighted_sum(arrays, rows, factors, target), expected);
  EXPECT_EQ(weighted_sum<float>(arrays, {}, {}, target), target);
  expect_same_bits_in_any_order([&](HostArrays& at) { return weighted_sum(at, rows, factors, target); },
                                "sum");
}

TEST(GpuKernels, PoolingIsAMapAndItsTranspose) {
  for (const Windows& windows :
       std::vector<Windows>{{4, 6, 2}, {5, 7, 2}, {9, 10, 3}, {3, 3, 1}, {2, 3, 4}}) {
    constexpr std::int64_t kPlanes = 3;
    const std::string what = fmt::format("{}x{} by {}", windows.height, windows.width, windows.size);
    const Numbers<double> inputs = random_numbers<double>(5, kPlanes * windows.plane()),
                          along = random_numbers<double>(6, kPlanes * windows.plane()),
                          deltas = random_numbers<double>(7, kPlanes * windows.pooled_plane());
    HostArrays arrays;
    const auto run = [&](Pooling kind, const Numbers<double>& from) {
      return pool(arrays, kind, windows, kPlanes, inputs, from);
    };
    for (std::int64_t plane = 0; plane < kPlanes; ++plane) {
      for (int window = 0; window < windows.pooled_plane(); ++window) {
        double sum = 0, largest = -1e300;
        for (int k = 0; k < windows.size * windows.size; ++k) {
          const int position = windows.first(window) + k / windows.size * windows.width + k % windows.size;
          sum += inputs[static_cast<std::size_t>(plane * windows.plane() + position)];
          largest = std::max(largest, inputs[static_cast<std::size_t>(plane * windows.plane() + position)]);
        }
        const auto place = static_cast<std::size_t>(plane * windows.pooled_plane() + window);
        EXPECT_NEAR(run(Pooling::kAverage, inputs)[place],
                    sum / static_cast<double>(windows.size * windows.size), 1e-14)
            << what;
        EXPECT_EQ(run(Pooling::kMax, {})[place], largest) << what;
      }
    }
    EXPECT_NEAR(dot(run(Pooling::kAverage, along), deltas), dot(along, run(Pooling::kAverageAdjoint, deltas)),
                1e-12)
        << what;
    EXPECT_NEAR(dot(run(Pooling::kMaxTangent, along), deltas), dot(along, run(Pooling::kMaxAdjoint, deltas)),
                1e-12)
        << what;
  }
}

TEST(GpuKernels, MaxPoolingGivesTheFirstOfEqualsAndKeepsWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  HostArrays arrays;
  const Windows windows{2, 4, 2};
  EXPECT_EQ(pool<float>(arrays, Pooling::kMaxAdjoint, windows, 1, {1, 1, 0, 2, 1, 1, 2, 2}, {5, 7}),
            (Numbers<float>{5, 0, 0, 7, 0, 0, 0, 0}));
  EXPECT_TRUE(std::isnan(pool<float>(arrays, Pooling::kMax, windows, 1, {1, nan, 0, 2, 3, 1, 2, 2}, {})[0]));
}

TEST(GpuKernels, NormalsAreThoseOfTheStreamWhereverItStands) {
  for (const std::size_t drawn : {0U, 1U, 2U, 3U, 4U, 7U}) {
    for (const std::size_t count : {0U, 2U, 6U, 514U, 2000U}) {
      Stream here({.seed = 9, .round = 2, .index = 5}), there = here;
      for (std::size_t i = 0; i < drawn; ++i) EXPECT_EQ(here(), there());
      const Numbers<float> target = random_numbers<float>(8, static_cast<std::int64_t>(count));
      Numbers<double> normals(count);
      here.fill_normal(normals);
      Numbers<float> expected = target;
      for (std::size_t i = 0; i < count; ++i) expected[i] += static_cast<float>(normals[i] * 0.3);
      HostArrays arrays;
      EXPECT_EQ(add_normals(arrays, there, 0.3, target), expected)
          << drawn << " words drawn before, " << count;
      EXPECT_EQ(here(), there()) << "the streams go on alike: " << drawn << ", " << count;
    }
  }
}

TEST(GpuKernels, NormalisationIsItsDefinition) {
  for (const auto& [sizes, examples] : norm_shapes()) {
    if (sizes.windows.size != 1) continue;
    const NormCase<double> at(sizes, examples, 11);
    HostArrays arrays;
    const NormResults<double> results = normalise(arrays, at);
    const std::int64_t group = sizes.group();
    for (std::int64_t block = 0; block < at.groups(); ++block) {
      double mean = 0, variance = 0;
      const double* x = at.inputs.data() + block * group;
      for (std::int64_t i = 0; i < group; ++i) mean += x[i] / static_cast<double>(group);
      for (std::int64_t i = 0; i < group; ++i)
        variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(group);
      for (std::int64_t i = 0; i < group; ++i) {
        const auto channel = static_cast<std::size_t>(sizes.first_channel(block) + i / sizes.plane());
        const double value =
            (x[i] - mean) / std::sqrt(variance + sizes.epsilon) * at.weight[channel] + at.bias[channel];
        EXPECT_NEAR(results.outputs[static_cast<std::size_t>(block * group + i)],
                    sizes.relu ? std::max(value, 0.0) : value, 1e-12)
            << describe(sizes);
      }
    }
  }
}

// Gradients, how the outputs move and how the gradients move, by differences of what has been found right
// before.
TEST(GpuKernels, NormalisationHasItsDerivatives) {
  constexpr double kStep = 1e-6, kTolerance = 2e-7;
  for (const auto& [sizes, examples] : norm_shapes()) {
    const NormCase<double> at(sizes, examples, 21), by(sizes, examples, 31);
    HostArrays arrays;
    const NormResults<double> here = normalise(arrays, at), after = normalise(arrays, moved(at, kStep, by)),
                              before = normalise(arrays, moved(at, -kStep, by));
    const auto slope = [&](const Numbers<double>& left, const Numbers<double>& right) {
      Numbers<double> result(left);
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = (left[i] - right[i]) / (2 * kStep);
      return result;
    };
    const Numbers<double> outputs = slope(after.outputs, before.outputs);
    double expected = dot(here.inputs, by.inputs);
    for (std::size_t row = 0; row < here.weight_rows.size(); ++row) {
      const std::size_t channel = row % at.weight.size();
      expected += here.weight_rows[row] * by.weight[channel] + here.bias_rows[row] * by.bias[channel];
    }
    EXPECT_NEAR(dot(at.deltas, outputs), expected, kTolerance * (1 + std::abs(expected))) << describe(sizes);
    const TangentResults<double> tangents = move(arrays, at, by);
    expect_near(tangents.outputs, outputs, kTolerance, describe(sizes) + ": outputs");
    expect_near(tangents.inputs, slope(after.inputs, before.inputs), kTolerance,
                describe(sizes) + ": gradients");
  }
}

TEST(GpuKernels, NormalisationInSinglePrecisionIsThatInDouble) {
  for (const auto& [sizes, examples] : norm_shapes()) {
    const NormCase<float> at(sizes, examples, 41), by(sizes, examples, 51);
    NormCase<double> wide(sizes, examples, 41), wide_by(sizes, examples, 51);
    const auto widen = [](const NormCase<float>& from, NormCase<double>& to) {
      to.inputs.assign(from.inputs.begin(), from.inputs.end());
      to.weight.assign(from.weight.begin(), from.weight.end());
      to.bias.assign(from.bias.begin(), from.bias.end());
      to.deltas.assign(from.deltas.begin(), from.deltas.end());
    };
    widen(at, wide);
    widen(by, wide_by);
    HostArrays arrays;
    expect_near(all_of(arrays, at, by), all_of(arrays, wide, wide_by), 1e-5, describe(sizes));
    expect_same_bits_in_any_order([&](HostArrays& any) { return all_of(any, at, by); }, describe(sizes));
  }
}

// Whatever the numbers are, each place is written, and no other: the sanitizer sees to the rest.
TEST(GpuKernels, ExtremeNumbersStayWithTheirExample) {
  for (const float extreme :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 3e38F, 1e-45F}) {
    const NormSizes sizes{2, 2, {5, 5, 2}, true, 1e-5};
    NormCase<float> plain(sizes, 3, 61), at = plain;
    at.inputs[3] = extreme;  // of the first example's first group
    HostArrays arrays;
    const NormResults<float> results = normalise(arrays, at), expected = normalise(arrays, plain);
    const auto group = static_cast<std::size_t>(sizes.group());
    EXPECT_TRUE(std::equal(results.inputs.begin() + static_cast<std::ptrdiff_t>(group), results.inputs.end(),
                           expected.inputs.begin() + static_cast<std::ptrdiff_t>(group)))
        << extreme;
    EXPECT_TRUE(std::equal(results.mean.begin() + 1, results.mean.end(), expected.mean.begin() + 1))
        << extreme;
  }
}

// By their definition.
Numbers<double> patches_by_definition(const PatchSizes& sizes, const Numbers<double>& inputs) {
  const int taps = sizes.kernel * sizes.kernel, plane = sizes.height * sizes.width;
  const std::int64_t examples = static_cast<std::int64_t>(inputs.size()) / sizes.inputs();
  Numbers<double> result;
  for (std::int64_t row = 0; row < examples * sizes.rows(); ++row) {
    const auto tap = static_cast<int>(row % sizes.rows());
    for (int position = 0; position < sizes.positions(); ++position) {
      const int y = position / sizes.out_width() * sizes.stride + tap % taps / sizes.kernel - sizes.padding,
                x = position % sizes.out_width() * sizes.stride + tap % sizes.kernel - sizes.padding;
      const bool inside = y >= 0 && y < sizes.height && x >= 0 && x < sizes.width;
      const std::int64_t channel = row / sizes.rows() * sizes.in + tap / taps;
      result.push_back(tap == sizes.taps() ? 1
                       : tap > sizes.taps() || !inside
                           ? 0
                           : inputs[static_cast<std::size_t>(channel * plane + y * sizes.width + x)]);
    }
  }
  return result;
}

TEST(GpuKernels, PatchesAreWhatTapsMeetAndOnesForTheBias) {
  for (const auto& [shape, examples] : conv_shapes()) {
    const PatchSizes& sizes = shape;
    const Numbers<double> inputs = random_numbers<double>(71, examples * sizes.inputs());
    HostArrays arrays;
    EXPECT_EQ(patches(arrays, sizes, inputs), patches_by_definition(sizes, inputs)) << describe(sizes);
    EXPECT_EQ(sizes.rows() % 4, 0);
    expect_same_bits_in_any_order([&](HostArrays& any) { return patches(any, sizes, inputs); },
                                  describe(sizes));
  }
}

TEST(GpuKernels, AWeightsMatrixHasItsBiasWherePatchesHaveOnes) {
  HostArrays arrays;
  EXPECT_EQ(weight_matrix<float>(arrays, 3, 4, {1, 2, 3, 4, 5, 6}, {7, 8}),
            (Numbers<float>{1, 2, 3, 7, 4, 5, 6, 8}));
  EXPECT_EQ(weight_matrix<float>(arrays, 1, 4, {1, 2}, {7, 8}), (Numbers<float>{1, 7, 0, 0, 2, 8, 0, 0}));
  EXPECT_TRUE(weight_matrix<float>(arrays, 1, 4, {}, {}).empty());
}

TEST(GpuKernels, WhatPatchesTakeIsAddedUpWhereItWasTaken) {
  for (const auto& [shape, examples] : conv_shapes()) {
    const PatchSizes& sizes = shape;
    const Numbers<double> inputs = random_numbers<double>(71, examples * sizes.inputs()),
                          taps = random_numbers<double>(72, examples * sizes.taps() * sizes.positions());
    HostArrays arrays;
    // Patches of an example, without the rows that follow the taps.
    const Numbers<double> all = patches(arrays, sizes, inputs);
    Numbers<double> forward;
    for (std::int64_t example = 0; example < examples; ++example) {
      const auto start = all.begin() + example * sizes.rows() * sizes.positions();
      forward.insert(forward.end(), start, start + std::int64_t{sizes.taps()} * sizes.positions());
    }
    const Numbers<double> back = add_patches(arrays, sizes, taps);
    ASSERT_EQ(back.size(), inputs.size());
    EXPECT_NEAR(dot(forward, taps), dot(inputs, back), 1e-11) << describe(sizes);
    expect_same_bits_in_any_order([&](HostArrays& any) { return add_patches(any, sizes, taps); },
                                  describe(sizes));
  }
}

}  // namespace
}  // namespace fedarena::cuda
