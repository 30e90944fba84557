// FedProx and FedAvg under policy "record" on linear regressions: the mechanism noises the gradient of the
// examples, the proximal term comes after it and stays clean.
#include <string>

#include <gtest/gtest.h>

#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

constexpr std::uint64_t kNoiseSeed = 8;
constexpr double kClip = 100;  // longer than any gradient here, so that only the noise is added
constexpr double kMultiplier = 0.02;

RecordPolicy noisy() {
  RecordPolicy policy;
  policy.clip_norm = kClip;
  policy.noise_multiplier = kMultiplier;
  return policy;
}

Settings noisy_settings(double rate, double mu, std::int64_t steps) {
  return {{"local_steps", steps}, {"batch_size", 0}, {"rate", rate}, {"mu", mu}, {"weighting", "uniform"}};
}

// Steps of x <- x - rate (gradient(x) + noise + mu (x - start)) with the noise of that client in that round.
Vector descend_in_noise(const Quadratic& client, std::int64_t number, std::int64_t round, const Vector& start,
                        double rate, double mu, std::int64_t steps) {
  Stream stream = Streams(kNoiseSeed, round, number)(Purpose::kNoise);
  Vector x = start;
  for (std::int64_t step = 0; step < steps; ++step) {
    Vector noise(x.size());
    for (double& value : noise) value = kMultiplier * kClip / client.examples * stream.normal();
    x = x - rate * (client.gradient(x) + noise + mu * (x - start));
  }
  return x;
}

class NoisyRuns : public ::testing::Test {
 protected:
  Vector run(const std::string& algorithm, const Settings& settings, std::int64_t rounds) const {
    return trained(federation.task, algorithm, declared_by(algorithm, settings),
                   {.seed = kNoiseSeed, .rounds = rounds, .policy = noisy()});
  }
  Vector initial() const { return TestRun(federation.task, "dp-fedavg", {}, {.seed = kNoiseSeed}).values(); }

  QuadraticFederation federation = quadratic_federation({12, 7, 33, 18});
};

// Under rate * mu = 1, the last, the pull cancels all that was travelled: however many steps it makes, a
// client ends one noisy step from the global weights. A proximal term that the mechanism drops would let it
// drift on, one that it clips or noises would not cancel.
TEST_F(NoisyRuns, FollowTheirRecursion) {
  constexpr double kRate = 0.1;
  for (const double mu : {0.0, 0.5, 4.0, 1 / kRate}) {
    for (const std::int64_t steps : {6, 200}) {
      Vector x = initial();
      for (std::int64_t round = 1; round <= 4; ++round) {
        Vector update(x.size());
        for (std::int64_t k = 0; k < federation.population(); ++k) {
          const Quadratic& client = federation.clients[static_cast<std::size_t>(k)];
          update = update + 0.25 * (descend_in_noise(client, k, round, x, kRate, mu, steps) - x);
        }
        x = x + update;
      }
      EXPECT_LE(length(run("dp-fedprox", noisy_settings(kRate, mu, steps), 4) - x), 1e-10 * length(x))
          << "mu " << mu;
    }
  }
}

TEST_F(NoisyRuns, AreThoseOfTheSameAlgorithmUnderItsOtherName) {
  const Settings settings = noisy_settings(0.1, 0.5, 5);
  EXPECT_EQ(run("dp-fedprox", settings, 2), run("fedprox", settings, 2));
  EXPECT_EQ(run("dp-fedavg", settings, 2), run("fedavg", settings, 2));
}

}  // namespace
}  // namespace fedarena
