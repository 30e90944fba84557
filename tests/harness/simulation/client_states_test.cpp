#include "harness/simulation/client_states.hpp"

#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

#include "harness/simulation/checkpoint.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/file_size_limit.hpp"
#include "tests/scratch.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;
using State = ClientStates::State;

State state_of(std::size_t size, int fill) {
  return std::make_shared<const Bytes>(size, static_cast<std::byte>(fill));
}

// What each client has: the number that fills its state; -1 for none.
std::vector<int> fills(const ClientStates& states, std::int64_t clients) {
  std::vector<int> result;
  for (std::int64_t client = 0; client < clients; ++client) {
    const State found = states.get(client);
    result.push_back(found == nullptr ? -1 : static_cast<int>(found->front()));
  }
  return result;
}

class ClientStatesTest : public ::testing::Test {
 protected:
  ClientStates states_within(std::int64_t bytes) const {
    return ClientStates({.memory = bytes, .file = path});
  }
  test::Scratch scratch;
  const fs::path path = scratch / "states.bin";
};

TEST_F(ClientStatesTest, StayInMemoryUpToTheLimit) {
  ClientStates states = states_within(25);
  states.put({{4, state_of(10, 1)}, {2, state_of(10, 2)}});
  states.put({{4, state_of(15, 3)}});  // 25 bytes: what it replaces is gone
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(states.content().held.size(), 2U);
  states.put({{1, state_of(1, 4)}});
  EXPECT_TRUE(fs::exists(path));
  EXPECT_TRUE(states.content().held.empty());
  EXPECT_EQ(states.content().filed.size(), 3U);
  EXPECT_EQ(fills(states, 6), (std::vector<int>{-1, 4, 2, -1, 3, -1}));
}

// A run directory that somebody else made may hold one.
TEST_F(ClientStatesTest, AreNotWrittenThroughALink) {
  const fs::path victim = scratch.write("victim", "precious");
  fs::create_symlink(victim, path);
  ClientStates states = states_within(5);
  states.put({{0, state_of(10, 1)}});
  EXPECT_EQ(fills(states, 1), std::vector<int>{1});
  EXPECT_EQ(test::content_of(victim), "precious");
  fs::rename(path, victim);
  fs::create_symlink(victim, path);
  ClientStates restored = states_within(5);
  expect_refused("states.bin: is a symbolic link", [&] { restored.restore(states.content()); });
}

TEST_F(ClientStatesTest, StayInMemoryWithoutAFile) {
  ClientStates states(ClientStates::Room{.memory = 0, .file = {}});
  states.put({{0, state_of(10, 1)}});
  EXPECT_EQ(states.content().held.size(), 1U);
  EXPECT_THROW(states.restore({.held = {}, .filed = {{0, {0, 10, 0}}}}), Error);
  EXPECT_EQ(fills(states, 1), std::vector<int>{1});
}

// What the last checkpoint names can be read from the file by another process at any time, however often
// clients were changed since, with checkpoints that were begun and never written in between.
TEST_F(ClientStatesTest, LeaveTheLastCheckpointWhole) {
  for (const std::int64_t memory : {0, 45}) {
    SCOPED_TRACE(memory);
    ClientStates states = states_within(memory);
    ClientStates::Content checkpoint;
    std::vector<int> named;
    Stream stream({.seed = 7});
    for (int round = 1; round <= 200; ++round) {
      std::vector<std::pair<std::int64_t, State>> changed;
      for (std::int64_t client = 0; client < 10; ++client) {
        if (stream.below(3) == 0) changed.emplace_back(client, state_of(1 + stream.below(30), round));
      }
      states.put(changed);
      const bool begun = stream.below(4) == 0;
      if (begun) {
        ClientStates::Content content = states.content();
        if (stream.below(2) == 0) {
          checkpoint = std::move(content);
          named = fills(states, 10);
          states.checkpointed();
        }
      }
      if (named.empty()) continue;
      ClientStates reader = states_within(memory);
      reader.restore(checkpoint);
      ASSERT_EQ(fills(reader, 10), named) << "round " << round;
    }
  }
}

