// Exhibit 2: an estimate in the place of an upper bound.
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/accounting/account.hpp"
#include "fedarena/accounting/pld.hpp"

namespace fedarena {
namespace {

struct Vector {
  double rate, noise_multiplier;
  std::int64_t steps;
  double delta;
  double exact;  // by high-precision integration; last digits rounded down
};

// The lower four are among those of which published accountants state less than the truth.
const std::vector<Vector> kVectors{
    {0.0256, 1, 200, 1e-5, 2.3838992280945},      {0.0256, 1, 5'800, 1e-5, 13.8443416063654},
    {0.002353, 4.17, 21'614, 1e-4, 0.2277686382}, {0.9, 1, 1'000, 1e-6, 548.190359721806},
    {0.2651, 1.52, 188, 1e-7, 17.5406796888450},  {0.08625, 5.19, 14'548, 1e-8, 12.9603720506813},
    {0.135, 1.53, 892, 1e-9, 22.1509146749492},   {0.04939, 3.38, 19'648, 1e-10, 15.1271691728664}};

TEST(Estimates, AreNeverWhatPldReturns) {
  for (const Vector& vector : kVectors) {
    const std::vector<Access> accesses{
        {SampledGaussian{Sampling::kPoisson, vector.rate, {vector.noise_multiplier}, {}}, vector.steps}};
    for (const double wanted : {0.05, 1e-3}) {
      const PldEpsilon epsilon =
          pld_epsilon(accesses, vector.delta, {.relative_error = wanted, .lower_bound = true});
      EXPECT_GE(epsilon.upper, vector.exact);
      EXPECT_LE(epsilon.upper, vector.exact * (1 + wanted) + 1e-9);
      EXPECT_LE(epsilon.lower.value(), vector.exact * (1 + 1e-9));
    }
  }
}

TEST(Estimates, AreNotWhatARunClaims) {
  for (const Vector& vector : kVectors) {
    Ledger ledger(Unit::kClient);
    ledger.record_population(
        1, RoundAccesses({{SampledGaussian{Sampling::kPoisson, vector.rate, {vector.noise_multiplier}, {}},
                           vector.steps}}));
    const Account claimed = account(ledger, {.delta = vector.delta});
    EXPECT_GE(claimed.pld.epsilon.value(), vector.exact);
    EXPECT_GE(claimed.rdp.epsilon.value(), vector.exact);
  }
}

}  // namespace
}  // namespace fedarena
