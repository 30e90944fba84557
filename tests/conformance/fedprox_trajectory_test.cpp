// FedProx on linear regressions: its local problem is the quadratic A + mu I with slope v + mu x_global.
#include <string>

#include <gtest/gtest.h>

#include "harness/simulation/cohort.hpp"
#include "tests/conformance/federations.hpp"
#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

constexpr std::uint64_t kFedproxSeed = 8;

struct FedproxCase {
  std::string name;
  double mu = 0.5;
  std::int64_t steps = 6;
  double momentum = 0, weight_decay = 0, server_rate = 1;
  bool by_examples = true;
  std::int64_t cohort_size = 4;
};

constexpr double kFedproxRate = 0.1;

Settings fedprox_settings_of(const FedproxCase& wanted) {
  return {{"local_steps", wanted.steps},
          {"batch_size", std::int64_t{0}},
          {"rate", kFedproxRate},
          {"mu", wanted.mu},
          {"momentum", wanted.momentum},
          {"weight_decay", wanted.weight_decay},
          {"server_rate", wanted.server_rate},
          {"weighting", std::string(wanted.by_examples ? "examples" : "uniform")}};
}

Quadratic proximal(const Quadratic& client, const Vector& start, double mu, double weight_decay) {
  return {client.hessian + (mu + weight_decay) * identity(start.size()), client.slope + mu * start,
          client.examples};
}

class FedProxTrajectory : public ::testing::TestWithParam<FedproxCase> {};

TEST_P(FedProxTrajectory, FollowsMatrixPowers) {
  const FedproxCase& wanted = GetParam();
  const QuadraticFederation federation = quadratic_federation({12, 7, 33, 18});
  const Model model = linear_model_of(federation.dataset);
  TestRun run(federation.dataset, federation.partition, model,
              plugins().create("fedprox", fedprox_settings_of(wanted)),
              {.seed = kFedproxSeed, .rounds = 6, .cohort_size = wanted.cohort_size});

  Vector x = run.values();
  for (std::int64_t round = 1; round <= 6; ++round) {
    x = average_round(federation, choose_cohort(kFedproxSeed, round, federation.population(), wanted.cohort_size), x,
                      wanted.by_examples, wanted.server_rate,
                      [&](const Quadratic& client, const Vector& start) {
                        return descend(proximal(client, start, wanted.mu, wanted.weight_decay), start, kFedproxRate,
                                       wanted.steps, wanted.momentum);
                      });
    run->next_round();
    ASSERT_LE(length(run.values() - x), 1e-10 * length(x)) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, FedProxTrajectory,
                         ::testing::Values(FedproxCase{.name = "Default"}, FedproxCase{.name = "LargeMu", .mu = 8},
                                           FedproxCase{.name = "TinyMu", .mu = 1e-4},
                                           FedproxCase{.name = "Uniform", .by_examples = false},
                                           FedproxCase{.name = "PartialParticipation", .cohort_size = 2},
                                           FedproxCase{.name = "Momentum", .momentum = 0.5},
                                           FedproxCase{.name = "WeightDecay", .weight_decay = 0.2},
                                           FedproxCase{.name = "AllTogether",
                                                .mu = 1.5,
                                                .steps = 9,
                                                .momentum = 0.3,
                                                .weight_decay = 0.1,
                                                .server_rate = 0.7,
                                                .by_examples = false,
                                                .cohort_size = 3}),
                         [](const auto& info) { return info.param.name; });

TEST(FedProx, WithoutPullIsFedAvgToTheBit) {
  for (const std::int64_t cohort_size : {2, 4}) {
    const Task task = image_task("mlp", {{"hidden", std::vector<std::int64_t>{9}}});
    const Settings common{{"local_epochs", 2}, {"batch_size", 16}, {"rate", 0.1}, {"momentum", 0.5}};
    Settings prox = common;
    prox.emplace_back("mu", 0.0);
    TestRun fedavg(task, "fedavg", common, {.rounds = 4, .cohort_size = cohort_size});
    TestRun fedprox(task, "fedprox", prox, {.rounds = 4, .cohort_size = cohort_size});
    for (int round = 0; round < 4; ++round) {
      fedavg->next_round();
      fedprox->next_round();
      ASSERT_TRUE(same_bits(fedavg->params(), fedprox->params()));
    }
  }
}

TEST(FedProx, PullsHarderWithLargerMu) {
  const QuadraticFederation federation = quadratic_federation({12, 7, 33, 18});
  const Model model = linear_model_of(federation.dataset);
  double last = 1e300;
  for (const double mu : {0.0, 0.1, 0.5, 1.0, 3.0, 6.0, 9.0}) {
    TestRun run(federation.dataset, federation.partition, model,
                plugins().create("fedprox", fedprox_settings_of({.name = "", .mu = mu, .steps = 30})), {.rounds = 1});
    const Vector start = run.values();
    const double moved = length(run.finish().values() - start);
    EXPECT_LT(moved, last) << "mu " << mu;
    EXPECT_GT(moved, 0);
    last = moved;
  }
}

// With rate * mu = 1 the pull cancels all that was travelled: x - rate (g + mu (x - x_global)) = x_global -
// rate g. However many steps it makes, a client ends one gradient step from the global weights.
TEST(FedProx, EndsOneGradientStepFromTheGlobalWeightsWhenRateTimesMuIsOne) {
  const QuadraticFederation federation = quadratic_federation({25});
  const Quadratic& client = federation.clients[0];
  const Model model = linear_model_of(federation.dataset);
  for (const std::int64_t steps : {1, 2, 3, 10}) {
    TestRun run(federation.dataset, federation.partition, model,
                plugins().create("fedprox", fedprox_settings_of({.name = "", .mu = 1 / kFedproxRate, .steps = steps})),
                {.rounds = 1});
    const Vector global = run.values();
    Vector before_last = global;
    for (std::int64_t step = 1; step < steps; ++step)
      before_last = global - kFedproxRate * client.gradient(before_last);
    const Vector expected = global - kFedproxRate * client.gradient(before_last);
    EXPECT_LE(length(run.finish().values() - expected), 1e-12 * length(expected)) << steps << " steps";
  }
}

}  // namespace
}  // namespace fedarena