// All states twice, and those of one round: the last checkpoint's, and today's.
TEST_F(ClientStatesTest, TakeNoMoreThanTwiceTheirRoom) {
  ClientStates states = states_within(0);
  constexpr std::uint64_t kSize = 100, kClients = 20, kCohort = 5;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<std::int64_t, State>> changed;
    for (std::uint64_t i = 0; i < kCohort; ++i) {
      changed.emplace_back((static_cast<std::uint64_t>(round) * kCohort + i) % kClients, state_of(kSize, 1));
    }
    states.put(changed);
    if (round % 40 == 39) {
      (void)states.content();
      states.checkpointed();
    }
    ASSERT_LE(fs::file_size(path), kSize * (2 * kClients + kCohort));
  }
}

TEST_F(ClientStatesTest, GoOnAfterACheckpoint) {
  ClientStates before = states_within(0);
  before.put({{0, state_of(10, 1)}, {1, state_of(20, 2)}});
  const ClientStates::Content checkpoint = before.content();
  before.checkpointed();
  before.put({{1, state_of(20, 3)}, {2, state_of(5, 4)}});  // lost, as when the process is killed
  ClientStates after = states_within(0);
  after.restore(checkpoint);
  EXPECT_EQ(fills(after, 3), (std::vector<int>{1, 2, -1}));
  after.put({{0, state_of(30, 5)}});
  EXPECT_EQ(fills(after, 3), (std::vector<int>{5, 2, -1}));
  ClientStates again = states_within(0);
  again.restore(checkpoint);
  EXPECT_EQ(fills(again, 3), (std::vector<int>{1, 2, -1}));
}

TEST_F(ClientStatesTest, ChangeAllOrNoneWhenTheDiskIsFull) {
  for (const std::int64_t memory : {0, 30}) {  // on the way into the file, and within it
    SCOPED_TRACE(memory);
    ClientStates states = states_within(memory);
    states.put({{0, state_of(10, 1)}, {1, state_of(10, 2)}});
    {
      const results::FileSizeLimit full(45);
      expect_refused(has_all("states.bin: cannot be written", "raise the limit of a file's size"), [&] {
        states.put({{0, state_of(10, 3)}, {2, state_of(30, 4)}});
      });
    }
    EXPECT_EQ(fills(states, 3), (std::vector<int>{1, 2, -1}));
    states.put({{0, state_of(10, 3)}, {2, state_of(30, 4)}});
    EXPECT_EQ(fills(states, 3), (std::vector<int>{3, 2, 4}));
    EXPECT_EQ(fs::file_size(path), 60U);  // the room of what failed was used again
  }
}

// What a round changed is not on disk before whoever charges for it says so.
TEST_F(ClientStatesTest, AreNotInTheFileWhileTheyAreStaged) {
  ClientStates states = states_within(0);
  states.stage({{0, state_of(10, 1)}});
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(fills(states, 2), (std::vector<int>{1, -1}));
  states.stage({{0, state_of(10, 2)}, {1, state_of(20, 3)}});
  EXPECT_EQ(fs::file_size(path), 10U);
  EXPECT_EQ(fills(states, 2), (std::vector<int>{2, 3}));
  {
    const results::FileSizeLimit full(25);
    EXPECT_THROW(states.settle(), Error);
  }
  EXPECT_EQ(fills(states, 2), (std::vector<int>{2, 3}));
  EXPECT_EQ(states.content().filed.size(), 2U);
  EXPECT_EQ(fills(states, 2), (std::vector<int>{2, 3}));
}

constexpr Key<Params> kDrift{"drift"};
constexpr Key<torch::Tensor> kTrace{"trace"};

