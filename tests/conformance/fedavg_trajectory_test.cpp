// FedAvg on linear regressions, where K local steps with exact gradients have the closed form
// x* + (I - rate A)^K (x - x*): every round of the plugin against matrix powers, to 1e-10.
#include <cmath>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "harness/simulation/cohort.hpp"
#include "tests/conformance/federations.hpp"
#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kRounds = 6;
constexpr std::uint64_t kFedavgSeed = 3;

struct FedavgCase {
  std::string name;
  std::int64_t steps = 4;
  double rate = 0.12;
  std::string schedule = "constant";
  double momentum = 0, weight_decay = 0;
  double server_rate = 1;
  bool by_examples = true;
  std::int64_t cohort_size = 5;

  // The schedules, written once more.
  double rate_in(std::int64_t round) const {
    if (schedule == "step") return rate * std::pow(0.5, (round - 1) / 2);
    if (schedule == "cosine") {
      const double progress = static_cast<double>(round - 1) / static_cast<double>(kRounds - 1);
      return std::max(0.01, 0.5 * rate * (1 + std::cos(std::numbers::pi * progress)));
    }
    return rate;
  }
  Settings settings() const {
    return {{"local_steps", steps},
            {"batch_size", std::int64_t{0}},
            {"rate", rate},
            {"schedule", schedule},
            {"schedule_step", std::int64_t{2}},
            {"schedule_factor", 0.5},
            {"minimum_rate", 0.01},
            {"momentum", momentum},
            {"weight_decay", weight_decay},
            {"server_rate", server_rate},
            {"weighting", std::string(by_examples ? "examples" : "uniform")}};
  }
};

class FedAvgTrajectory : public ::testing::TestWithParam<FedavgCase> {};

TEST_P(FedAvgTrajectory, FollowsMatrixPowers) {
  const FedavgCase& wanted = GetParam();
  const QuadraticFederation federation = quadratic_federation({9, 30, 14, 6, 21});
  const Model model = linear_model_of(federation.dataset);
  TestRun run(federation.dataset, federation.partition, model, plugins().create("fedavg", wanted.settings()),
              {.seed = kFedavgSeed, .rounds = kRounds, .cohort_size = wanted.cohort_size});

  Vector x = run.values();
  for (std::int64_t round = 1; round <= kRounds; ++round) {
    x = average_round(federation, choose_cohort(kFedavgSeed, round, federation.population(), wanted.cohort_size), x,
                      wanted.by_examples, wanted.server_rate, [&](Quadratic client, const Vector& start) {
                        client.hessian = client.hessian + wanted.weight_decay * identity(start.size());
                        return descend(client, start, wanted.rate_in(round), wanted.steps, wanted.momentum);
                      });
    run->next_round();
    ASSERT_LE(length(run.values() - x), 1e-10 * length(x)) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, FedAvgTrajectory,
    ::testing::Values(FedavgCase{.name = "OneStep", .steps = 1}, FedavgCase{.name = "ManySteps", .steps = 25},
                      FedavgCase{.name = "UniformWeights", .by_examples = false},
                      FedavgCase{.name = "PartialParticipation", .cohort_size = 2},
                      FedavgCase{.name = "PartialParticipationUniform", .by_examples = false, .cohort_size = 3},
                      FedavgCase{.name = "OneClientARound", .cohort_size = 1},
                      FedavgCase{.name = "ServerRate", .server_rate = 0.35},
                      FedavgCase{.name = "ServerRateAboveOne", .server_rate = 1.4, .cohort_size = 3},
                      FedavgCase{.name = "Momentum", .momentum = 0.6},
                      FedavgCase{.name = "WeightDecay", .weight_decay = 0.3},
                      FedavgCase{.name = "MomentumAndWeightDecay", .momentum = 0.4, .weight_decay = 0.05},
                      FedavgCase{.name = "StepSchedule", .schedule = "step"},
                      FedavgCase{.name = "CosineSchedule", .schedule = "cosine"},
                      FedavgCase{.name = "AllTogether",
                           .steps = 7,
                           .rate = 0.08,
                           .schedule = "cosine",
                           .momentum = 0.5,
                           .weight_decay = 0.02,
                           .server_rate = 0.8,
                           .by_examples = false,
                           .cohort_size = 2}),
    [](const auto& info) { return info.param.name; });

// With exact gradients one epoch is one step, so that two ways to state the work agree to the bit.
TEST(FedAvg, CountsEpochsOfTheWholeShardAsSteps) {
  const QuadraticFederation federation = quadratic_federation({9, 30, 14});
  const Model model = linear_model_of(federation.dataset);
  const auto train = [&](const char* field) {
    const Settings settings{{field, std::int64_t{3}}, {"batch_size", std::int64_t{0}}, {"rate", 0.1}};
    return TestRun(federation.dataset, federation.partition, model, plugins().create("fedavg", settings), {})
        .finish()
        .values();
  };
  EXPECT_EQ(train("local_steps"), train("local_epochs"));
}

// The fixed point of averaged local training is not the optimum of the sum when clients differ and K > 1;
// with K = 1 it is.
TEST(FedAvg, StopsAtItsBiasedFixedPoint) {
  const QuadraticFederation federation = quadratic_federation({9, 30, 14});
  const Model model = linear_model_of(federation.dataset);
  const std::size_t size = federation.clients[0].slope.size();
  const double rate = 0.15;
  for (const std::int64_t steps : {1, 10}) {
    Matrix all = zero_matrix(size, size), left = zero_matrix(size, size);
    Vector slope(size), right(size);
    for (const Quadratic& client : federation.clients) {
      const double share = client.examples / federation.examples();
      all = all + share * client.hessian;
      slope = slope + share * client.slope;
      const Matrix travel = identity(size) + (-1.0 * power(identity(size) + (-rate * client.hessian), steps));
      left = left + share * travel;
      right = right + share * (travel * client.optimum());
    }
    const Vector optimum = solve(all, slope), fixed_point = solve(left, right);
    const Settings settings{{"local_steps", steps}, {"batch_size", std::int64_t{0}}, {"rate", rate}};
    const Vector reached =
        TestRun(federation.dataset, federation.partition, model, plugins().create("fedavg", settings),
                {.rounds = steps == 1 ? 1500 : 200, .evaluate_every = 5000})
            .finish()
            .values();
    EXPECT_LE(length(reached - fixed_point), 1e-10 * length(fixed_point));
    if (steps == 1) {
      EXPECT_LE(length(reached - optimum), 1e-10 * length(optimum));
    } else {
      EXPECT_GE(length(reached - optimum), 1e-2 * length(optimum));
    }
  }
}

}  // namespace
}  // namespace fedarena
