// Simulations on several ranks: what goes between them.
#include <atomic>
#include <map>
#include <thread>
#include <utility>

#include "tests/harness/ranks/threads_as_ranks.hpp"
#include "tests/harness/simulation/budgets.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

struct Served {
  explicit Served(const SimulationSetup& setup) : simulation(setup), worker(simulation.worker()) {}
  Simulation simulation;
  Worker worker;
};

class RanksOfASimulation : public SmallRuns<ScriptedSgd>, public testing::WithParamInterface<int> {
 protected:
  RanksOfASimulation() : SmallRuns({40, 40, 40, 40, 40, 40}) {
    model = Model({.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 5000}, Relu{}, Linear{5000, 2}}},
                  torch::kFloat32);
  }

  SimulationSetup setup_with(const WorkPool& workers, Crew* crew = nullptr) const {
    SimulationSetup setup = setup_on(workers, 4, 6, policy_);
    setup.crew = crew;
    setup.client_tests = client_tests_;
    return setup;
  }
  void work(Ranks& ranks) const {
    const WorkPool one(1, use_one_torch_thread);
    serve(ranks, one, "build", [&](const RunRequest&) {
      const auto served = std::make_shared<Served>(setup_with(one));
      return std::shared_ptr<const Worker>(served, &served->worker);
    });
  }

  PrivacyPolicy policy_ = NoPolicy{};
  const Partition* client_tests_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Ranks, RanksOfASimulation, testing::Values(2, 3));

// What a round and its test must send: the model twice to each rank, and the messages of clients elsewhere.
// Rank 0 is this thread.
TEST_P(RanksOfASimulation, SendOnePercentMoreThanMessages) {
  const int count = GetParam();
  const WorkPool one(1, use_one_torch_thread);
  test::ThreadsAsRanks ranks(count, [&](Ranks& rank) { work(rank); });
  Crew crew(ranks.first(), one, "build");
  crew.begin("the run");
  Simulation shared(setup_with(one, &crew)), alone(setup_with(one));
  std::atomic<int> elsewhere = 0;
  algorithm.on_train = [&elsewhere, rank_0 = std::this_thread::get_id()](Client&) {
    if (std::this_thread::get_id() != rank_0) ++elsewhere;
  };
  double due = 0;
  while (!shared.finished()) {
    elsewhere = 0;
    const results::RoundRecord round = shared.next_round();
    EXPECT_EQ(round.uplink_bytes, alone.next_round().uplink_bytes);
    const auto clients = static_cast<double>(round.clients), others = static_cast<double>(count - 1);
    due += 2 * others * static_cast<double>(round.downlink_bytes) / clients +
           elsewhere / clients * static_cast<double>(round.uplink_bytes);
  }
  crew.end();
  EXPECT_TRUE(torch::equal(shared.params().flat(), alone.params().flat()));
  EXPECT_GT(static_cast<double>(ranks.bytes()), due);
  EXPECT_LT(static_cast<double>(ranks.bytes()), 1.01 * due);
}

// What earlier rounds spent is known wherever a client is served.
TEST_P(RanksOfASimulation, TellClientsElsewhereWhatTheirBudgetsLeave) {
  policy_ = with_budget(records_hidden(), PerClient({20.0, 30.0}));
  using Left = std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>>;
  Left left;
  algorithm.on_train = [&](Client& client) {
    const std::pair both(client.oracle.gradients_left(5), client.oracle.votes_left({.parts = 2}));
    left[{client.id, client.round}] = both;
  };
  const WorkPool one(1, use_one_torch_thread);
  FinishedRun alone(setup_with(one));
  const Left expected = std::exchange(left, {});
  test::ThreadsAsRanks ranks(GetParam(), [&](Ranks& rank) { work(rank); });
  Crew crew(ranks.first(), one, "build");
  crew.begin("the run");
  FinishedRun shared(setup_with(one, &crew));
  crew.end();
  EXPECT_EQ(left, expected);
  EXPECT_LT(expected.at({5, 4}).first, expected.at({5, 1}).first);
  EXPECT_EQ(shared.ledger(), alone.ledger());
}

// Clients of one rank read the same message, whichever rank it is.
TEST_P(RanksOfASimulation, RefuseAClientThatWritesToTheMessageFromTheServer) {
  const auto write_to = [](const Message& downlink) { downlink[kModel].flat().data().add_(1); };
  const auto refusal = [&] {
    const WorkPool one(1, use_one_torch_thread);
    test::ThreadsAsRanks ranks(GetParam(), [&](Ranks& rank) { work(rank); });
    Crew crew(ranks.first(), one, "build");
    crew.begin("the run");
    Simulation shared(setup_with(one, &crew));
    return message_of([&] { shared.next_round(); });
  };
  const auto is_first = [rank_0 = std::this_thread::get_id()] {
    return std::this_thread::get_id() == rank_0;
  };
  algorithm.on_downlink = [&](const Message& downlink) {
    if (!is_first()) write_to(downlink);
  };
  EXPECT_THAT(refusal(),
              HasSubstr("the message from the server was written to by the algorithm in train, round 1"));
  algorithm.on_downlink = {};
  const Partition tests{{0, 1}, {2}, {3}, {4}, {5}, {6}};
  client_tests_ = &tests;
  algorithm.on_personalise = [&](Client&, const Message& downlink) {
    if (!is_first()) write_to(downlink);
    return downlink[kModel];
  };
  EXPECT_THAT(refusal(), HasSubstr("was written to by the algorithm in personalise, round 2"));
}

}  // namespace
}  // namespace fedarena
