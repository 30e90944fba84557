// FedProx and FedAvg under policy "record" on linear regressions: the mechanism noises the gradient of the
// examples, the proximal term comes after it and stays clean.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/conformance/federations.hpp"
#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

constexpr std::uint64_t kFedproxNoiseSeed = 8;
constexpr double kClip = 100;  // longer than any gradient here, so that only the noise is added
constexpr double kMultiplier = 0.02;

RecordPolicy noisy(double clip_norm = kClip, double noise_multiplier = kMultiplier) {
  RecordPolicy policy;
  policy.clip_norm = clip_norm;
  policy.noise_multiplier = noise_multiplier;
  return policy;
}

Settings settings_of(double rate, double mu, std::int64_t steps) {
  return {{"local_steps", steps},
          {"batch_size", std::int64_t{0}},
          {"rate", rate},
          {"mu", mu},
          {"weighting", std::string("uniform")}};
}

// Steps of x <- x - rate (gradient(x) + noise + mu (x - start)) with the noise of that client in that round.
Vector descend_in_noise(const Quadratic& client, std::int64_t number, std::int64_t round, const Vector& start,
                        double rate, double mu, std::int64_t steps) {
  Stream stream = Streams(kFedproxNoiseSeed, round, number)(Purpose::kNoise);
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
  Vector run(const std::string& algorithm, const Settings& settings, std::int64_t rounds,
             const RecordPolicy& policy = noisy()) const {
    TestRun training(federation.dataset, federation.partition, model,
                     plugins().create(algorithm, declared_by(algorithm, settings)),
                     {.seed = kFedproxNoiseSeed, .rounds = rounds, .policy = policy});
    return training.finish().values();
  }
  Vector initial() const {
    return TestRun(federation.dataset, federation.partition, model, plugins().create("dp-fedavg", {}),
                   {.seed = kFedproxNoiseSeed})
        .values();
  }

  QuadraticFederation federation = quadratic_federation({12, 7, 33, 18});
  Model model = linear_model_of(federation.dataset);
};

TEST_F(NoisyRuns, FollowTheirRecursion) {
  constexpr double kRate = 0.1;
  for (const double mu : {0.0, 0.5, 4.0}) {
    Vector x = initial();
    for (std::int64_t round = 1; round <= 4; ++round) {
      Vector update(x.size());
      for (std::int64_t k = 0; k < federation.population(); ++k) {
        const Quadratic& client = federation.clients[static_cast<std::size_t>(k)];
        update = update + 0.25 * (descend_in_noise(client, k, round, x, kRate, mu, 6) - x);
      }
      x = x + update;
    }
    EXPECT_LE(length(run("dp-fedprox", settings_of(kRate, mu, 6), 4) - x), 1e-10 * length(x)) << "mu " << mu;
  }
}

// With rate * mu = 1 the pull cancels all that was travelled: however many steps it makes, a client ends one
// noisy step from the global weights. A proximal term that the mechanism drops would let it drift on, one
// that it clips or noises would not cancel.
TEST_F(NoisyRuns, EndOneNoisyStepFromTheGlobalWeightsWhenRateTimesMuIsOne) {
  constexpr double kRate = 0.1;
  const Vector global = initial();
  for (const std::int64_t steps : {1, 2, 5, 20}) {
    Vector expected(global.size());
    for (std::int64_t k = 0; k < federation.population(); ++k) {
      const Quadratic& client = federation.clients[static_cast<std::size_t>(k)];
      Stream stream = Streams(kFedproxNoiseSeed, 1, k)(Purpose::kNoise);
      Vector local = global;
      for (std::int64_t step = 0; step < steps; ++step) {
        Vector noisy_gradient = client.gradient(local);
        for (double& value : noisy_gradient) value += kMultiplier * kClip / client.examples * stream.normal();
        local = global - kRate * noisy_gradient;
      }
      expected = expected + 0.25 * local;
    }
    const Vector reached = run("dp-fedprox", settings_of(kRate, 1 / kRate, steps), 1);
    EXPECT_LE(length(reached - expected), 1e-11 * length(expected)) << steps << " steps";
  }
}

// The clip norm bounds gradients of examples, hence also how far one step goes.
TEST_F(NoisyRuns, HardlyMoveUnderAVeryLargeMu) {
  constexpr double kMu = 1e9;
  const Vector global = initial();
  for (const std::int64_t steps : {1, 50}) {
    const Vector pulled = run("dp-fedprox", settings_of(1 / kMu, kMu, steps), 3, noisy(1, 1));
    EXPECT_LE(length(pulled - global), 1e-7);
    EXPECT_GT(length(pulled - global), 0);
  }
}

TEST_F(NoisyRuns, OfFedProxAreNotThoseOfFedAvg) {
  for (const RecordPolicy& policy : {noisy(), noisy(1, 1)}) {
    const Vector fedavg = run("dp-fedavg", settings_of(0.1, 0, 20), 3, policy);
    EXPECT_EQ(run("dp-fedprox", settings_of(0.1, 0, 20), 3, policy), fedavg);
    double last = 0;
    for (const double mu : {0.01, 0.1, 1.0}) {
      const double apart = length(run("dp-fedprox", settings_of(0.1, mu, 20), 3, policy) - fedavg);
      EXPECT_GT(apart, last) << "mu " << mu;
      last = apart;
    }
    EXPECT_GT(last, 0.05 * length(fedavg));
  }
}

TEST_F(NoisyRuns, AreThoseOfTheSameAlgorithmUnderItsOtherName) {
  const Settings settings = settings_of(0.1, 0.5, 5);
  EXPECT_EQ(run("dp-fedprox", settings, 2), run("fedprox", settings, 2));
  EXPECT_EQ(run("dp-fedavg", settings, 2), run("fedavg", settings, 2));
}

}  // namespace
}  // namespace fedarena
