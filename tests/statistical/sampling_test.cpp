// How batches and cohorts are drawn under Poisson sampling. Each comparison raises a false alarm with
// probability 1e-6 over seeds; there are 11 here.
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "harness/simulation/cohort.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"

namespace fedarena {
namespace {

// Which of two examples, each sampled with probability one half, an access had: 0 .. 3, all equally likely.
using Subset = std::size_t;

constexpr std::int64_t kRounds = 30, kClients = 20, kAccesses = 5;

class Samples : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Beacons beacons(2);
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      for (std::int64_t client = 0; client < kClients; ++client) {
        RecordOracle oracle = beacons.record(record_policy(kNoClipping, 0), Streams(17, round, client));
        for (std::int64_t access = 0; access < kAccesses; ++access) {
          Subset subset = 0;
          for (const std::int64_t example : beacons.lit(oracle.gradient(beacons.zero(), {.batch_size = 1}))) {
            subset += example == 0 ? 1 : 2;
          }
          drawn.push_back(subset);
        }
      }
    }
  }

  // Whether all 16 pairs of subsets, from places that lie so far apart, are equally likely.
  static bool independent(std::int64_t rounds, std::int64_t clients, std::int64_t accesses) {
    std::vector<std::int64_t> cells(16);
    const auto at = [](std::int64_t round, std::int64_t client, std::int64_t access) {
      return drawn[static_cast<std::size_t>((round * kClients + client) * kAccesses + access)];
    };
    for (std::int64_t round = rounds; round < kRounds; ++round) {
      for (std::int64_t client = clients; client < kClients; ++client) {
        for (std::int64_t access = accesses; access < kAccesses; ++access) {
          ++cells[4 * at(round, client, access) + at(round - rounds, client - clients, access - accesses)];
        }
      }
    }
    return equally_likely(cells);
  }

  static inline std::vector<Subset> drawn;
};

TEST_F(Samples, AreIndependentAcrossAccesses) {
  EXPECT_TRUE(independent(0, 0, 1));
  EXPECT_TRUE(independent(0, 0, 2));
}

TEST_F(Samples, AreIndependentAcrossRounds) {
  EXPECT_TRUE(independent(1, 0, 0));
  EXPECT_TRUE(independent(5, 0, 0));
}

TEST_F(Samples, AreIndependentAcrossClients) {
  EXPECT_TRUE(independent(0, 1, 0));
  EXPECT_TRUE(independent(0, 7, 0));
}

// All 16 subsets of 4 clients, each with its probability q^k (1 - q)^(4 - k), over rounds or over seeds.
void expect_independent_inclusions(const std::function<std::vector<std::int64_t>(std::int64_t)>& cohort) {
  constexpr int kDraws = 20'000;
  std::vector<double> counts(16);
  for (std::int64_t draw = 1; draw <= kDraws; ++draw) {
    std::size_t subset = 0;
    for (const std::int64_t client : cohort(draw)) subset |= std::size_t{1} << client;
    ++counts[subset];
  }
  EXPECT_TRUE(independent_inclusions(counts, 4, 1.0 / 4));
}

TEST(PoissonCohorts, IncludeEveryClientOnItsOwn) {
  expect_independent_inclusions([](std::int64_t round) { return draw_cohort(5, round, 4, 1, kPoisson); });
  expect_independent_inclusions(
      [](std::int64_t seed) { return draw_cohort(static_cast<std::uint64_t>(seed), 1, 4, 1, kPoisson); });
}

TEST(PoissonCohorts, HaveTheExpectedSizeAndItsVariance) {
  constexpr std::int64_t kPopulation = 500, kExpected = 60;
  constexpr double kRate = double(kExpected) / kPopulation;
  constexpr double kVariance = kExpected * (1 - kRate);
  std::vector<double> sizes;
  for (std::int64_t round = 1; round <= 4'000; ++round) {
    sizes.push_back(static_cast<double>(draw_cohort(6, round, kPopulation, kExpected, kPoisson).size()));
  }
  EXPECT_LT(std::abs(mean_z(sizes, kExpected, kVariance)), kNormalBound);
  // Fourth central moment of a binomial.
  const double fourth = 3 * kVariance * kVariance + kVariance * (1 - 6 * kRate * (1 - kRate));
  EXPECT_LT(std::abs(variance_z(sizes, kExpected, kVariance, fourth)), kNormalBound);
}

// Two clients at rate one half, in successive rounds: 16 equally likely pairs.
TEST(PoissonCohorts, AreIndependentOfTheRoundBefore) {
  const auto subset = [](std::int64_t round) {
    std::size_t bits = 0;
    for (const std::int64_t client : draw_cohort(7, round, 2, 1, kPoisson)) bits += client == 0 ? 1 : 2;
    return bits;
  };
  std::vector<std::int64_t> cells(16);
  for (std::int64_t round = 1; round <= 8'000; ++round)
    ++cells[4 * subset(2 * round) + subset(2 * round + 1)];
  EXPECT_TRUE(equally_likely(cells));
}

}  // namespace
}  // namespace fedarena
