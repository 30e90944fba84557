// Exhibit 12: SCAFFOLD with control variates that do not start at zero, and with the cohort in the place of
// the population. The plugin is compared with the paper in tests/conformance/scaffold_test.cpp.

#include <gtest/gtest.h>

#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

constexpr Key<Params> kControl{"control"};
constexpr Key<Params> kControlUpdate{"control_update"};
constexpr double kScaffoldRate = 0.3;
constexpr std::int64_t kSteps = 5;

enum class Mistake { kNone, kRandomStart, kWeightsAsStart, kCohortAsPopulation };

// Option II with full batches, after Algorithm 1 of the paper but for the mistake.
class FlawedScaffold final : public Algorithm {
 public:
  explicit FlawedScaffold(Mistake mistake) : mistake_(mistake) {}

  void start(Server& server) const override { server.state.put(kControl, first_control(server.params)); }
  Message broadcast(const Server& server) const override {
    return {{kModel, server.params}, {kControl, server.state[kControl]}};
  }
  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    const Params control = client.state.get_or(kControl, first_control(initial_weights(client)));
    const Params drift = downlink[kControl] - control;
    Params local = start;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      local.add_scaled(-kScaffoldRate, client.oracle.gradient(local, {.batch_size = 0}) + drift);
    }
    const Params next = (1 / (kScaffoldRate * kSteps)) * (start - local) - drift;
    client.state.put(kControl, next);
    return {{kUpdate, local - start}, {kControlUpdate, next - control}};
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    const double share = static_cast<double>(uplink.size()) / static_cast<double>(server.population);
    server.params += uplink.mean(kUpdate);
    server.state.put(
        kControl, server.state[kControl] +
                      (mistake_ == Mistake::kCohortAsPopulation ? 1 : share) * uplink.mean(kControlUpdate));
  }

 private:
  // Server and clients agree on the start, as in the trees where this was found.
  Params first_control(const Params& weights) const {
    if (mistake_ == Mistake::kWeightsAsStart) return weights;
    Params control = zeros_like(weights);
    if (mistake_ != Mistake::kRandomStart) return control;
    Stream stream({.seed = 99});
    control.flat().add_(normal(stream, {control.flat().numel()}));
    return control;
  }
  static Params initial_weights(const Client& client) {
    Stream stream({.seed = kSeed, .round = 0, .client = kServer, .purpose = Purpose::kInitialWeights});
    return client.model.initial(stream);
  }

  static constexpr std::uint64_t kSeed = 6;
  Mistake mistake_;
};

class Scaffold : public ::testing::Test {
 protected:
  Params end_of(const Algorithm& algorithm, std::int64_t cohort_size) const {
    SimulationSetup setup = federation.setup(algorithm, NoPolicy{}, 6);
    setup.cohort_size = cohort_size;
    Simulation simulation(setup);
    while (!simulation.finished()) simulation.next_round();
    return simulation.params();
  }
  /// How far the flawed one ends from the plugin, relative to the length of the model.
  double apart(Mistake mistake, std::int64_t cohort_size) const {
    const auto plugin = plugins().create(
        "scaffold", {{"option", "II"}, {"local_steps", kSteps}, {"batch_size", 0}, {"rate", kScaffoldRate}});
    const Params right = end_of(*plugin, cohort_size);
    return norm(end_of(FlawedScaffold(mistake), cohort_size) - right) / norm(right);
  }

  Federation federation{{9, 30, 14, 6, 21}};
};

TEST_F(Scaffold, IsThePluginWithoutAMistake) {
  for (const std::int64_t cohort_size : {5, 2, 1}) EXPECT_LE(apart(Mistake::kNone, cohort_size), 1e-12);
}

constexpr auto kMistakes = {Mistake::kRandomStart, Mistake::kWeightsAsStart, Mistake::kCohortAsPopulation};

// Why they stay unnoticed: when everybody takes part, each of them cancels.
TEST_F(Scaffold, HidesMistakesWhenAllTakePart) {
  for (const Mistake mistake : kMistakes) {
    EXPECT_LE(apart(mistake, 5), 1e-12) << static_cast<int>(mistake);
  }
}

TEST_F(Scaffold, ShowsMistakesWhenSomeTakePart) {
  for (const Mistake mistake : kMistakes) {
    EXPECT_GE(apart(mistake, 2), 1e-2) << static_cast<int>(mistake);
  }
}

}  // namespace
}  // namespace fedarena
