// Exhibit 5: the classic Gaussian formula outside its theorem, for one round, never composed.
#include <cmath>

#include <gtest/gtest.h>

#include "fedarena/accounting/gaussian.hpp"

#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

constexpr double kClassicGaussianDelta = 1e-5;

// Dwork and Roth 2014, Theorem A.1, which holds for epsilon in (0, 1).
double classic_noise(double epsilon) { return std::sqrt(2 * std::log(1.25 / kClassicGaussianDelta)) / epsilon; }

Claim pld_after(std::int64_t rounds, double noise_multiplier) {
  const Federation federation({5, 5, 5});
  const Exhibit algorithm;
  ClientPolicy policy;
  policy.noise_multiplier = noise_multiplier;
  policy.delta = kClassicGaussianDelta;
  Simulation simulation(federation.setup(algorithm, policy, rounds));
  const double by_rdp = finish(simulation);
  Claim pld = account(simulation.ledger(), policy).pld;
  EXPECT_GE(by_rdp, pld.epsilon.value());
  return pld;
}

TEST(ClassicGaussian, IsNotBelievedBeyondEpsilonOne) {
  for (const double nominal : {10.0, 20.0, 50.0}) {
    const double noise_multiplier = classic_noise(nominal);
    const double epsilon = pld_after(1, noise_multiplier).epsilon.value();
    EXPECT_GT(epsilon, nominal);
    EXPECT_NEAR(epsilon, gaussian_epsilon(kClassicGaussianDelta, noise_multiplier), 1e-6 * epsilon);
  }
}

TEST(ClassicGaussian, IsComposedOverRounds) {
  constexpr double kNominal = 1;
  const double noise_multiplier = classic_noise(kNominal);
  EXPECT_LT(pld_after(1, noise_multiplier).epsilon.value(), kNominal);
  const double after = pld_after(100, noise_multiplier).epsilon.value();
  EXPECT_NEAR(after, gaussian_epsilon(kClassicGaussianDelta, noise_multiplier / 10), 1e-6 * after);
  EXPECT_GT(after, 9 * kNominal);
}

}  // namespace
}  // namespace fedarena
