// FedAvg (one-shot FedAvg is a round of it), FedSGD and FedProx on linear regressions. K local steps with
// exact gradients have the closed form x* + (I - rate A)^K (x - x*); FedProx solves A + mu I with the slope v
// + mu x_global, and FedSGD makes one step.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kRounds = 6;
constexpr std::uint64_t kSeed = 3;

struct AveragingCase {
  std::string name = {};
  std::string algorithm = "fedavg";
  std::int64_t steps = 4;
  double rate = 0.12;
  std::string schedule = "constant";
  double mu = 0, momentum = 0, weight_decay = 0;
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
    return declared_by(algorithm, {{"local_steps", steps},
                                   {"batch_size", 0},
                                   {"rate", rate},
                                   {"schedule", schedule},
                                   {"schedule_step", 2},
                                   {"schedule_factor", 0.5},
                                   {"minimum_rate", 0.01},
                                   {"mu", mu},
                                   {"momentum", momentum},
                                   {"weight_decay", weight_decay},
                                   {"server_rate", server_rate},
                                   {"weighting", by_examples ? "examples" : "uniform"}});
  }
};

class AveragingTrajectory : public ::testing::TestWithParam<AveragingCase> {};

TEST_P(AveragingTrajectory, FollowsMatrixPowers) {
  const AveragingCase& wanted = GetParam();
  const QuadraticFederation federation = quadratic_federation({9, 30, 14, 6, 21});
  expect_rounds(federation, wanted.algorithm, wanted.settings(),
                {.seed = kSeed, .rounds = kRounds, .cohort_size = wanted.cohort_size},
                [&](const Vector& x, const std::vector<std::int64_t>& cohort, std::int64_t round) {
                  return average_round(
                      federation, cohort, x, wanted.by_examples, wanted.server_rate,
                      [&](Quadratic client, const Vector& start) {
                        client.hessian =
                            client.hessian + (wanted.mu + wanted.weight_decay) * identity(start.size());
                        client.slope = client.slope + wanted.mu * start;
                        return descend(client, start, wanted.rate_in(round), wanted.steps, wanted.momentum);
                      });
                });
}

// FedSGD makes one step.
AveragingCase fedsgd(AveragingCase wanted) {
  wanted.name = "FedSgd" + wanted.name;
  wanted.algorithm = "fedsgd";
  wanted.steps = 1;
  wanted.rate = 0.2;
  wanted.schedule = "step";
  return wanted;
}

AveragingCase fedprox(AveragingCase wanted) {
  wanted.name = "FedProx" + wanted.name;
  wanted.algorithm = "fedprox";
  return wanted;
}

INSTANTIATE_TEST_SUITE_P(Settings, AveragingTrajectory,
                         ::testing::ValuesIn(std::vector<AveragingCase>{
                             {.name = "OneStep", .steps = 1},
                             {.name = "ManySteps", .steps = 25},
                             {.name = "UniformWeights", .by_examples = false},
                             {.name = "PartialParticipation", .cohort_size = 2},
                             {.name = "PartialParticipationUniform", .by_examples = false, .cohort_size = 3},
                             {.name = "OneClientARound", .cohort_size = 1},
                             {.name = "ServerRate", .server_rate = 0.35},
                             {.name = "ServerRateAboveOne", .server_rate = 1.4, .cohort_size = 3},
                             {.name = "Momentum", .momentum = 0.6},
                             {.name = "WeightDecay", .weight_decay = 0.3},
                             {.name = "MomentumAndWeightDecay", .momentum = 0.4, .weight_decay = 0.05},
                             {.name = "StepSchedule", .schedule = "step"},
                             {.name = "CosineSchedule", .schedule = "cosine"},
                             {"AllTogether", "fedavg", 7, 0.08, "cosine", 0, 0.5, 0.02, 0.8, false, 2},
                             fedsgd({}),
                             fedsgd({.name = "Uniform", .by_examples = false}),
                             fedsgd({.name = "PartialParticipation", .cohort_size = 2}),
                             fedprox({.mu = 0.5}),
                             fedprox({.name = "LargeMu", .mu = 8}),
                             fedprox({.name = "TinyMu", .mu = 1e-4}),
                             fedprox({.name = "Uniform", .mu = 0.5, .by_examples = false}),
                             fedprox({.name = "PartialParticipation", .mu = 0.5, .cohort_size = 2}),
                             fedprox({.name = "Momentum", .mu = 0.5, .momentum = 0.5}),
                             fedprox({.name = "WeightDecay", .mu = 0.5, .weight_decay = 0.2}),
                             fedprox({"AllTogether", "", 9, 0.1, "constant", 1.5, 0.3, 0.1, 0.7, false, 3})}),
                         [](const auto& info) { return info.param.name; });

// The fixed point of averaged local training is not the optimum of the sum when clients differ and K > 1;
// with K = 1 it is.
TEST(FedAvg, StopsAtItsBiasedFixedPoint) {
  const QuadraticFederation federation = quadratic_federation({9, 30, 14});
  const Matrix one = identity(federation.clients[0].slope.size());
  const double rate = 0.15;
  const Vector optimum = federation.optimum(true);
  for (const std::int64_t steps : {1, 10}) {
    Matrix left = torch::zeros_like(one);
    Vector right(optimum.size());
    for (const Quadratic& client : federation.clients) {
      const Matrix travel = one - torch::matrix_power(one - rate * client.hessian, steps);
      left = left + client.examples * travel;
      right = right + client.examples * (travel * client.optimum());
    }
    const Vector fixed_point = solve(left, right);
    const Vector reached =
        trained(federation.task, "fedavg", {{"local_steps", steps}, {"batch_size", 0}, {"rate", rate}},
                {.rounds = steps == 1 ? 1500 : 200, .evaluate_every = 5000});
    EXPECT_LE(length(reached - fixed_point), 1e-10 * length(fixed_point));
    if (steps == 1) {
      EXPECT_LE(length(reached - optimum), 1e-10 * length(optimum));
    } else {
      EXPECT_GE(length(reached - optimum), 1e-2 * length(optimum));
    }
  }
}

// The paper's own definition: FedAvg with one step on one batch of everything. Under the policy "record" the
// same batches are drawn and the same noise is added.
TEST(FedSgd, IsFedAvgWithOneStep) {
  const Task task = quadratic_federation({12, 7, 33, 18}).task;
  for (const PrivacyPolicy& policy : std::vector<PrivacyPolicy>{NoPolicy{}, RecordPolicy()}) {
    for (const std::int64_t batch_size : {0, 5}) {
      const Settings common{{"batch_size", batch_size}, {"rate", 0.2}};
      const TestRunOptions options{.rounds = 5, .cohort_size = 3, .policy = policy};
      const Vector expected = trained(task, "fedavg", joined(common, {{"local_steps", 1}}), options);
      EXPECT_LE(length(trained(task, "fedsgd", common, options) - expected), 1e-12 * length(expected));
    }
  }
}

TEST(FedProx, WithoutPullIsFedAvgToTheBit) {
  const Task task = image_task("mlp", {{"hidden", std::vector<std::int64_t>{9}}});
  const Settings common{{"local_epochs", 2}, {"batch_size", 16}, {"rate", 0.1}, {"momentum", 0.5}};
  for (const std::int64_t cohort_size : {2, 4}) {
    expect_same_rounds(task, {.rounds = 4, .cohort_size = cohort_size}, "fedavg", common, "fedprox",
                       joined(common, {{"mu", 0.0}}));
  }
}

}  // namespace
}  // namespace fedarena
