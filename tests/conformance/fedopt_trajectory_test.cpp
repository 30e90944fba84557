// Server optimisers on linear regressions: Algorithm 2 of Reddi et al. (ICLR 2021) and FedAvgM of Hsu et al.
// (2019), number by number on plain vectors.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "harness/simulation/checkpoint.hpp"
#include "harness/simulation/cohort.hpp"
#include "tests/conformance/federations.hpp"
#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

constexpr std::uint64_t kFedoptSeed = 17;
constexpr double kFedoptRate = 0.1;
constexpr std::int64_t kFedoptSteps = 4;
constexpr Key<Params> kMomentum{"momentum"};
constexpr Key<Params> kSquares{"squares"};

struct FedoptCase {
  std::string name;
  std::string algorithm;
  double server_rate = 0.1;
  double beta1 = 0.9, beta2 = 0.99, tau = 1e-3;
  bool by_examples = true;
  std::int64_t cohort_size = 5;

  Settings settings() const {
    Settings result{{"local_steps", kFedoptSteps},
                    {"batch_size", std::int64_t{0}},
                    {"rate", kFedoptRate},
                    {"server_rate", server_rate},
                    {"weighting", std::string(by_examples ? "examples" : "uniform")}};
    if (algorithm == "fedavgm") {
      result.emplace_back("server_momentum", beta1);
      return result;
    }
    result.insert(result.end(), {{"beta1", beta1}, {"tau", tau}});
    if (algorithm != "fedadagrad") result.emplace_back("beta2", beta2);
    return result;
  }
};

struct FedoptReference {
  const FedoptCase& wanted;
  Vector x;
  Vector m = Vector(x.size());
  Vector v = Vector(x.size(), wanted.tau* wanted.tau);

  void step(const Vector& delta) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double d = delta[i];
      if (wanted.algorithm == "fedavgm") {
        m[i] = wanted.beta1 * m[i] + d;
        x[i] += wanted.server_rate * m[i];
        continue;
      }
      m[i] = wanted.beta1 * m[i] + (1 - wanted.beta1) * d;
      if (wanted.algorithm == "fedadagrad") v[i] += d * d;
      if (wanted.algorithm == "fedadam") v[i] = wanted.beta2 * v[i] + (1 - wanted.beta2) * d * d;
      if (wanted.algorithm == "fedyogi") {
        const double sign = v[i] > d * d ? 1 : v[i] < d * d ? -1 : 0;
        v[i] -= (1 - wanted.beta2) * d * d * sign;
      }
      x[i] += wanted.server_rate * m[i] / (std::sqrt(v[i]) + wanted.tau);
    }
  }
};

class FedOptTrajectory : public ::testing::TestWithParam<FedoptCase> {};

