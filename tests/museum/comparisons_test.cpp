// Exhibit 13: one algorithm that runs on other data, other seeds or more trials than the others.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "harness/runner/cell_setup.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "results/table/table.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/sdk/numbers_of.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

Experiment parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return grid_of(text, overrides).front().experiment;
}

// Lines below the last algorithm, DP-FedProx.
TEST(EqualConditions, CannotBeLeftByOneAlgorithm) {
  const std::string text = experiment_text();
  const auto next_line = std::to_string(std::count(text.begin(), text.end(), '\n') + 1);
  for (const std::string key :
       {"seed = 0", "seeds = [0]", "rounds = 60", "partition = \"iid\"", "partition.kind = \"iid\"",
        "data.name = \"mnist\"", "cohort.size = 2", "model.name = \"convnet\"", "evaluation.every = 1"}) {
    const std::string message = message_of([&] { parse(text + key + "\n"); });
    EXPECT_THAT(message, StartsWith("museum.toml:" + next_line + ":1: unknown key")) << key;
    EXPECT_THAT(message, HasSubstr("in [[algorithms]]")) << key;
  }
  const std::string override_text = "algorithms.dp-fedprox.seeds=[0]";
  expect_refused(StartsWith("--set " + override_text), [&] { parse(text, {override_text}); });
}

// An option of a command line that got lost on the way would have run FedProx as something else.
TEST(EqualConditions, AreNotChangedByAKeyThatNobodyReads) {
  expect_refused("unknown key", [] { parse(experiment_text(), {"training.partition=iid"}); });
  expect_refused("unknown key \"mu\"", [] { parse(experiment_text(), {"algorithms.dp-fedavg.mu=1"}); });
}

TEST(EqualConditions, HoldInEveryCell) {
  std::map<std::int64_t, Experiment> of_seeds;
  for (const PlannedCell& cell : plan_cells({GridPoint{{}, {}, parse(experiment_text())}})) {
    Experiment experiment = cell.experiment();
    ASSERT_EQ(experiment.algorithms, std::vector{*cell.algorithm});
    experiment.algorithms.clear();
    EXPECT_EQ(of_seeds.emplace(cell.seed, experiment).first->second, experiment);
  }
  EXPECT_GT(of_seeds.size(), 1U);
}

// A trial is an entry with a label, and each label is a row of the table: the best of four cannot stand in
// for one.
TEST(Trials, AreRowsOfTheirOwn) {
  const std::string second = "\n[[algorithms]]\nname = \"dp-fedprox\"\nmu = 1\n";
  expect_refused("dp-fedprox", [&] { parse(experiment_text() + second); });
  const Experiment experiment = parse(experiment_text() + second + "label = \"dp-fedprox-mu-1\"\n");
  EXPECT_EQ(experiment.algorithms.size(), 3U);
}

TEST(EqualConditions, AreMetByWhateverAlgorithmRuns) {
  const Federation federation({8, 8, 8, 8, 8, 8});
  const auto met = [&](double rate) {
    std::mutex mutex;
    std::set<std::pair<std::int64_t, std::int64_t>> cohorts;
    const Exhibit algorithm([&](Client& client, const Params& start) {
      const std::lock_guard lock(mutex);
      cohorts.emplace(client.round, client.id);
      return sgd(2, 4, rate)(client, start);
    });
    SimulationSetup setup = federation.setup(algorithm, NoPolicy{}, 10);
    setup.cohort_size = 2;
    Simulation simulation(setup);
    const Params initial = simulation.params();
    while (!simulation.finished()) simulation.next_round();
    return std::pair(cohorts, numbers_of(initial));
  };
  EXPECT_EQ(met(0.01), met(0.5));
}

// Exhibit 19: rows of one table whose noise is that of the seed, so that their difference has none.
TEST(RowsOfATable, HaveNoiseOfTheirOwn) {
  constexpr double kSecret = 0.01;  // what each client adds to each weight; far below the clip norm in all
  const std::vector<PlannedCell> rows = plan_cells(grid_of(experiment_text()), {"seed-1"});
  ASSERT_EQ(rows.size(), 2U);
  const Federation federation({1, 1, 1, 1}, {Linear{3, 100}, Linear{100, 2}});
  ClientPolicy policy;
  policy.sampling = kWithoutReplacement;
  SharedInputs inputs;
  const auto published = [&](const PlannedCell& noise_of, double update) {
    const Exhibit algorithm([=](Client&, const Params& start) {
      Params trained = start;
      trained.flat().add_(update);
      return trained;
    });
    SimulationSetup setup = federation.setup(algorithm, policy);
    setup.cell = noise_identity(noise_of, inputs, "p 1.0.0");
    Simulation simulation(setup);
    const torch::Tensor start = simulation.params().flat().clone();
    simulation.next_round();
    return simulation.params().flat() - start;
  };
  const torch::Tensor first = published(rows[0], 0);
  const torch::Tensor sharing = published(rows[0], kSecret) - first;
  EXPECT_LE((sharing - kSecret).abs().max().item<double>(), 1e-12);

  const torch::Tensor noise = published(rows[1], kSecret) - first - kSecret;
  const auto weights = static_cast<double>(noise.numel());
  const double deviation = policy.noise_multiplier.number() * policy.clip_norm / 4;
  EXPECT_GT(noise.square().sum().item<double>() / (2 * deviation * deviation),
            weights - kNormalBound * std::sqrt(2 * weights));
}

