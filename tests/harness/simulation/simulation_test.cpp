#include "harness/simulation/simulation.hpp"

#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

#include "harness/simulation/checkpoint.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

class SimulationTest : public SmallRuns<ScriptedSgd> {
 protected:
  SimulationTest() : SmallRuns({3, 1, 6}) {}
  SimulationSetup setup() const { return setup_on(pool, 5, 3); }
};

TEST_F(SimulationTest, ShowsTheAlgorithmItsRun) {
  std::set<std::int64_t> clients;
  algorithm.steps = 0;
  algorithm.on_train = [&](Client& client) {
    clients.insert(client.id);
    EXPECT_EQ(client.round, 1);
    EXPECT_EQ(client.rounds, 5);
    EXPECT_EQ(client.oracle.size(),
              static_cast<std::int64_t>(partition[static_cast<std::size_t>(client.id)].size()));
    Stream mine = client.streams(Purpose::kAlgorithm);
    EXPECT_EQ(mine(), Stream({.seed = 4, .round = 1, .client = client.id, .purpose = Purpose::kAlgorithm})());
  };
  algorithm.on_aggregate = [&](Server& server, const Uplink& uplink) {
    EXPECT_EQ(server.round, 1);
    EXPECT_EQ(server.rounds, 5);
    EXPECT_EQ(server.population, 3);
    EXPECT_EQ(uplink.size(), 3);
  };
  Simulation simulation(setup());
  EXPECT_EQ(algorithm.starts, 1);
  const results::RoundRecord record = simulation.next_round();
  EXPECT_EQ(clients, (std::set<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(record.round, 1);
  EXPECT_EQ(record.clients, 3);
  EXPECT_EQ(record.examples, 0);
  EXPECT_EQ(simulation.rounds_done(), 1);
}

TEST_F(SimulationTest, ScoresTheGlobalModelOnTheTestExamples) {
  Simulation simulation(setup());
  const results::RoundRecord record = simulation.next_round();
  const torch::Tensor outputs = model.forward(simulation.params(), dataset.test.inputs);
  EXPECT_NEAR(*record.test_loss, model.losses(outputs, dataset.test.targets).mean().item<double>(), 1e-14);
  EXPECT_DOUBLE_EQ(*record.test_accuracy,
                   outputs.argmax(1).eq(dataset.test.targets).to(torch::kFloat64).mean().item<double>());
}

TEST_F(SimulationTest, RemembersWhatClientsRemember) {
  FinishedRun simulation(setup_on(pool, 5, 1));
  const Checkpoint memory = unpack_checkpoint(simulation.save(), model);
  std::int64_t visits = 0;
  for (const auto& [client, state] : memory.client_states.held)
    visits += decode(*state, model.layout())[kVisits];
  EXPECT_EQ(visits, 5);
  EXPECT_EQ(memory.server_state[kVisits], 5);
}

TEST_F(SimulationTest, KeepsNothingOfARoundThatFails) {
  BegunRun simulation(setup(), 1);
  const Bytes before = simulation.save();
  algorithm.on_train = [](Client& client) {
    (void)client.oracle.exact_batch();
    client.state.put(kVisits, std::int64_t{100});
    if (client.id == 1) throw std::runtime_error("in train");
  };
  EXPECT_THROW(simulation.next_round(), std::runtime_error);
  EXPECT_EQ(simulation.save(), before);
  algorithm.on_train = {};
  algorithm.on_aggregate = [](Server& server, const Uplink&) {
    server.params *= 0;
    server.state.put(kVisits, std::int64_t{-1});
    throw std::runtime_error("in aggregate");
  };
  EXPECT_THROW(simulation.next_round(), std::runtime_error);
  EXPECT_EQ(simulation.save(), before);
  EXPECT_EQ(simulation.rounds_done(), 1);
  algorithm.on_aggregate = {};
  EXPECT_EQ(simulation.next_round().round, 2);
}

TEST_F(SimulationTest, ReportsEachClientThatIsDone) {
  std::mutex mutex;
  std::multiset<std::int64_t> done;
  SimulationSetup watched = setup();
  watched.on_client = [&](std::int64_t clients_done, std::int64_t clients) {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(clients, 3);
    done.insert(clients_done);
  };
  BegunRun simulation(watched, 1);
  EXPECT_EQ(done, (std::multiset<std::int64_t>{1, 2, 3}));
}

std::string restoring_refusal(Simulation& simulation, const Bytes& bytes) {
  const Bytes before = simulation.save();
  std::string message = message_of([&] { simulation.restore(bytes); });
  EXPECT_EQ(simulation.save(), before);
  return message;
}

TEST_F(SimulationTest, RefusesForeignCheckpointsAndStaysAsItWas) {
  FinishedRun simulation(setup());
  const Bytes bytes = simulation.save();

  BegunRun brief(setup_on(pool, 4, 3), 1);
  EXPECT_EQ(restoring_refusal(brief, bytes), "the checkpoint is of round 5, this run has 4 rounds");

  const Partition dealt_otherwise{{0, 1}, {2, 3}, {4, 5, 6, 7, 8, 9}}, fewer{{0, 1, 2}, {3}};
  const Partition mine = partition;
  for (const Partition& other : {dealt_otherwise, fewer}) {
    partition = other;
    Simulation foreign(setup_on(pool, 5, 2));
    EXPECT_THAT(restoring_refusal(foreign, bytes), HasSubstr("of another partition"));
  }
  partition = mine;

  Checkpoint spoilt = unpack_checkpoint(bytes, model);
  spoilt.ledger = "{}";
  EXPECT_NE(restoring_refusal(simulation, pack_checkpoint(spoilt)), "");
  EXPECT_NO_THROW(simulation.restore(bytes));
}

}  // namespace
}  // namespace fedarena
