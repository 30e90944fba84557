// The harness's books of every algorithm: bytes on the wire and accesses to data, against an observer's
// notes, and for the published algorithms against what their papers say is sent.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "harness/wire/wire.hpp"
#include "tests/conformance/quadratics.hpp"
#include "tests/harness/sdk/forwarding.hpp"

namespace fedarena {
namespace {

// What passed between harness and algorithm, noted independently of the harness's own books.
struct Traffic {
  struct ClientRound {
    std::vector<std::string> accesses;  //< one a call of the oracle
    std::int64_t uplink_bytes = 0;
  };
  std::map<std::int64_t, std::int64_t> downlink_bytes;                         //< by round, to one client
  std::map<std::pair<std::int64_t, std::int64_t>, ClientRound> client_rounds;  //< by (round, client)
};

// Notes each call and passes it on.
class CountingOracle final : public ForwardingOracle {
 public:
  CountingOracle(Oracle& inner, std::vector<std::string>& calls) : ForwardingOracle(inner), calls_(calls) {}
  Params gradient(const Params& at, const Query& query) override {
    calls_.emplace_back("gradient");
    return inner().gradient(at, query);
  }
  double loss(const Params& at) override {
    calls_.emplace_back("loss");
    return inner().loss(at);
  }
  torch::Tensor label_counts() override {
    calls_.emplace_back("label counts");
    return inner().label_counts();
  }
  torch::Tensor held_classes() override {
    calls_.emplace_back("classes");
    return inner().held_classes();
  }
  Batch exact_batch() override {
    calls_.emplace_back("examples");
    return inner().exact_batch();
  }
  torch::Tensor randomised_response(const torch::Tensor& labels, const torch::Tensor& prior,
                                    double epsilon) override {
    calls_.emplace_back("synthetic labels");
    return inner().randomised_response(labels, prior, epsilon);
  }
  torch::Tensor noisy_sum(const Vote& vote, const VoteQuery& query) override {
    torch::Tensor votes = inner().noisy_sum(vote, query);
    for (std::int64_t number = 0; number < votes.size(0); ++number) calls_.emplace_back("votes");
    return votes;
  }

 private:
  std::vector<std::string>& calls_;
};

// An algorithm that is another one, observed.
class Spy final : public Replaced {
 public:
  Spy(std::unique_ptr<const Algorithm> inner, Traffic& traffic)
      : Replaced(std::move(inner)), traffic_(traffic) {}

  Message broadcast(const Server& server) const override {
    Message message = inner().broadcast(server);
    traffic_.downlink_bytes[server.round] = static_cast<std::int64_t>(encode(message).size());
    return message;
  }
  Message train(Client& client, const Message& downlink) const override {
    Traffic::ClientRound seen;
    CountingOracle oracle(client.oracle, seen.accesses);
    Client view = observed(client, oracle, client.compute);
    Message message = inner().train(view, downlink);
    seen.uplink_bytes = static_cast<std::int64_t>(encode(message).size());
    const std::lock_guard lock(mutex_);
    traffic_.client_rounds[{client.round, client.id}] = std::move(seen);
    return message;
  }

 private:
  Traffic& traffic_;
  mutable std::mutex mutex_;
};

class BooksOf : public ::testing::TestWithParam<std::string> {
 protected:
  static Federation federation(const TestRunOptions& options) {
    return federation_for(GetParam(), image_task("logistic", {}), options);
  }
  std::unique_ptr<Spy> spy() {
    return std::make_unique<Spy>(plugins().create(GetParam(), declared_by(GetParam(), {{"batch_size", 16}})),
                                 traffic);
  }
  // The ledger against the observer's notes; `event`: what a call is charged of a client with so many
  // examples.
  void expect_every_access(const PrivacyPolicy& policy,
                           const std::function<Event(const std::string& what, double examples)>& event) {
    const Federation all = federation({.rounds = 5, .cohort_size = 2, .workers = 2, .policy = policy});
    TestRun run(all, spy());
    run.finish();
    const Partition& partition = all.task.partition;
    Ledger expected(unit(policy));
    expected.declare_public(run->ledger().public_data());  // the federation's proxy data
    for (std::size_t client = 0; client < partition.size(); ++client) {
      expected.add_client(static_cast<std::int64_t>(client), std::ssize(partition[client]));
    }
    for (const auto& [key, seen] : traffic.client_rounds) {
      const auto examples = static_cast<double>(partition[static_cast<std::size_t>(key.second)].size());
      RoundAccesses accesses;
      for (const std::string& what : seen.accesses) accesses.add(event(what, examples));
      expected.record(key.first, key.second, accesses);
    }
    EXPECT_EQ(run->ledger().to_json(), expected.to_json());
  }