class RunWithStates : public SmallRuns<> {
 protected:
  // Clients send and remember what depends on everything that they remembered before; those with an odd
  // number remember nothing but once.
  RunWithStates() : SmallRuns({3, 1, 6, 4, 2, 5, 8, 3}) {
    algorithm.on_train = [](Client& client, Params& model) {
      const Params start = model, drift = client.state.get_or(kDrift, zeros_like(model));
      model += -0.3 * client.oracle.gradient(model, {.batch_size = 2}) + 0.7 * drift;
      if (client.id % 2 == 1 && client.round >= 4) return;
      client.state.put(kDrift, model - start);
      const torch::Tensor trace = client.state.get_or(kTrace, torch::zeros({0}, torch::kInt64));
      client.state.put(kTrace, torch::cat({trace, torch::tensor({client.round})}));
    };
  }
  SimulationSetup setup(std::int64_t memory) const {
    SimulationSetup result = setup_on(pool, 30, 3);
    result.states = {.memory = memory, .file = path};
    return result;
  }
  torch::Tensor unbroken() const { return FinishedRun(setup_on(pool, 30, 3)).params().flat(); }
  test::Scratch scratch;
  const fs::path path = scratch / "states.bin";
};

TEST_F(RunWithStates, IsTheSameWhereverStatesLie) {
  const torch::Tensor wanted = unbroken();
  for (const std::int64_t memory : {0, 300, 1'000'000}) {
    fs::remove(path);
    FinishedRun simulation(setup(memory));
    EXPECT_TRUE(torch::equal(simulation.params().flat(), wanted)) << memory;
    EXPECT_EQ(fs::exists(path), memory < 1'000'000) << memory;
  }
}

// Stopped anywhere after the last checkpoint, and taken up with another limit than before.
TEST_F(RunWithStates, GoesOnFromItsLastCheckpointWithTheSameBits) {
  const torch::Tensor wanted = unbroken();
  Stream stream({.seed = 12});
  for (int repeat = 0; repeat < 20; ++repeat) {
    fs::remove(path);
    Bytes checkpoint;
    std::int64_t done = 0;
    while (done < 30) {
      const std::int64_t memory = std::vector<std::int64_t>{0, 300, 1'000'000}[stream.below(3)];
      Simulation simulation(setup(memory));
      if (!checkpoint.empty()) simulation.restore(checkpoint);
      const std::uint64_t rounds = 1 + stream.below(12);
      for (std::uint64_t round = 0; round < rounds && !simulation.finished(); ++round) {
        simulation.next_round();
        if (stream.below(3) == 0) simulation.checkpoint([&](const Bytes& bytes) { checkpoint = bytes; });
      }
      if (simulation.finished()) {
        EXPECT_TRUE(torch::equal(simulation.params().flat(), wanted)) << "repeat " << repeat;
        done = 30;
      }
    }
  }
}

// Its ledger is written in between.
TEST_F(RunWithStates, WritesNothingOfARoundBeforeTheNextOneOrACheckpoint) {
  BegunRun simulation(setup(0), 1);
  EXPECT_FALSE(fs::exists(path));
  simulation.next_round();
  const std::string first = test::content_of(path);
  EXPECT_FALSE(first.empty());
  bool written = false;
  simulation.checkpoint([&](const Bytes&) { written = test::content_of(path) != first; });
  EXPECT_TRUE(written);
}

TEST_F(RunWithStates, LeavesNoTraceOfARoundThatFails) {
  BegunRun simulation(setup(0), 5);
  const Bytes before = simulation.save();
  const std::string file = test::content_of(path);
  algorithm.on_aggregate = [](Server&) { throw Error::of("in aggregate"); };
  EXPECT_THROW(simulation.next_round(), Error);
  EXPECT_EQ(simulation.save(), before);
  EXPECT_EQ(test::content_of(path), file);
  algorithm.on_aggregate = {};
  {
    const results::FileSizeLimit full(file.size());
    EXPECT_THROW(for (int round = 0; round < 5; ++round) simulation.next_round(), Error);
  }
  while (!simulation.finished()) simulation.next_round();
  EXPECT_TRUE(torch::equal(simulation.params().flat(), unbroken()));
}

}  // namespace
}  // namespace fedarena
