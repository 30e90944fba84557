// The harness's books of every algorithm: bytes on the wire and accesses to data, against an observer's
// notes, and for the published algorithms against what their papers say is sent.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "harness/simulation/cohort.hpp"
#include "tests/conformance/federations.hpp"
#include "tests/conformance/quadratics.hpp"
#include "tests/conformance/spy.hpp"

namespace fedarena {
namespace {

class BooksOf : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Registered, BooksOf, ::testing::ValuesIn(algorithm_names()), test_name);

TEST_P(BooksOf, HoldWhatTheWireCarried) {
  const Federation federation =
      federation_for(GetParam(), image_task("logistic", {}), {.rounds = 3, .cohort_size = 3});
  Traffic traffic;
  const Settings settings = declared_by(GetParam(), {{"batch_size", 16}});
  TestRun run(federation, std::make_unique<Spy>(plugins().create(GetParam(), settings), traffic));
  while (!run->finished()) {
    const results::RoundRecord record = run->next_round();
    std::int64_t uplink = 0;
    for (const auto& [key, seen] : traffic.client_rounds)
      uplink += key.first == record.round ? seen.uplink_bytes : 0;
    EXPECT_EQ(record.uplink_bytes, uplink);
    const std::int64_t clients = federation.options.cohort_size;
    EXPECT_EQ(record.downlink_bytes, clients * traffic.downlink_bytes.at(record.round));
    EXPECT_EQ(record.clients, clients);
  }
}

TEST_P(BooksOf, HoldEveryAccessToData) {
  const Federation federation =
      federation_for(GetParam(), image_task("logistic", {}), {.rounds = 5, .cohort_size = 2, .workers = 2});
  const Task& task = federation.task;
  Traffic traffic;
  const Settings settings = declared_by(GetParam(), {{"batch_size", 16}});
  TestRun run(federation, std::make_unique<Spy>(plugins().create(GetParam(), settings), traffic));
  run.finish();

  Ledger expected;
  for (std::size_t client = 0; client < task.partition.size(); ++client) {
    expected.add_client(static_cast<std::int64_t>(client),
                        static_cast<std::int64_t>(task.partition[client].size()));
  }
  for (const auto& [key, seen] : traffic.client_rounds) {
    RoundAccesses accesses;
    for (const std::string& what : seen.accesses) accesses.add(ExactAccess{what});
    expected.record(key.first, key.second, accesses);
  }
  EXPECT_EQ(run->ledger().to_json(), expected.to_json());
}

TEST_P(BooksOf, HoldEveryNoisyAccessToData) {
  const Federation federation =
      federation_for(GetParam(), image_task("logistic", {}),
                     {.rounds = 5, .cohort_size = 2, .workers = 2, .policy = RecordPolicy()});
  const Task& task = federation.task;
  Traffic traffic;
  const Settings settings = declared_by(GetParam(), {{"batch_size", 16}});
  TestRun run(federation, std::make_unique<Spy>(plugins().create(GetParam(), settings), traffic));
  run.finish();

  Ledger expected(Unit::kRecord);
  for (std::size_t client = 0; client < task.partition.size(); ++client) {
    expected.add_client(static_cast<std::int64_t>(client),
                        static_cast<std::int64_t>(task.partition[client].size()));
  }
  for (const auto& [key, seen] : traffic.client_rounds) {
    const auto examples = static_cast<double>(task.partition[static_cast<std::size_t>(key.second)].size());
    RoundAccesses accesses;
    for (const std::string& what : seen.accesses) {
      if (what == "gradient") {
        accesses.add(SampledGaussian{Sampling::kPoisson, std::min(1.0, 16 / examples), {1}, {}});
      } else {
        accesses.add(ExactAccess{what});
      }
    }
    expected.record(key.first, key.second, accesses);
  }
  EXPECT_EQ(run->ledger().to_json(), expected.to_json());
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

    const QuadraticFederation federation = quadratic_federation({9, 12});
    const Model model = linear_model_of(federation.dataset);
    const Sent in_double = sent_by(algorithm, 4, 8);
    TestRun run(federation.dataset, federation.partition, model, plugins().create(algorithm, {}),
                {.cohort_size = 2});
    const results::RoundRecord wide = run->next_round();
    EXPECT_EQ(wide.downlink_bytes, 2 * in_double.down) << algorithm;
    EXPECT_EQ(wide.uplink_bytes, 2 * in_double.up) << algorithm;
  }
}

