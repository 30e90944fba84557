// SCAFFOLD on linear regressions against Algorithm 1 of Karimireddy et al. (ICML 2020), written out once more
// on plain vectors: local steps y <- y - rate (g(y) - c_k + c); option I c_k <- g(x); option II c_k <- c_k -
// c + (x - y) / (K rate); x <- x + server_rate mean(y - x); c <- c + (cohort / population) mean(change of
// c_k). With momentum, y <- y - rate v, v <- momentum v + g(y) - c_k + c, and option II c_k <- mean g(y).
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/simulation/checkpoint.hpp"
#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

constexpr double kLocalRate = 0.1;
constexpr Key<Params> kControl{"control"};

struct ScaffoldCase {
  std::string name;
  std::string option = "II";
  std::int64_t cohort_size = 5;
  std::int64_t steps = 5;
  double server_rate = 1;
  double momentum = 0;

  Settings settings() const {
    return {{"option", option},   {"local_steps", steps},       {"batch_size", 0},
            {"rate", kLocalRate}, {"server_rate", server_rate}, {"momentum", momentum}};
  }
  TestRunOptions options() const { return {.seed = 21, .rounds = 8, .cohort_size = cohort_size}; }
};

struct ScaffoldReference {
  const QuadraticFederation& federation;
  Vector control = Vector(federation.clients[0].slope.size());
  std::vector<Vector> controls = std::vector<Vector>(federation.clients.size(), control);

  Vector round(const Vector& x, const std::vector<std::int64_t>& cohort, const ScaffoldCase& wanted) {
    Vector moves(x.size()), changes(x.size());
    for (const std::int64_t k : cohort) {
      const auto index = static_cast<std::size_t>(k);
      const Quadratic& client = federation.clients[index];
      Vector y = x, velocity(x.size()), gradients(x.size());
      for (std::int64_t step = 0; step < wanted.steps; ++step) {
        gradients = gradients + client.gradient(y);
        velocity = wanted.momentum * velocity + client.gradient(y) - controls[index] + control;
        y = y - kLocalRate * velocity;
      }
      const double steps = static_cast<double>(wanted.steps);
      const Vector next = wanted.option == "I" ? client.gradient(x)
                          : wanted.momentum > 0
                              ? 1 / steps * gradients
                              : controls[index] - control + 1 / (steps * kLocalRate) * (x - y);
      moves = moves + (y - x);
      changes = changes + (next - controls[index]);
      controls[index] = next;
    }
    control = control + 1 / static_cast<double>(federation.clients.size()) * changes;
    return x + wanted.server_rate / static_cast<double>(cohort.size()) * moves;
  }
};

class ScaffoldTrajectory : public ::testing::TestWithParam<ScaffoldCase> {};

TEST_P(ScaffoldTrajectory, FollowsThePaper) {
  const ScaffoldCase& wanted = GetParam();
  const QuadraticFederation federation = quadratic_federation({9, 30, 14, 6, 21});
  ScaffoldReference reference{federation};
  expect_rounds(
      federation, "scaffold", wanted.settings(), wanted.options(),
      [&](const Vector& x, const std::vector<std::int64_t>& cohort, std::int64_t) {
        return reference.round(x, cohort, wanted);
      },
      [&](TestRun& run, const results::RoundRecord&, const Vector&) {
        const Checkpoint memory = unpack_checkpoint(run->save(), *federation.task.model);
        ASSERT_LE(length(numbers_of(memory.server_state[kControl]) - reference.control),
                  1e-10 * (1 + length(reference.control)));
      });
}

INSTANTIATE_TEST_SUITE_P(
    Settings, ScaffoldTrajectory,
    ::testing::Values(
        ScaffoldCase{.name = "OptionI", .option = "I"}, ScaffoldCase{.name = "OptionII"},
        ScaffoldCase{.name = "OptionIPartial", .option = "I", .cohort_size = 2},
        ScaffoldCase{.name = "OptionIIPartial", .cohort_size = 2},
        ScaffoldCase{.name = "OptionIIOneClient", .cohort_size = 1},
        ScaffoldCase{.name = "OptionIServerRate", .option = "I", .cohort_size = 3, .server_rate = 0.6},
        ScaffoldCase{.name = "OptionIIServerRate", .cohort_size = 3, .server_rate = 0.6},
        ScaffoldCase{.name = "OptionIMomentum", .option = "I", .cohort_size = 3, .momentum = 0.9},
        ScaffoldCase{.name = "OptionIIMomentum", .cohort_size = 3, .momentum = 0.9},
        ScaffoldCase{.name = "OptionIOneStep", .option = "I", .steps = 1},
        ScaffoldCase{.name = "OptionIIOneStep", .cohort_size = 4, .steps = 1}),
    [](const auto& info) { return info.param.name; });

// Where hardly anybody moves, the mean of the local gradients is the gradient at the global model, and the
// way is rounding.
TEST(Scaffold, BearsASchedulesLastRates) {
  const QuadraticFederation federation = quadratic_federation({9, 30, 14});
  for (const double last : {0.0, 1e-300, 1e-12}) {
    TestRun run(federation.task, "scaffold",
                {{"local_steps", 4}, {"batch_size", 0}, {"schedule", "cosine"}, {"minimum_rate", last}},
                {.rounds = 3});
    run->next_round();
    run->next_round();
    const Vector x = run.values();
    run->next_round();
    EXPECT_LE(length(run.values() - x), 1e2 * last);
    Vector mean(x.size());
    for (const Quadratic& client : federation.clients) mean = mean + 1.0 / 3 * client.gradient(x);
    const Checkpoint memory = unpack_checkpoint(run->save(), *federation.task.model);
    EXPECT_LE(length(numbers_of(memory.server_state[kControl]) - mean), 1e-9 * length(mean)) << last;
  }
}

// While all controls are zero, SCAFFOLD makes FedAvg's local steps.
TEST(Scaffold, BeginsWithARoundOfUniformFedAvg) {
  const Task task = quadratic_federation({9, 30, 14}).task;
  const Settings common{{"local_steps", 4}, {"batch_size", 5}, {"rate", kLocalRate}};
  const Vector expected = trained(task, "fedavg", joined(common, {{"weighting", "uniform"}}), {.rounds = 1});
  EXPECT_LE(length(trained(task, "scaffold", common, {.rounds = 1}) - expected), 1e-14 * length(expected));
}

// The promise of the paper: no client drift. FedAvg with the same settings stops elsewhere.
TEST(Scaffold, ReachesTheOptimumWhereFedAvgDoesNot) {
  const QuadraticFederation federation = quadratic_federation({9, 30, 14});
  const Vector optimum = federation.optimum(false);
  const auto distance = [&](const std::string& algorithm, const Settings& more) {
    const Settings settings = joined({{"local_steps", 10}, {"batch_size", 0}, {"rate", 0.08}}, more);
    const Vector reached =
        trained(federation.task, algorithm, settings, {.rounds = 400, .evaluate_every = 5000});
    return length(reached - optimum) / length(optimum);
  };
  for (const char* option : {"I", "II"}) {
    for (const double momentum : {0.0, 0.9}) {
      EXPECT_LE(distance("scaffold", {{"option", option}, {"momentum", momentum}}), 1e-10) << option;
    }
  }
  EXPECT_GE(distance("fedavg", {{"weighting", "uniform"}}), 1e-2);
}

}  // namespace
}  // namespace fedarena