// The same of one text over a file whose content was changed between two runs.
class RowsOverFiles : public ::testing::Test {
 protected:
  // A table of 40 examples; the first has this label.
  void write(const std::string& first_label) const {
    std::string text = "x,label\n0.5," + first_label + "\n";
    for (int i = 1; i < 40; ++i) text += fmt::format("{},{}\n", 0.25 * i, i % 3 == 0 ? "a" : "b");
    scratch.write("rows.csv", text);
  }
  std::vector<GridPoint> grid() const {
    std::string text = experiment_text("noise_multiplier = 1000.0\n");
    const auto replace = [&](const std::string& what, const std::string& by) {
      text.replace(text.find(what), what.size(), by);
    };
    replace("name = \"glyphs\"", fmt::format("name = \"csv\"\npath = \"{}\"\ntarget = \"label\"",
                                             (scratch / "rows.csv").string()));
    replace("kind = \"classes\"\nclients = 5\nclasses_per_client = 2", "kind = \"iid\"\nclients = 1");
    return grid_of(text);
  }

  const Scratch scratch;
};

TEST_F(RowsOverFiles, HaveNoiseOfTheirOwnWhereAnExampleDiffers) {
  const PlannedCell row = plan_cells(grid(), {"seed-1"}).front();
  const WorkPool pool(2, use_one_torch_thread);
  const std::atomic<bool> stop = false;
  const auto algorithm = plugins().create(row.algorithm->name, row.algorithm->settings);
  const auto published = [&](const std::string& first_label, std::optional<std::uint64_t> noise) {
    write(first_label);
    SharedInputs inputs;
    const auto dealt = inputs.dealt(row.point->experiment, row.seed);
    SimulationSetup setup = cell_setup(row, *dealt, *algorithm, {plugins(), inputs, pool, stop});
    setup.cell = noise.value_or(setup.cell);
    Simulation simulation(setup);
    simulation.next_round();
    return simulation.params().flat().clone();
  };
  const double sharing = (published("a", 1) - published("b", 1)).norm().item<double>();
  const double own = (published("a", {}) - published("b", {})).norm().item<double>();
  EXPECT_GT(own, 10 * sharing);
  EXPECT_TRUE(torch::equal(published("a", {}), published("a", {})));
}

TEST_F(RowsOverFiles, HaveNoiseOfTheirOwnWhereThePluginsVersionDiffers) {
  write("a");
  const PlannedCell row = plan_cells(grid()).front();
  const PlannedCell of_glyphs = plan_cells(grid_of(experiment_text())).front();
  SharedInputs inputs;
  EXPECT_EQ(noise_identity(row, inputs, "p 1.0.0"), noise_identity(row, inputs, "p 1.0.0"));
  EXPECT_NE(noise_identity(row, inputs, "p 1.0.0"), noise_identity(row, inputs, "p 1.0.1"));
  // Data that the program draws hold nobody.
  EXPECT_EQ(noise_identity(of_glyphs, inputs, "p 1.0.0"), noise_identity(of_glyphs, inputs, "p 1.0.1"));
}

// Exhibit 14: test examples among the clients' examples, and the best round on the test examples as result.

TEST(TestExamples, AreNeverDealtToClients) {
  constexpr double kMark = 1'000;
  Federation federation({30, 20, 10});
  federation.dataset.test.inputs.add_(kMark);
  std::mutex mutex;
  std::int64_t seen = 0, marked = 0;
  const Exhibit algorithm([&](Client& client, const Params& start) {
    const Batch batch = client.oracle.exact_batch();
    const std::lock_guard lock(mutex);
    seen += batch.size();
    marked += batch.inputs.gt(kMark / 2).any(1).sum().item<std::int64_t>();
    return start;
  });
  Simulation simulation(federation.setup(algorithm, NoPolicy{}));
  simulation.next_round();
  EXPECT_EQ(seen, federation.dataset.train.size());
  EXPECT_EQ(marked, 0);
}

// A model that knows the answer in the second round, and denies it from the third.
TEST(Tables, PrintTheLastRoundNotTheBest) {
  const Federation federation({4});
  const Exhibit algorithm({}, [](Server& server, const Uplink&) {
    server.params *= 0;
    // The weight of the first feature, whose sign is the label, for the second class.
    const std::vector<double> weight_in_round{0, 1, -1, -1};
    server.params[0][1][0] = weight_in_round[static_cast<std::size_t>(server.round - 1)];
  });
  SimulationSetup setup = federation.setup(algorithm, NoPolicy{}, 4);
  setup.evaluate_every = 1;
  Simulation simulation(setup);
  const Scratch scratch;
  const results::RunDirectory run = record(scratch / "run", simulation, 4, "forgetful", "none");
  EXPECT_EQ(run.rounds().at(1).test_accuracy, 1);
  EXPECT_EQ(run.rounds().at(3).test_accuracy, 0);
  EXPECT_EQ(run.summary().final_test_accuracy, 0);
  const std::vector<std::filesystem::path> paths{run.path()};
  const results::Table table = results::make_table(results::find_runs(paths));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].last.spread.mean, 0);
}

}  // namespace
}  // namespace fedarena
