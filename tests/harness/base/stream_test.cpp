// Distributions of what a stream draws. Error rates: see statistical_bounds.hpp, 10^-6 a comparison; the
// whole file makes fewer than 100, so another seed would fail it once in 10,000.
#include "fedarena/base/stream.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/box_muller.hpp"
#include "fedarena/base/error.hpp"

#include "tests/harness/base/statistical_bounds.hpp"

namespace fedarena {
namespace {

Stream stream_number(std::uint64_t seed) { return Stream({.seed = seed}); }

template <typename Draw>
std::vector<double> sample(std::size_t count, Draw draw) {
  std::vector<double> values(count);
  for (double& value : values) value = draw();
  return values;
}

// The same as of a uniform sample, for one of that distribution function.
template <typename Distribution>
double kolmogorov(std::vector<double> values, Distribution distribution) {
  for (double& value : values) value = distribution(value);
  return kolmogorov_of_uniform(std::move(values));
}

TEST(Uniform, FillsEqualCells) {
  Stream stream = stream_number(1);
  std::vector<std::int64_t> cells(256);
  for (int i = 0; i < 1'000'000; ++i) {
    const double value = stream.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    ++cells[static_cast<std::size_t>(value * 256)];
  }
  EXPECT_TRUE(equally_likely(cells));
}

TEST(Uniform, FollowsTheUniformDistribution) {
  Stream stream = stream_number(2);
  EXPECT_LT(kolmogorov_of_uniform(sample(200'000, [&] { return stream.uniform(); })), kKolmogorovBound);
}

TEST(Uniform, SuccessiveValuesAreIndependent) {
  Stream stream = stream_number(3);
  std::vector<std::int64_t> cells(32 * 32);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto row = static_cast<std::size_t>(stream.uniform() * 32);
    ++cells[row * 32 + static_cast<std::size_t>(stream.uniform() * 32)];
  }
  EXPECT_TRUE(equally_likely(cells));
}

TEST(Below, IsUniformOnSmallRanges) {
  for (const std::uint64_t bound : {2U, 6U, 10U, 1000U}) {
    Stream stream = stream_number(bound);
    std::vector<std::int64_t> cells(bound);
    for (int i = 0; i < 500'000; ++i) ++cells.at(stream.below(bound));
    EXPECT_TRUE(equally_likely(cells)) << bound;
  }
}

// Of 2^64 words, 3 * 2^62 numbers get one or two each unless some are rejected: a remainder would prefer the
// first third, a product the multiples of three.
TEST(Below, IsUnbiasedWhereRejectionMatters) {
  constexpr std::uint64_t kThird = std::uint64_t{1} << 62;
  Stream stream = stream_number(4);
  std::vector<std::int64_t> cells(9);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t value = stream.below(3 * kThird);
    ++cells.at(3 * (value / kThird) + value % 3);
  }
  EXPECT_TRUE(equally_likely(cells));
}

TEST(Below, GivesZeroForOne) {
  Stream stream = stream_number(5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(stream.below(1), 0U);
  EXPECT_THROW(stream.below(0), Bug);
}

TEST(Normal, HasTheMomentsOfAStandardNormal) {
  constexpr std::size_t kDraws = 1'000'000;
  Stream stream = stream_number(6);
  const std::vector<double> values = sample(kDraws, [&] { return stream.normal(); });
  double third = 0, fourth = 0;
  for (const double x : values) {
    third += x * x * x;
    fourth += x * x * x * x;
  }
  EXPECT_LT(std::abs(mean_z(values, 0, 1)), kNormalBound);
  EXPECT_LT(std::abs(variance_z(values, 0, 1, 3)), kNormalBound);
  // Var x^3 = 15, Var x^4 = 105 - 9.
  EXPECT_LT(std::abs(third / std::sqrt(15.0 * kDraws)), kNormalBound);
  EXPECT_LT(std::abs((fourth - 3.0 * kDraws) / std::sqrt(96.0 * kDraws)), kNormalBound);
}

TEST(Normal, FollowsTheNormalDistribution) {
  Stream stream = stream_number(7);
  EXPECT_LT(kolmogorov_of_normal(sample(200'000, [&] { return stream.normal(); })), kKolmogorovBound);
}

// Box-Muller makes pairs from one radius: neither they nor their squares may be related.
TEST(Normal, SuccessiveValuesAreIndependent) {
  constexpr int kPairs = 500'000;
  Stream stream = stream_number(8);
  double product = 0, of_squares = 0;
  for (int i = 0; i < kPairs; ++i) {
    const double x = stream.normal(), y = stream.normal();
    product += x * y;
    of_squares += (x * x - 1) * (y * y - 1);
  }
  EXPECT_LT(std::abs(product / std::sqrt(kPairs)), kNormalBound);
  EXPECT_LT(std::abs(of_squares / std::sqrt(4.0 * kPairs)), kNormalBound);
}

// The C library's functions are within one unit of the truth. Words near both ends of both intervals, and
// near the quadrants' borders, are where logarithms and sines lose digits.
TEST(Normal, IsThatOfTheCLibraryToThreeUnitsInTheLastPlace) {
  constexpr std::size_t kWords = 200'000;
  Stream stream = stream_number(10);
  std::vector<std::uint64_t> words;
  for (const std::uint64_t edge : {0ULL, 1ULL << 11, 1ULL << 61, 1ULL << 62, 1ULL << 63, 3ULL << 62, ~0ULL}) {
    for (const std::uint64_t other : {0ULL, 1ULL << 11, 1ULL << 62, 1ULL << 63, 3ULL << 62, ~0ULL})
      words.insert(words.end(), {edge - (1ULL << 11), other, edge, other, other, edge + (1ULL << 11)});
  }
  while (words.size() < kWords) words.push_back(stream());
  std::vector<double> normals(words.size());
  box_muller(words.data(), words.size() / 2, normals.data());
  const auto unit = [](std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; };
  const auto check = [](double found, double expected) {
    const double last_place = std::nextafter(std::abs(expected), 100) - std::abs(expected);
    EXPECT_LE(std::abs(found - expected), 3 * last_place) << expected;
  };
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const double radius = std::sqrt(-2 * std::log1p(-unit(words[i])));
    const double angle = 2 * std::numbers::pi * unit(words[i + 1]);
    check(normals[i], radius * std::cos(angle));
    check(normals[i + 1], radius * std::sin(angle));
  }
}

TEST(Normal, FillsSpansInOrder) {
  for (const std::size_t size : {1U, 5U, 1029U}) {
    std::vector<double> values(size);
    Stream filling = stream_number(9), stream = stream_number(9);
    // What is left of a pair is the first of the next span.
    for (int span = 0; span < 2; ++span) {
      filling.fill_normal(values);
      for (const double value : values) EXPECT_EQ(value, stream.normal());
    }
  }
}

struct GammaCase {
  double shape, digamma, trigamma;
};

// The moments of log X, digamma and trigamma, see the small values, which those of X do not.
TEST(Gamma, HasTheMomentsOfItsShape) {
  for (const auto& [shape, digamma, trigamma] : {GammaCase{0.1, -10.423754940411076, 101.43329915079276},
                                                 GammaCase{1, -0.57721566490153286, 1.6449340668482264},
                                                 GammaCase{5, 1.5061176684318005, 0.22132295573711533}}) {
    Stream stream = stream_number(10);
    std::vector<double> values = sample(400'000, [&, k = shape] { return stream.gamma(k); });
    EXPECT_LT(std::abs(mean_z(values, shape, shape)), kNormalBound) << shape;
    EXPECT_LT(std::abs(variance_z(values, shape, shape, 3 * shape * shape + 6 * shape)), kNormalBound)
        << shape;
    for (double& value : values) value = std::log(value);
    EXPECT_LT(std::abs(mean_z(values, digamma, trigamma)), kNormalBound) << shape;
  }
}

TEST(Gamma, OfShapeOneIsExponential) {
  Stream stream = stream_number(11);
  EXPECT_LT(
      kolmogorov(sample(200'000, [&] { return stream.gamma(1); }), [](double x) { return -std::expm1(-x); }),
      kKolmogorovBound);
}

TEST(Gamma, OfShapeOneHalfIsHalfASquaredNormal) {
  Stream stream = stream_number(12);
  EXPECT_LT(kolmogorov(sample(200'000, [&] { return stream.gamma(0.5); }),
                       [](double x) { return std::erf(std::sqrt(x)); }),
            kKolmogorovBound);
}

TEST(Gamma, RefusesShapesThatAreNoShape) {
  Stream stream = stream_number(13);
  for (const double shape : {0.0, -1.0, std::nan(""), HUGE_VAL}) EXPECT_THROW(stream.gamma(shape), Bug);
}

// For one share: mean 1/K, variance (1/K)(1 - 1/K) / (K alpha + 1); for two: covariance -1 / (K^2 (K alpha +
// 1)).
TEST(Dirichlet, HasTheMomentsOfItsConcentration) {
  constexpr double kSize = 5;
  for (const double alpha : {0.1, 0.5, 2.0}) {
    Stream stream = stream_number(14);
    std::vector<double> first, product;
    for (int i = 0; i < 100'000; ++i) {
      const std::vector<double> shares = stream.dirichlet(alpha, 5);
      ASSERT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
      first.push_back(shares[0]);
      product.push_back((shares[1] - 1 / kSize) * (shares[2] - 1 / kSize));
    }
    const double variance = (kSize - 1) / (kSize * kSize * (kSize * alpha + 1));
    std::vector<double> squares, products;
    double fourth = 0, square_of_products = 0;
    for (const double share : first) fourth += std::pow(share - 1 / kSize, 4) / 100'000;
    for (const double value : product) square_of_products += value * value / 100'000;
    const double covariance = -1 / (kSize * kSize * (kSize * alpha + 1));
    EXPECT_LT(std::abs(mean_z(first, 1 / kSize, variance)), kNormalBound) << alpha;
    EXPECT_LT(std::abs(variance_z(first, 1 / kSize, variance, fourth)), kNormalBound) << alpha;
    EXPECT_LT(std::abs(mean_z(product, covariance, square_of_products - covariance * covariance)),
              kNormalBound)
        << alpha;
  }
}

TEST(Dirichlet, OfTwoTimesOneIsUniform) {
  Stream stream = stream_number(15);
  EXPECT_LT(kolmogorov_of_uniform(sample(200'000, [&] { return stream.dirichlet(1, 2)[0]; })),
            kKolmogorovBound);
}

TEST(Dirichlet, OfTinyConcentrationPicksOneCategory) {
  for (const double alpha : {1e-6, 1e-200, 1e-310, 5e-324}) {
    Stream stream = stream_number(16);
    std::vector<std::int64_t> chosen(4);
    for (int i = 0; i < 20'000; ++i) {
      const std::vector<double> shares = stream.dirichlet(alpha, 4);
      for (const double share : shares) ASSERT_FALSE(std::isnan(share)) << alpha;
      ASSERT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12) << alpha;
      ++chosen[static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin())];
    }
    EXPECT_TRUE(equally_likely(chosen)) << alpha;
  }
}

TEST(Dirichlet, OfLargeConcentrationIsEven) {
  Stream stream = stream_number(17);
  for (const double alpha : {1e12, 1e300}) {
    for (const double share : stream.dirichlet(alpha, 4)) EXPECT_NEAR(share, 0.25, 1e-5) << alpha;
  }
  EXPECT_EQ(stream.dirichlet(0.5, 1), std::vector<double>{1});
}

TEST(Dirichlet, RefusesWhatIsNoDistribution) {
  Stream stream = stream_number(18);
  EXPECT_THROW(stream.dirichlet(0, 3), Bug);
  EXPECT_THROW(stream.dirichlet(1, 0), Bug);
}

TEST(Permutation, GivesEveryOrderEquallyOften) {
  Stream stream = stream_number(19);
  EXPECT_TRUE(draws_equally(240'000, 24, [&] { return stream.permutation(4); }));
}

TEST(Permutation, HoldsEveryNumberOnce) {
  Stream stream = stream_number(20);
  for (const std::int64_t size : {0, 1, 2, 1000}) {
    std::vector<std::int64_t> order = stream.permutation(size);
    std::sort(order.begin(), order.end());
    std::vector<std::int64_t> expected(static_cast<std::size_t>(size));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(order, expected);
  }
  EXPECT_THROW(stream.permutation(-1), Bug);
}

TEST(SampleWithoutReplacement, GivesEverySubsetEquallyOften) {
  Stream stream = stream_number(21);
  EXPECT_TRUE(draws_equally(100'000, 10, [&] { return stream.sample_without_replacement(5, 2); }));
  EXPECT_TRUE(draws_equally(200'000, 20, [&] { return stream.sample_without_replacement(6, 3); }));
}

TEST(SampleWithoutReplacement, AscendsWithoutRepeats) {
  Stream stream = stream_number(22);
  for (std::int64_t count = 0; count <= 50; ++count) {
    const std::vector<std::int64_t> chosen = stream.sample_without_replacement(50, count);
    ASSERT_EQ(std::ssize(chosen), count);
    for (std::size_t i = 1; i < chosen.size(); ++i) ASSERT_LT(chosen[i - 1], chosen[i]);
    for (const std::int64_t value : chosen) ASSERT_TRUE(value >= 0 && value < 50);
  }
}

TEST(SampleWithoutReplacement, RefusesMoreThanThereAre) {
  Stream stream = stream_number(23);
  EXPECT_THROW(stream.sample_without_replacement(3, 4), Bug);
  EXPECT_THROW(stream.sample_without_replacement(3, -1), Bug);
}

}  // namespace
}  // namespace fedarena
