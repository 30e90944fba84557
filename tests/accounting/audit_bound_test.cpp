// Lower bounds on epsilon from the guesses of an audit.
#include "fedarena/accounting/audit_bound.hpp"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "tests/accounting/reference_files.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

struct AuditVector {
  std::int64_t canaries, guesses, right;
  double bound;
};

TEST(AuditBound, ReproducesTheNumericVectors) {
  for (const AuditVector& vector :
       {AuditVector{100, 100, 100, 3.490}, AuditVector{500, 50, 50, 2.771},
        AuditVector{1000, 200, 150, 0.820}, AuditVector{1000, 200, 120, 0.158},
        AuditVector{5000, 250, 240, 2.614}, AuditVector{1000, 1000, 600, 0.297}}) {
    EXPECT_NEAR(audit_lower_bound(vector.canaries, vector.guesses, vector.right, 1e-5), vector.bound, 5e-4)
        << vector.canaries << " " << vector.guesses << " " << vector.right;
  }
}

// All right at delta 0: q^r = 0.05.
TEST(AuditBound, OfAllRightAtDeltaZeroIsAClosedForm) {
  for (const std::int64_t guesses : {1, 2, 5, 30, 400, 100'000}) {
    const double q = std::exp(std::log(0.05) / static_cast<double>(guesses));
    const double ceiling = std::max(0.0, std::log(q / (1 - q)));
    EXPECT_NEAR(audit_lower_bound(guesses, guesses, guesses, 0), ceiling, 1e-7) << guesses;
  }
}

// The definition, term by term.
double plain_p_value(std::int64_t m, std::int64_t r, std::int64_t v, double epsilon, double delta) {
  const double q = 1 / (1 + std::exp(-epsilon));
  const auto term = [&](std::int64_t k) {
    const auto n = static_cast<double>(r), x = static_cast<double>(k);
    return std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) + x * std::log(q) +
                    (n - x) * std::log(1 - q));
  };
  double tail = 0, largest = 0, below = 0;
  for (std::int64_t k = v; k <= r; ++k) tail += term(k);
  for (std::int64_t i = 1; i <= v; ++i) {
    below += term(v - i);
    largest = std::max(largest, below / static_cast<double>(i));
  }
  return std::min(1.0, tail + 2 * static_cast<double>(m) * delta * largest);
}

TEST(AuditPValue, IsItsDefinition) {
  for (const double delta : {0.0, 1e-6, 1e-4, 1e-2}) {
    for (const double epsilon : {0.0, 0.1, 1.0, 3.0}) {
      for (const std::int64_t right : {1, 7, 40, 90, 170, 199, 200}) {
        expect_relative(audit_p_value(1000, 200, right, epsilon, delta),
                        plain_p_value(1000, 200, right, epsilon, delta), 1e-9);
      }
    }
  }
}

TEST(AuditPValue, IsOneWhereNothingWasRightAndWhereNothingIsPromised) {
  EXPECT_EQ(audit_p_value(10, 10, 0, 0.5, 1e-5), 1);
  EXPECT_EQ(audit_lower_bound(10, 10, 0, 1e-5), 0);
  EXPECT_EQ(audit_p_value(1000, 200, 200, kInfinity, 1e-5), 1);
}

// A thousand guesses that all are right, a hundred thousand, and p-values far below what a double's terms
// add up to.
TEST(AuditPValue, StaysExactForManyGuesses) {
  expect_relative(audit_p_value(100'000, 100'000, 100'000, 5, 0), std::pow(1 / (1 + std::exp(-5)), 1e5),
                  1e-8);
  expect_relative(audit_p_value(1000, 1000, 1000, 0, 0), std::pow(0.5, 1000), 1e-8);
  const double bound = audit_lower_bound(100'000, 100'000, 90'000, 1e-6);
  EXPECT_GT(bound, 2.15);
  EXPECT_LT(bound, std::log(9));
}

TEST(AuditBound, IsMonotone) {
  double before = 0;
  for (std::int64_t right = 0; right <= 200; right += 5) {
    const double bound = audit_lower_bound(1000, 200, right, 1e-5);
    EXPECT_GE(bound, before) << right;
    before = bound;
    EXPECT_GE(bound, audit_lower_bound(2000, 200, right, 1e-5));
    EXPECT_GE(bound, audit_lower_bound(1000, 200, right, 1e-4));
    EXPECT_GE(bound, audit_lower_bound(1000, 200, right, 1e-5, 0.99));
  }
}

TEST(AuditBound, IsWhereThePValueCrosses) {
  for (const std::int64_t right : {130, 160, 200}) {
    const double bound = audit_lower_bound(1000, 200, right, 1e-5);
    EXPECT_LT(audit_p_value(1000, 200, right, bound, 1e-5), 0.05);
    EXPECT_GE(audit_p_value(1000, 200, right, bound + 1e-8, 1e-5), 0.05);
  }
}

// Each bit is told by randomised response, which is epsilon private and no less: guesses are right with
// probability e^epsilon / (1 + e^epsilon), the most that they can be. If bounds were too large in just 5 % of
// runs, more than 72 of 1,000 would be with probability 0.001; the seeds are fixed.
TEST(AuditBound, ExceedsTheTruthInAtMostOneHonestRunOfTwenty) {
  constexpr int kRuns = 1000;
  constexpr std::int64_t kGuesses = 200;
  for (const double epsilon : {0.5, 2.0}) {
    const double q = 1 / (1 + std::exp(-epsilon));
    int above = 0;
    double sum = 0;
    for (int run = 0; run < kRuns; ++run) {
      Stream stream({.seed = static_cast<std::uint64_t>(run), .purpose = Purpose::kAudit});
      std::int64_t right = 0;
      for (std::int64_t i = 0; i < kGuesses; ++i) right += stream.uniform() < q ? 1 : 0;
      const double bound = audit_lower_bound(kGuesses, kGuesses, right, 0);
      above += bound > epsilon ? 1 : 0;
      sum += bound;
    }
    EXPECT_LE(above, 72) << epsilon;
    EXPECT_GT(above, 10) << "the bound is weaker than it need be";
    EXPECT_GT(sum / kRuns, epsilon / 3);
  }
}

// The same without chance: the probability of those counts of right guesses whose bound is above the truth.
TEST(AuditBound, ExceedsTheTruthWithProbabilityFivePercentAtMost) {
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    for (const std::int64_t guesses : {20, 100, 1000}) {
      std::int64_t right = 0;
      while (right < guesses && audit_lower_bound(guesses, guesses, right, 0) <= epsilon) ++right;
      if (audit_lower_bound(guesses, guesses, right, 0) <= epsilon) continue;  // not even if all are right
      EXPECT_LT(audit_p_value(guesses, guesses, right, epsilon, 0), 0.05);
    }
  }
}

TEST(AuditBound, RefusesWhatCannotBe) {
  EXPECT_THROW(audit_lower_bound(10, 0, 0, 0), Error);
  EXPECT_THROW(audit_lower_bound(10, 11, 3, 0), Error);
  EXPECT_THROW(audit_lower_bound(10, 5, 6, 0), Error);
  EXPECT_THROW(audit_lower_bound(10, 5, -1, 0), Error);
  EXPECT_THROW(audit_lower_bound(10, 5, 3, 1), Error);
  EXPECT_THROW(audit_lower_bound(10, 5, 3, 0, 1), Error);
  EXPECT_THROW(audit_p_value(10, 5, 3, -0.1, 0), Error);
  EXPECT_THROW(audit_p_value(10, 5, 3, kNan, 0), Error);
}

}  // namespace
}  // namespace fedarena
