// Exhibit 16a: a proximal gradient that the privacy mechanism overwrites.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

constexpr double kProximalTermRate = 0.05;

class ProximalTerm : public ::testing::Test {
 protected:
  /// How far one round carries the model.
  double moved(const std::string& name, Settings settings, double noise_multiplier,
               std::int64_t steps) const {
    settings.insert(settings.end(), {{"local_steps", steps}, {"batch_size", std::int64_t{10}}});
    const auto algorithm = plugins().create(name, settings);
    RecordPolicy policy;
    policy.noise_multiplier = noise_multiplier;
    Simulation simulation(federation.setup(*algorithm, policy));
    const Params initial = simulation.params();
    simulation.next_round();
    return norm(simulation.params() - initial);
  }

  Federation federation{{100}};
};

// With rate * mu = 1 a client ends each step one step from the global weights, however many there were.
TEST_F(ProximalTerm, OutlivesTheMechanism) {
  const auto fedprox = [&](std::int64_t steps) {
    return moved("dp-fedprox", {{"rate", kProximalTermRate}, {"mu", 1 / kProximalTermRate}}, 0, steps);
  };
  for (const std::int64_t steps : {1, 10, 200}) {
    // Batches are drawn: their size, at most 4 times the expected one, bounds what one answer holds.
    EXPECT_LE(fedprox(steps), 4 * kProximalTermRate);
    EXPECT_GT(fedprox(steps), 0);
  }
  EXPECT_GT(moved("dp-fedavg", {{"rate", kProximalTermRate}}, 0, 200), 10 * fedprox(200));
}

TEST_F(ProximalTerm, HoldsTheModelWhereItIsVeryLarge) {
  constexpr double kMu = 1e8;
  EXPECT_LE(moved("dp-fedprox", {{"rate", 1 / kMu}, {"mu", kMu}}, 1, 100), 1e-6);
}

// DP-FedProx whose term is lost is DP-FedAvg; ours is not, and comes closer to it as mu vanishes.
TEST_F(ProximalTerm, IsWhatTellsFedProxFromFedAvg) {
  const double fedavg = moved("dp-fedavg", {{"rate", kProximalTermRate}}, 1, 50);
  EXPECT_EQ(moved("dp-fedprox", {{"rate", kProximalTermRate}, {"mu", 0.0}}, 1, 50), fedavg);
  double last = 0;
  for (const double mu : {0.01, 0.1, 1.0}) {
    const double difference = std::abs(moved("dp-fedprox", {{"rate", kProximalTermRate}, {"mu", mu}}, 1, 50) - fedavg);
    EXPECT_GT(difference, last) << mu;
    last = difference;
  }
}

}  // namespace
}  // namespace fedarena
