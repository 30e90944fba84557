// Canaries in the answers of the policies. Error rates: each statistical comparison raises a false alarm with
// probability 1e-6 over seeds.
#include "harness/oracle/canaries.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

CanaryPlan gradients(std::int64_t count, bool control = false) { return {kGradientCanaries, count, control}; }

// A model of 1 + 400 parameters on ten examples of one client.
struct CanaryBench : Beacons {
  CanaryBench() : Beacons(400) {}
  Canaries canaries(const CanaryPlan& plan, std::uint64_t seed = 5) const {
    return {plan, seed, shards, dataset.train, 0, model.layout()->numel()};
  }
  RecordOracle audited(const Canaries& all, const RecordPolicy& policy, const Streams& streams) const {
    return {setting(), torch::tensor(shards[0], torch::kInt64), streams, policy, all.of_client(0, streams)};
  }
  std::vector<std::vector<std::int64_t>> shards{range(0, 10)};
};

TEST(Canaries, AreAFunctionOfTheSeed) {
  const CanaryBench bench;
  const Canaries one = bench.canaries(gradients(300)), same = bench.canaries(gradients(300)),
                 other = bench.canaries(gradients(300), 6);
  EXPECT_EQ(one.in(), same.in());
  EXPECT_EQ(one.places(), same.places());
  EXPECT_NE(one.in(), other.in());
  EXPECT_NE(one.places(), other.places());
  EXPECT_EQ(std::set(one.places().begin(), one.places().end()).size(), 300U);
}

TEST(Canaries, AreInWithProbabilityOneHalf) {
  const CanaryBench bench;
  double in = 0, both = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Canaries canaries = bench.canaries(gradients(40), seed);
    in += static_cast<double>(std::ranges::count(canaries.in(), true));
    both += canaries.in()[3] && canaries.in()[4] ? 1 : 0;
  }
  EXPECT_NEAR(in, 10'000, 4.9 * std::sqrt(5'000.0));
  EXPECT_NEAR(both, 125, 4.9 * std::sqrt(500 * 3.0 / 16));
}

TEST(Canaries, AreDealtToAllClientsAlike) {
  const CanaryBench bench;
  std::vector<std::int64_t> counts(4);
  const std::vector<std::vector<std::int64_t>> shards{range(0, 1), range(1, 200), {}, range(201, 3)};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Canaries canaries(gradients(100), seed, shards, bench.dataset.train, 0, 401);
    for (const std::int64_t client : canaries.clients()) ++counts[static_cast<std::size_t>(client)];
    std::size_t own = 0;
    for (std::int64_t client = 0; client < 4; ++client) own += canaries.of(client).size();
    EXPECT_EQ(own, 100U);
  }
  EXPECT_TRUE(equally_likely(counts));
}

// The whole shard, no noise: what differs from the run without canaries is the clip norm in the coordinates
// of those that are in, and the ledger does not differ.
TEST(GradientCanaries, AreExamplesWhoseGradientIsOneCoordinate) {
  const CanaryBench bench;
  const Canaries canaries = bench.canaries(gradients(60));
  constexpr double kClip = 0.5;
  const Streams streams(1, 2, 0);
  RecordOracle with = bench.audited(canaries, record_policy(kClip, 0), streams);
  RecordOracle without = bench.audited(Canaries(), record_policy(kClip, 0), streams);
  torch::Tensor expected = without.gradient(bench.zero(), {.batch_size = 0}).flat().clone();
  for (std::size_t i = 0; i < 60; ++i) {
    if (canaries.in()[i]) expected[canaries.places()[i]] += kClip / 10;
  }
  const Params answer = with.gradient(bench.zero(), {.batch_size = 0});
  EXPECT_LE((answer.flat() - expected).abs().max().item<double>(), 1e-15);
  EXPECT_EQ(with.accesses().list(), without.accesses().list());
  EXPECT_EQ(with.gradient_examples(), without.gradient_examples());
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_NEAR(with.canary_scores()[i], canaries.in()[i] ? 1 : 0, 1e-12);
  }
  EXPECT_TRUE(without.canary_scores().empty());
}

