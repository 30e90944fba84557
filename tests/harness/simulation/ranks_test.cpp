// Simulations on several ranks: what goes between them.
#include "tests/harness/ranks/threads_as_ranks.hpp"
#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {
namespace {

struct Served {
  explicit Served(const SimulationSetup& setup) : simulation(setup), worker(simulation.worker()) {}
  Simulation simulation;
  Worker worker;
};

class RanksOfASimulation : public SmallRuns<ScriptedSgd>, public testing::WithParamInterface<int> {
 protected:
  RanksOfASimulation() : SmallRuns({40, 40, 40, 40, 40, 40}) {}

  SimulationSetup setup_with(const WorkPool& workers, Crew* crew = nullptr) const {
    return {.dataset = dataset,
            .partition = partition,
            .model = wide_,
            .algorithm = algorithm,
            .pool = workers,
            .stop = stop,
            .seed = 4,
            .rounds = 4,
            .cohort_size = 6,
            .crew = crew};
  }
  void work(Ranks& ranks) const {
    const WorkPool one(1, use_one_torch_thread);
    serve(ranks, one, "build", [&](const RunRequest&) {
      const auto served = std::make_shared<Served>(setup_with(one));
      return std::shared_ptr<const Worker>(served, &served->worker);
    });
  }

  const Model wide_{{.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 5000}, Relu{}, Linear{5000, 2}}},
                    torch::kFloat32};
};

INSTANTIATE_TEST_SUITE_P(Ranks, RanksOfASimulation, testing::Values(2, 3));

// What a round and its test must send: the model twice to each rank, and the messages of clients elsewhere.
TEST_P(RanksOfASimulation, SendOnePercentMoreThanMessages) {
  const int count = GetParam();
  const WorkPool one(1, use_one_torch_thread);
  test::ThreadsAsRanks ranks(count, [&](Ranks& rank) { work(rank); });
  Crew crew(ranks.first(), one, "build");
  crew.begin("the run");
  Simulation shared(setup_with(one, &crew)), alone(setup_with(one));
  double due = 0;
  while (!shared.finished()) {
    const results::RoundRecord round = shared.next_round();
    EXPECT_EQ(round.uplink_bytes, alone.next_round().uplink_bytes);
    const auto clients = static_cast<double>(round.clients), others = static_cast<double>(count - 1);
    due += 2 * others * static_cast<double>(round.downlink_bytes) / clients +
           others / count * static_cast<double>(round.uplink_bytes);
  }
  crew.end();
  EXPECT_TRUE(torch::equal(shared.params().flat(), alone.params().flat()));
  EXPECT_GT(static_cast<double>(ranks.bytes()), due);
  EXPECT_LT(static_cast<double>(ranks.bytes()), 1.01 * due);
}

}  // namespace
}  // namespace fedarena