TEST_P(FedOptTrajectory, FollowsThePaper) {
  const FedoptCase& wanted = GetParam();
  const QuadraticFederation federation = quadratic_federation({9, 30, 14, 6, 21});
  const Model model = linear_model_of(federation.dataset);
  TestRun run(federation.dataset, federation.partition, model,
              plugins().create(wanted.algorithm, wanted.settings()),
              {.seed = kFedoptSeed, .rounds = 12, .cohort_size = wanted.cohort_size});
  FedoptReference reference{wanted, run.values()};
  for (std::int64_t round = 1; round <= 12; ++round) {
    const auto cohort = choose_cohort(kFedoptSeed, round, federation.population(), wanted.cohort_size);
    const Vector averaged = average_round(
        federation, cohort, reference.x, wanted.by_examples, 1,
        [](const Quadratic& client, const Vector& start) { return descend(client, start, kFedoptRate, kFedoptSteps); });
    reference.step(averaged - reference.x);
    run->next_round();
    ASSERT_LE(length(run.values() - reference.x), 1e-10 * length(reference.x)) << "round " << round;
    const Checkpoint memory = unpack_checkpoint(run->save(), model);
    ASSERT_LE(length(values_of(memory.server_state[kMomentum]) - reference.m), 1e-10 * length(reference.m));
    ASSERT_EQ(memory.server_state.contains(kSquares.name), wanted.algorithm != "fedavgm");
    if (wanted.algorithm == "fedavgm") continue;
    ASSERT_LE(length(values_of(memory.server_state[kSquares]) - reference.v), 1e-10 * length(reference.v));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, FedOptTrajectory,
    ::testing::Values(FedoptCase{.name = "Momentum", .algorithm = "fedavgm"},
                      FedoptCase{.name = "MomentumServerRateOne", .algorithm = "fedavgm", .server_rate = 1},
                      FedoptCase{.name = "MomentumPartial", .algorithm = "fedavgm", .beta1 = 0.5, .cohort_size = 2},
                      FedoptCase{.name = "Adagrad", .algorithm = "fedadagrad", .beta1 = 0},
                      FedoptCase{.name = "AdagradWithMomentum", .algorithm = "fedadagrad", .cohort_size = 3},
                      FedoptCase{.name = "Adam", .algorithm = "fedadam"},
                      FedoptCase{.name = "AdamUniform", .algorithm = "fedadam", .by_examples = false},
                      FedoptCase{.name = "AdamPartial", .algorithm = "fedadam", .beta2 = 0.8, .cohort_size = 2},
                      FedoptCase{.name = "AdamLargeTau", .algorithm = "fedadam", .tau = 0.5},
                      FedoptCase{.name = "Yogi", .algorithm = "fedyogi"},
                      FedoptCase{.name = "YogiUniform", .algorithm = "fedyogi", .by_examples = false},
                      // Squares above and below those of the updates: both signs.
                      FedoptCase{.name = "YogiLargeTau", .algorithm = "fedyogi", .beta2 = 0.6, .tau = 0.1},
                      FedoptCase{.name = "YogiPartial", .algorithm = "fedyogi", .beta1 = 0.3, .cohort_size = 2}),
    [](const auto& info) { return info.param.name; });

TEST(FedAvgM, WithoutMomentumIsFedAvgToTheBit) {
  const Task task = image_task("mlp", {{"hidden", std::vector<std::int64_t>{9}}});
  const Settings common{{"local_epochs", 2}, {"batch_size", 16}, {"rate", 0.1}, {"momentum", 0.5}};
  for (const double server_rate : {1.0, 0.7}) {
    Settings plain = common;
    plain.emplace_back("server_rate", server_rate);
    Settings without = plain;
    without.emplace_back("server_momentum", 0.0);
    TestRun fedavg(task, "fedavg", plain, {.rounds = 4, .cohort_size = 3});
    TestRun fedavgm(task, "fedavgm", without, {.rounds = 4, .cohort_size = 3});
    for (int round = 0; round < 4; ++round) {
      fedavg->next_round();
      fedavgm->next_round();
      ASSERT_TRUE(same_bits(fedavg->params(), fedavgm->params()));
    }
  }
}

TEST(FedAdam, RefusesToStandStill) {
  for (const std::string algorithm : {"fedadagrad", "fedadam", "fedyogi"}) {
    try {
      plugins().create(algorithm, {{"beta1", 1.0}});
      FAIL() << algorithm << " was not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "beta1 = 1 never looks at an update (algorithm \"" + algorithm +
                                  "\" of plugin fedopt 1.0.0, in its constructor)");
    }
  }
}

// With a tau that dwarfs all updates, sqrt(v) + tau is 2 tau in every coordinate and a server rate of 2 tau
// gives the mean update back.
TEST(FedAdam, WithAHugeTauIsFedAvg) {
  const QuadraticFederation federation = quadratic_federation({9, 30, 14});
  const Model model = linear_model_of(federation.dataset);
  const Settings common{{"local_steps", std::int64_t{4}}, {"batch_size", std::int64_t{0}}, {"rate", 0.1}};
  const auto train = [&](const std::string& algorithm, Settings settings) {
    settings.insert(settings.end(), common.begin(), common.end());
    return TestRun(federation.dataset, federation.partition, model, plugins().create(algorithm, settings),
                   {.rounds = 5})
        .finish()
        .values();
  };
  const Vector expected = train("fedavg", {});
  for (const std::string algorithm : {"fedadagrad", "fedadam", "fedyogi"}) {
    Settings settings{{"beta1", 0.0}, {"tau", 1e7}, {"server_rate", 2e7}};
    if (algorithm != "fedadagrad") settings.emplace_back("beta2", 1.0);
    EXPECT_LE(length(train(algorithm, settings) - expected), 1e-12 * length(expected)) << algorithm;
  }
}

}  // namespace
}  // namespace fedarena