// Counts of 4,000 samples at rate 0.3; the sample of examples is what it is without canaries.
TEST(GradientCanaries, EnterEachSampleAtItsRate) {
  const CanaryBench bench;
  const Canaries canaries = bench.canaries(gradients(20));
  constexpr int kAccesses = 4000;
  constexpr double kFarAboveGradients = 1e9;
  const Streams streams(1, 2, 0);
  RecordOracle with = bench.audited(canaries, record_policy(kFarAboveGradients, 0), streams);
  for (int i = 0; i < kAccesses; ++i) (void)with.gradient(bench.zero(), {.batch_size = 3});
  for (std::size_t i = 0; i < 20; ++i) {
    const double expected = canaries.in()[i] ? 0.3 * kAccesses : 0;
    const double slack = canaries.in()[i] ? 5.4 * std::sqrt(kAccesses * 0.3 * 0.7) : 0.001;
    EXPECT_NEAR(with.canary_scores()[i], expected, slack);
  }
  RecordOracle without = bench.audited(Canaries(), record_policy(kFarAboveGradients, 0), streams);
  for (int i = 0; i < kAccesses; ++i) (void)without.gradient(bench.zero(), {.batch_size = 3});
  EXPECT_EQ(with.gradient_examples(), without.gradient_examples());
}

TEST(GradientCanaries, AreScoredByNoisedAnswersWhetherInOrOut) {
  const CanaryBench bench;
  const Canaries canaries = bench.canaries(gradients(300));
  const Streams streams(1, 2, 0);
  constexpr double kNoise = 2;
  RecordOracle oracle = bench.audited(canaries, record_policy(1, kNoise), streams);
  RecordOracle clean = bench.audited(canaries, record_policy(1, 0), streams);
  for (int i = 0; i < 4; ++i) {
    (void)oracle.gradient(bench.zero(), {.batch_size = 3});
    (void)clean.gradient(bench.zero(), {.batch_size = 3});
  }
  double squares = 0;
  for (std::size_t i = 0; i < 300; ++i)
    squares += std::pow(oracle.canary_scores()[i] - clean.canary_scores()[i], 2);
  // 300 normals of variance 4 * kNoise^2, whose squares have the relative deviation sqrt(2 / 300)
  EXPECT_NEAR(squares / (300 * 4 * kNoise * kNoise), 1, 5.5 * std::sqrt(2 / 300.0));
}

TEST(GradientCanaries, OfAControlMakeTheAccessExact) {
  const CanaryBench bench;
  const Canaries canaries = bench.canaries(gradients(4, true));
  const RecordOracle oracle = bench.audited(canaries, record_policy(1, 0), Streams(1, 2, 0));
  EXPECT_EQ(oracle.accesses().list(), (std::vector<Access>{{ExactAccess{kAnswersWithoutNoise}, 1}}));
}

TEST(Canaries, AreRefusedWhereThereIsNoRoom) {
  const CanaryBench bench;
  expect_refused("402 canaries, and 401 coordinates of the model", [&] { bench.canaries(gradients(402)); });
  expect_refused("canaries with wrong labels on data without classes", [&] {
    bench.canaries({kMislabelledCanaries, 4});
  });
  const Bench classes;
  const std::vector<std::vector<std::int64_t>> shards{range(0, 5), range(10, 5)};
  expect_refused("11 canaries, and 10 examples of clients", [&] {
    Canaries({kMislabelledCanaries, 11}, 1, shards, classes.dataset.train, 4, 16);
  });
}

TEST(MislabelledCanaries, AreExamplesOfTheirClientWithAnotherLabel) {
  const Bench bench;
  const std::vector<std::vector<std::int64_t>> shards{range(0, 12), range(20, 15)};
  const Canaries canaries({kMislabelledCanaries, 14}, 3, shards, bench.dataset.train, 4, 16);
  const Examples changed = canaries.apply(bench.dataset.train);
  const std::set<std::int64_t> places(canaries.places().begin(), canaries.places().end());
  EXPECT_EQ(places.size(), 14U);
  for (std::int64_t i = 0; i < 40; ++i) {
    const auto label = changed.targets[i].item<std::int64_t>();
    EXPECT_EQ(label != bench.dataset.train.targets[i].item<std::int64_t>(), places.contains(i)) << i;
    EXPECT_TRUE(label >= 0 && label < 4);
  }
  for (std::size_t i = 0; i < 14; ++i) {
    const auto& shard = shards[static_cast<std::size_t>(canaries.clients()[i])];
    EXPECT_TRUE(std::ranges::count(shard, canaries.places()[i]) == 1);
  }
  EXPECT_TRUE(torch::equal(bench.dataset.train.targets, torch::arange(40).remainder(4)));
}

