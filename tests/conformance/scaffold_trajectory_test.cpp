// SCAFFOLD on linear regressions against Algorithm 1 of Karimireddy et al. (ICML 2020), written out once more
// on plain vectors: local steps y <- y - rate (g(y) - c_k + c); option I c_k <- g(x); option II c_k <- c_k -
// c + (x - y) / (K rate); x <- x + server_rate mean(y - x); c <- c + (cohort / population) mean(change of
// c_k). With momentum, y <- y - rate v, v <- momentum v + g(y) - c_k + c, and option II c_k <- mean g(y).
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/simulation/checkpoint.hpp"
#include "harness/simulation/cohort.hpp"
#include "tests/conformance/federations.hpp"
#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

constexpr std::uint64_t kScaffoldSeed = 21;
constexpr double kScaffoldRate = 0.1;
constexpr Key<Params> kControl{"control"};

struct ScaffoldCase {
  std::string name;
  std::string option = "II";
  std::int64_t cohort_size = 5;
  std::int64_t steps = 5;
  double server_rate = 1;
  double momentum = 0;
};

Settings scaffold_settings_of(const ScaffoldCase& wanted) {
  return {{"option", wanted.option}, {"local_steps", wanted.steps},       {"batch_size", std::int64_t{0}},
          {"rate", kScaffoldRate},           {"server_rate", wanted.server_rate}, {"momentum", wanted.momentum}};
}

struct ScaffoldReference {
  const QuadraticFederation& federation;
  Vector x;
  Vector control = Vector(x.size());
  std::vector<Vector> controls = std::vector<Vector>(federation.clients.size(), Vector(x.size()));

  void round(const std::vector<std::int64_t>& cohort, const ScaffoldCase& wanted) {
    Vector moves(x.size()), changes(x.size());
    for (const std::int64_t k : cohort) {
      const auto index = static_cast<std::size_t>(k);
      const Quadratic& client = federation.clients[index];
      Vector y = x, velocity(x.size()), gradients(x.size());
      for (std::int64_t step = 0; step < wanted.steps; ++step) {
        gradients = gradients + client.gradient(y);
        velocity = wanted.momentum * velocity + client.gradient(y) - controls[index] + control;
        y = y - kScaffoldRate * velocity;
      }
      const double steps = static_cast<double>(wanted.steps);
      const Vector next = wanted.option == "I"  ? client.gradient(x)
                          : wanted.momentum > 0 ? 1 / steps * gradients
                                                : controls[index] - control + 1 / (steps * kScaffoldRate) * (x - y);
      moves = moves + (y - x);
      changes = changes + (next - controls[index]);
      controls[index] = next;
    }
    x = x + wanted.server_rate / static_cast<double>(cohort.size()) * moves;
    control = control + 1 / static_cast<double>(federation.clients.size()) * changes;
  }
};

class ScaffoldTrajectory : public ::testing::TestWithParam<ScaffoldCase> {};

TEST_P(ScaffoldTrajectory, FollowsThePaper) {
  const ScaffoldCase& wanted = GetParam();
  const QuadraticFederation federation = quadratic_federation({9, 30, 14, 6, 21});
  const Model model = linear_model_of(federation.dataset);
  TestRun run(federation.dataset, federation.partition, model,
              plugins().create("scaffold", scaffold_settings_of(wanted)),
              {.seed = kScaffoldSeed, .rounds = 8, .cohort_size = wanted.cohort_size});
  ScaffoldReference reference{federation, run.values()};
  for (std::int64_t round = 1; round <= 8; ++round) {
    reference.round(choose_cohort(kScaffoldSeed, round, federation.population(), wanted.cohort_size), wanted);
    run->next_round();
    ASSERT_LE(length(run.values() - reference.x), 1e-10 * length(reference.x)) << "round " << round;
    const Checkpoint memory = unpack_checkpoint(run->save(), model);
    ASSERT_LE(length(values_of(memory.server_state[kControl]) - reference.control),
              1e-10 * (1 + length(reference.control)));
  }
}

