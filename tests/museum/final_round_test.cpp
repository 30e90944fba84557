// Exhibit 14: test examples among the clients' examples, and the best round on the test examples as result.
#include <filesystem>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "results/table/table.hpp"
#include "tests/museum/exhibits.hpp"
#include "tests/museum/recorded_run.hpp"

namespace fedarena {
namespace {

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
  EXPECT_EQ(table.rows[0].accuracy_mean, 0);
}

}  // namespace
}  // namespace fedarena