  Traffic traffic;
};

INSTANTIATE_TEST_SUITE_P(Registered, BooksOf, ::testing::ValuesIn(algorithm_names()), test_name);

TEST_P(BooksOf, HoldWhatTheWireCarried) {
  const Federation all = federation({.rounds = 3, .cohort_size = 3});
  TestRun run(all, spy());
  while (!run->finished()) {
    const results::RoundRecord record = run->next_round();
    std::int64_t uplink = 0;
    for (const auto& [key, seen] : traffic.client_rounds) {
      uplink += key.first == record.round ? seen.uplink_bytes : 0;
    }
    EXPECT_EQ(record.uplink_bytes, uplink);
    const std::int64_t clients = all.options.cohort_size;
    EXPECT_EQ(record.downlink_bytes, clients * traffic.downlink_bytes.at(record.round));
    EXPECT_EQ(record.clients, clients);
  }
}

TEST_P(BooksOf, HoldEveryAccessToData) {
  expect_every_access(NoPolicy{}, [](const std::string& what, double) { return ExactAccess{what}; });
}

TEST_P(BooksOf, HoldEveryNoisyAccessToData) {
  expect_every_access(RecordPolicy(), [](const std::string& what, double examples) -> Event {
    if (what == "votes") return Gaussian{1, Adjacency::kZeroOut};  // each example has one
    if (what != "gradient") return ExactAccess{what};
    return SampledGaussian{Sampling::kPoisson, std::min(1.0, 16 / examples), {1}, Adjacency::kZeroOut};
  });
}

// Rounds of one client ask as the algorithm planned before: else its epsilon is not proven, and a budget
// learns what a round costs when the work is done.
TEST_P(BooksOf, HoldThePlanOfEveryRound) {
  const Federation all = federation({.rounds = 5, .cohort_size = 2, .workers = 2, .policy = RecordPolicy()});
  TestRun run(all, plugins().create(GetParam(), declared_by(GetParam(), {{"batch_size", 16}})));
  const Forecast forecast = run->forecast();
  run.finish();
  EXPECT_FALSE(run->ledger().varies());
  // Who looks at the examples themselves has no epsilon to plan.
  static const std::set<std::string> unplanned{"dsc", "fedd3", "feddm", "fedgm", "fedlap", "ifca"};
  EXPECT_EQ(forecast.complete, !unplanned.contains(GetParam()));
  double dearest = 0;
  for (const auto& [client, record] : run->ledger().clients()) {
    std::vector<Access> noised = run->ledger().charged(client);
    std::erase_if(noised,
                  [](const Access& access) { return std::holds_alternative<ExactAccess>(access.event); });
    dearest = std::max(dearest, *Odometer(RecordPolicy()).epsilon(noised).epsilon);
  }
  if (forecast.complete) {
    EXPECT_DOUBLE_EQ(*forecast.epsilon, dearest) << "what was foreseen of noised answers";
  }
  const bool walks = GetParam() == "fedlap-dp";  // a walk may leave its radius
  for (const auto& [client, record] : run->ledger().clients()) {
    for (const Ledger::Segment& segment : record.segments) {
      ASSERT_EQ(segment.unmade.has_value(), !unplanned.contains(GetParam())) << "client " << client;
      EXPECT_TRUE(walks || !segment.unmade || segment.unmade->empty()) << "client " << client;
    }
  }
}

// The format, by hand: a header of 8 bytes; for each entry a length, its name and a kind; Params bring 17
// bytes and their numbers; integers 8 bytes.
std::int64_t name_bytes(std::string_view name) { return 2 + static_cast<std::int64_t>(name.size()); }
std::int64_t params_bytes(std::string_view name, std::int64_t numel, std::int64_t width) {
  return name_bytes(name) + 17 + numel * width;
}

struct Sent {
  std::int64_t down, up;
};

Sent sent_by(const std::string& algorithm, std::int64_t numel, std::int64_t width) {
  if (algorithm == "scaffold") {
    return {8 + params_bytes("model", numel, width) + params_bytes("control", numel, width),
            8 + params_bytes("model_update", numel, width) + params_bytes("control_update", numel, width)};
  }
  return {8 + params_bytes("model", numel, width),
          8 + params_bytes("update", numel, width) + name_bytes("examples") + 8};
}

TEST(Bytes, AreThoseOfThePapers) {
  for (const std::string algorithm : {"fedavg", "fedprox", "scaffold"}) {
    const Task task = image_task("logistic", {});
    const Sent in_single = sent_by(algorithm, 64 * 3 + 3, 4);
    const results::RoundRecord record = TestRun(task, algorithm, {}, {.cohort_size = 3})->next_round();
    EXPECT_EQ(record.downlink_bytes, 3 * in_single.down) << algorithm;
    EXPECT_EQ(record.uplink_bytes, 3 * in_single.up) << algorithm;

    const Task regression = quadratic_federation({9, 12}).task;
    const Sent in_double = sent_by(algorithm, 4, 8);
    const results::RoundRecord wide = TestRun(regression, algorithm, {}, {.cohort_size = 2})->next_round();
    EXPECT_EQ(wide.downlink_bytes, 2 * in_double.down) << algorithm;
    EXPECT_EQ(wide.uplink_bytes, 2 * in_double.up) << algorithm;
  }
}

TEST(Rounds, CountTheExamplesWhoseGradientsWereTaken) {
  const Task task = image_task("logistic", {});
  EXPECT_EQ(TestRun(task, "fedavg", {{"local_epochs", 2}, {"batch_size", 40}}, {})->next_round().examples,
            2 * (300 + 7 + 40 + 81));
  // Three steps of 40: the shard of 7 gives 7 each time.
  EXPECT_EQ(TestRun(task, "fedavg", {{"local_steps", 3}, {"batch_size", 40}}, {})->next_round().examples,
            120 + 21 + 120 + 40 + 40 + 1);
}

}  // namespace
}  // namespace fedarena