// The server's control variate is at all times the mean of all clients' ones, those that never took part
// included with zero; five published re-implementations broke this under partial participation.
TEST_P(ScaffoldTrajectory, KeepsTheServersControlTheMeanOfAllClients) {
  const ScaffoldCase& wanted = GetParam();
  const QuadraticFederation federation = quadratic_federation({9, 30, 14, 6, 21});
  const Model model = linear_model_of(federation.dataset);
  TestRun run(federation.dataset, federation.partition, model,
              plugins().create("scaffold", scaffold_settings_of(wanted)),
              {.seed = kScaffoldSeed, .rounds = 8, .cohort_size = wanted.cohort_size});
  while (!run->finished()) {
    const Checkpoint memory = unpack_checkpoint(run->save(), model);
    Vector sum(run.values().size());
    for (const auto& [client, state] : memory.client_states.held)
      sum = sum + values_of(decode(*state, model.layout())[kControl]);
    const Vector mean = 1 / static_cast<double>(federation.population()) * sum;
    ASSERT_LE(length(values_of(memory.server_state[kControl]) - mean), 1e-12 * (1 + length(mean)));
    run->next_round();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, ScaffoldTrajectory,
    ::testing::Values(ScaffoldCase{.name = "OptionI", .option = "I"}, ScaffoldCase{.name = "OptionII"},
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

TEST(Scaffold, StartsWithZeroControlVariates) {
  const QuadraticFederation federation = quadratic_federation({9, 30});
  const Model model = linear_model_of(federation.dataset);
  TestRun run(federation.dataset, federation.partition, model, plugins().create("scaffold", {}), {});
  const Checkpoint memory = unpack_checkpoint(run->save(), model);
  EXPECT_EQ(norm(memory.server_state[kControl]), 0);
  EXPECT_TRUE(memory.client_states.held.empty());
}

// While all controls are zero, SCAFFOLD makes FedAvg's local steps.
TEST(Scaffold, BeginsWithARoundOfUniformFedAvg) {
  const QuadraticFederation federation = quadratic_federation({9, 30, 14});
  const Model model = linear_model_of(federation.dataset);
  const Settings common{{"local_steps", std::int64_t{4}}, {"batch_size", std::int64_t{5}}, {"rate", kScaffoldRate}};
  Settings uniform = common;
  uniform.emplace_back("weighting", "uniform");
  TestRun fedavg(federation.dataset, federation.partition, model, plugins().create("fedavg", uniform),
                 {.rounds = 1});
  TestRun scaffold(federation.dataset, federation.partition, model, plugins().create("scaffold", common),
                   {.rounds = 1});
  const Vector expected = fedavg.finish().values();
  EXPECT_LE(length(scaffold.finish().values() - expected), 1e-14 * length(expected));
}

// The promise of the paper: no client drift. FedAvg with the same settings stops elsewhere.
TEST(Scaffold, ReachesTheOptimumWhereFedAvgDoesNot) {
  const QuadraticFederation federation = quadratic_federation({9, 30, 14});
  const Model model = linear_model_of(federation.dataset);
  const std::size_t size = federation.clients[0].slope.size();
  Matrix all = zero_matrix(size, size);
  Vector slope(size);
  for (const Quadratic& client : federation.clients) {
    all = all + client.hessian;
    slope = slope + client.slope;
  }
  const Vector optimum = solve(all, slope);
  const auto distance = [&](const std::string& algorithm, Settings settings) {
    settings.insert(settings.end(),
                    {{"local_steps", std::int64_t{10}}, {"batch_size", std::int64_t{0}}, {"rate", 0.08}});
    TestRun run(federation.dataset, federation.partition, model, plugins().create(algorithm, settings),
                {.rounds = 400, .evaluate_every = 5000});
    return length(run.finish().values() - optimum) / length(optimum);
  };
  EXPECT_LE(distance("scaffold", {{"option", "I"}}), 1e-10);
  EXPECT_LE(distance("scaffold", {{"option", "II"}}), 1e-10);
  EXPECT_LE(distance("scaffold", {{"option", "I"}, {"momentum", 0.9}}), 1e-10);
  EXPECT_LE(distance("scaffold", {{"option", "II"}, {"momentum", 0.9}}), 1e-10);
  EXPECT_GE(distance("fedavg", {{"weighting", "uniform"}}), 1e-2);
}

}  // namespace
}  // namespace fedarena