TEST(Ledger, HoldsOneGradientAStep) {
  const Task task = image_task("logistic", {});  // shards of 300, 7, 40 and 81
  const auto gradients = [&](const std::string& algorithm, const Settings& settings) {
    TestRun run(task, algorithm, settings, {.rounds = 3});
    std::vector<std::int64_t> counts;
    for (const auto& [client, record] : run.finish()->ledger().clients()) {
      EXPECT_EQ(record.segments.size(), 1U);
      EXPECT_EQ(record.segments[0].participations, 3);
      EXPECT_EQ(record.segments[0].accesses.size(), 1U);
      EXPECT_EQ(record.segments[0].accesses[0].event, Event(ExactAccess{"gradient"}));
      counts.push_back(record.segments[0].accesses[0].count);
    }
    return counts;
  };
  using Counts = std::vector<std::int64_t>;
  for (const std::string algorithm : {"fedavg", "fedprox"}) {
    EXPECT_EQ(gradients(algorithm, {{"local_steps", 7}, {"batch_size", 16}}), (Counts{7, 7, 7, 7}));
    EXPECT_EQ(gradients(algorithm, {{"local_epochs", 2}, {"batch_size", 40}}), (Counts{16, 2, 2, 6}));
    EXPECT_EQ(gradients(algorithm, {{"local_epochs", 4}, {"batch_size", 0}}), (Counts{4, 4, 4, 4}));
  }
  EXPECT_EQ(gradients("scaffold", {{"local_epochs", 2}, {"batch_size", 40}}), (Counts{16, 2, 2, 6}));
  EXPECT_EQ(gradients("scaffold", {{"option", "I"}, {"local_epochs", 2}, {"batch_size", 40}}),
            (Counts{17, 3, 3, 7}));
}

TEST(Rounds, CountTheExamplesWhoseGradientsWereTaken) {
  const Task task = image_task("logistic", {});
  EXPECT_EQ(TestRun(task, "fedavg", {{"local_epochs", 2}, {"batch_size", 40}}, {})->next_round().examples,
            2 * (300 + 7 + 40 + 81));
  // Three steps of 40: the shard of 7 gives 7 each time.
  EXPECT_EQ(TestRun(task, "fedavg", {{"local_steps", 3}, {"batch_size", 40}}, {})->next_round().examples,
            120 + 21 + 120 + 40 + 40 + 1);
}

// With exact gradients and everyone taking part, a client's number is only a name.
TEST(Clients, CanBeRenumbered) {
  for (const std::string algorithm : {"fedavg", "fedprox", "scaffold"}) {
    const QuadraticFederation federation = quadratic_federation({9, 30, 14, 21});
    const Model model = linear_model_of(federation.dataset);
    const Partition renumbered(federation.partition.rbegin(), federation.partition.rend());
    const Settings settings{{"local_steps", 4}, {"batch_size", 0}, {"rate", 0.1}};
    const Vector expected =
        TestRun(federation.dataset, federation.partition, model, plugins().create(algorithm, settings), {})
            .finish()
            .values();
    const Vector reached =
        TestRun(federation.dataset, renumbered, model, plugins().create(algorithm, settings), {})
            .finish()
            .values();
    EXPECT_LE(length(reached - expected), 1e-12 * length(expected)) << algorithm;
  }
}

}  // namespace
}  // namespace fedarena