// Also of samples of a fixed size: a canary that is out leaves its place empty, and nothing else changes.
TEST(MislabelledCanaries, ThatAreOutLeaveTheirPlaceEmpty) {
  const CanaryBench bench;
  const std::vector<std::vector<std::int64_t>> shards{range(0, 10)};
  const Examples labelled{bench.dataset.train.inputs, torch::arange(400).remainder(4)};
  const Canaries canaries({kMislabelledCanaries, 6}, 2, shards, labelled, 4, 401);
  std::set<std::int64_t> out;
  for (std::size_t i = 0; i < 6; ++i) {
    if (!canaries.in()[i]) out.insert(canaries.places()[i]);
  }
  ASSERT_GT(out.size(), 0U);
  ASSERT_LT(out.size(), 6U);
  for (const char* sampling : {kPoisson, kWithoutReplacement}) {
    const RecordPolicy policy = record_policy(kNoClipping, 0, sampling);
    const Streams streams(1, 2, 0);
    RecordOracle with = bench.audited(canaries, policy, streams);
    RecordOracle without = bench.audited(Canaries(), policy, streams);
    for (const std::int64_t batch_size : {0, 4, 4, 4, 4}) {
      const Params answer = with.gradient(bench.zero(), {.batch_size = batch_size});
      torch::Tensor expected = without.gradient(bench.zero(), {.batch_size = batch_size}).flat().clone();
      for (const std::int64_t place : out) expected[place] = 0;
      // The bias sums over all examples in the sample.
      EXPECT_TRUE(torch::equal(answer.flat().slice(0, 0, 400), expected.slice(0, 0, 400)));
    }
    EXPECT_EQ(with.accesses().list(), without.accesses().list());
    EXPECT_EQ(with.size(), 10);
    EXPECT_EQ(with.exact_batch().inputs.size(0), 10 - static_cast<std::int64_t>(out.size()));
  }
}

// Expected are 4 of 40 clients: a canary that is in is in every tenth cohort.
TEST(ClientCanaries, SendAVectorAsLongAsTheClipNormAtTheRateOfCohorts) {
  constexpr std::int64_t kCanaries = 6;
  constexpr int kRounds = 3000;
  constexpr double kClip = 0.7;
  const Canaries canaries({kClientCanaries, kCanaries}, 8, {}, {}, 0, 0);
  const ClientPolicy policy = client_policy(kClip, 0);
  const Params zeros = vector_of(std::vector<double>(30));
  Params sum = zeros;
  for (int round = 1; round <= kRounds; ++round) {
    const PrivateUplink uplink({.policy = policy,
                                .clip_norm = kClip,
                                .expected_cohort = 4,
                                .population = 40,
                                .streams = Streams(8, round, kServer),
                                .zeros = zeros,
                                .canaries = &canaries},
                               {});
    sum += uplink.mean(kFirst);
    EXPECT_EQ(norm(uplink.mean(kSecond)), 0);
  }
  // sum = kClip / 4 * (counts times directions): solved for the counts.
  torch::Tensor directions = torch::zeros({30, kCanaries}, torch::kFloat64);
  for (std::int64_t i = 0; i < kCanaries; ++i) {
    const Params direction = canaries.direction(i, zeros);
    EXPECT_LE(norm(direction), 1);
    EXPECT_GT(norm(direction), 1 - 1e-5);
    directions.select(1, i).copy_(direction.flat());
  }
  const torch::Tensor gram = directions.t().mm(directions);
  const torch::Tensor counts = gram.inverse().mv(directions.t().mv(sum.flat())) * (4 / kClip);
  for (std::int64_t i = 0; i < kCanaries; ++i) {
    const bool in = canaries.in()[static_cast<std::size_t>(i)];
    EXPECT_NEAR(counts[i].item<double>(), in ? 0.1 * kRounds : 0,
                in ? 5.4 * std::sqrt(kRounds * 0.09) : 1e-6);
  }
}

}  // namespace
}  // namespace fedarena
