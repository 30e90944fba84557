// Error rates: each comparison of the system's noise raises a false alarm in one run of 1e6.
#include "harness/oracle/noise_source.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/harness/base/statistical_bounds.hpp"

namespace fedarena {
namespace {

Streams streams() { return {3, 4, 5}; }

std::vector<double> draw(NoiseSource& source, std::size_t count) {
  std::vector<double> values(count);
  source.fill_normal(values);
  return values;
}

TEST(NoiseSource, OfAStreamIsThatStream) {
  for (const std::uint64_t index : {0, 1, 7}) {
    Stream stream = streams()(Purpose::kNoise, index);
    const auto source = make_noise_source(kStreamNoise, streams(), index);
    for (const std::size_t count : {5, 1, 64}) {
      for (const double value : draw(*source, count)) EXPECT_EQ(value, stream.normal());
    }
  }
}

TEST(NoiseSource, OfTheSystemIsNormal) {
  constexpr std::size_t kDraws = 200'001;  // odd, and many times what is read at once
  std::vector<double> values = draw(*make_noise_source(kSystemNoise, streams()), kDraws);
  EXPECT_LT(std::abs(mean_z(values, 0, 1)), kNormalBound);
  EXPECT_LT(std::abs(variance_z(values, 0, 1, 3)), kNormalBound);
  std::vector<double> neighbours;
  for (std::size_t i = 1; i < kDraws; ++i) neighbours.push_back(values[i] * values[i - 1]);
  EXPECT_LT(std::abs(mean_z(neighbours, 0, 1)), kNormalBound);
  std::sort(values.begin(), values.end());
  double distance = 0;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const double probability = 0.5 * std::erfc(-values[i] / std::sqrt(2));
    distance = std::max({distance, probability - static_cast<double>(i) / kDraws,
                         static_cast<double>(i + 1) / kDraws - probability});
  }
  EXPECT_LT(std::sqrt(static_cast<double>(kDraws)) * distance, kKolmogorovBound);
}

TEST(NoiseSource, OfTheSystemNeverRepeats) {
  const auto first = make_noise_source(kSystemNoise, streams()),
             second = make_noise_source(kSystemNoise, streams());
  std::vector<double> values;
  for (NoiseSource* source : {first.get(), second.get()}) {
    for (int i = 0; i < 2; ++i) {
      for (const double value : draw(*source, 1'500)) values.push_back(value);
    }
  }
  std::sort(values.begin(), values.end());
  // Two of 6,000 agree by chance: 1e-8.
  EXPECT_EQ(std::adjacent_find(values.begin(), values.end()), values.end());
}

TEST(NoiseSource, HasNoOtherNames) { EXPECT_THROW(make_noise_source("seeded", streams()), Bug); }

}  // namespace
}  // namespace fedarena
