// Server optimisers on linear regressions: Algorithm 2 of Reddi et al. (ICLR 2021) and FedAvgM of Hsu et al.
// (2019), number by number on plain vectors.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "harness/simulation/checkpoint.hpp"
#include "tests/conformance/quadratics.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

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
    Settings result{{"local_steps", 4},
                    {"batch_size", 0},
                    {"rate", 0.1},
                    {"server_rate", server_rate},
                    {"weighting", by_examples ? "examples" : "uniform"}};
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
  Vector m;
  Vector v = Vector(m.size(), wanted.tau* wanted.tau);

  Vector step(Vector x, const Vector& delta) {
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
    return x;
  }
};

class FedOptTrajectory : public ::testing::TestWithParam<FedoptCase> {};

TEST_P(FedOptTrajectory, FollowsThePaper) {
  const FedoptCase& wanted = GetParam();
  const QuadraticFederation federation = quadratic_federation({9, 30, 14, 6, 21});
  FedoptReference reference{wanted, Vector(federation.clients[0].slope.size())};
  expect_rounds(
      federation, wanted.algorithm, wanted.settings(),
      {.seed = 17, .rounds = 12, .cohort_size = wanted.cohort_size},
      [&](const Vector& x, const std::vector<std::int64_t>& cohort, std::int64_t) {
        const Vector averaged = average_round(
            federation, cohort, x, wanted.by_examples, 1,
            [](const Quadratic& client, const Vector& start) { return descend(client, start, 0.1, 4); });
        return reference.step(x, averaged - x);
      },
      [&](TestRun& run, const results::RoundRecord&, const Vector&) {
        const Checkpoint memory = unpack_checkpoint(run->save(), *federation.task.model);
        ASSERT_LE(length(numbers_of(memory.server_state[kMomentum]) - reference.m),
                  1e-10 * length(reference.m));
        ASSERT_EQ(memory.server_state.contains(kSquares.name), wanted.algorithm != "fedavgm");
        if (wanted.algorithm == "fedavgm") return;
        ASSERT_LE(length(numbers_of(memory.server_state[kSquares]) - reference.v),
                  1e-10 * length(reference.v));
      });
}

INSTANTIATE_TEST_SUITE_P(
    Settings, FedOptTrajectory,
    ::testing::Values(
        FedoptCase{.name = "Momentum", .algorithm = "fedavgm"},
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
  for (const double server_rate : {1.0, 0.7}) {
    const Settings plain{{"local_epochs", 2},
                         {"batch_size", 16},
                         {"rate", 0.1},
                         {"momentum", 0.5},
                         {"server_rate", server_rate}};
    expect_same_rounds(task, {.rounds = 4, .cohort_size = 3}, "fedavg", plain, "fedavgm",
                       joined(plain, {{"server_momentum", 0.0}}));
  }
}

TEST(FedAdam, RefusesToStandStill) {
  for (const std::string algorithm : {"fedadagrad", "fedadam", "fedyogi"}) {
    EXPECT_EQ(test::message_of([&] {
                plugins().create(algorithm, {{"beta1", 1.0}});
              }),
              "beta1 = 1 never looks at an update (algorithm \"" + algorithm +
                  "\" of plugin fedopt 1.0.0, in its constructor)");
  }
}

}  // namespace
}  // namespace fedarena
