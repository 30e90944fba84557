// What policy "client" really adds to sums of messages. Each comparison raises a false alarm with probability
// 1e-6 over seeds; there are 60 here.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "harness/simulation/simulation.hpp"
#include "tests/harness/oracle/uplinks.hpp"
#include "tests/statistical/noise_statistics.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kClientNoiseRounds = 2'000, kCohort = 4;
constexpr double kClientNoiseClip = 3, kMultiplier = 0.8, kCountNoise = 5;

class ClientNoise : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Server40 server{client_policy(kClientNoiseClip, kMultiplier), 8};
    server.policy.adaptive_clipping = true;
    server.policy.count_noise = kCountNoise;
    const double deviation = noise_multipliers(server.policy, kCohort)[0] * kClientNoiseClip / kCohort;
    const std::vector<double> values{1, 1, 0, 0, 1, 0, 0, 1};
    for (std::int64_t round = 1; round <= kClientNoiseRounds; ++round) {
      server.streams = Streams(31, round, kServer);
      // Six messages of norm 2, of which four were expected.
      const PrivateUplink uplink = server.receive(std::vector<Message>(
          6, {{kFirst, vector_of(values)}, {kSecond, vector_of(std::vector<double>(8))}}));
      const Params sum = (6.0 / kCohort) * vector_of(values);
      first.push_back(numbers_of((1 / deviation) * (uplink.mean(kFirst) - sum)));
      second.push_back(numbers_of((1 / deviation) * uplink.mean(kSecond)));
      // C' = C exp(-rate (0.5 + (6 / 2 + noise) / 4 - 0.5))
      const double part = -std::log(uplink.next_clip_norm() / kClientNoiseClip) / server.policy.clip_rate;
      count.push_back({(part * kCohort - 3) / kCountNoise});
    }
  }
  static inline NoiseVectors first, second, count;
};

TEST_F(ClientNoise, OfEveryKeyIsNormalWithTheDeviationOfTheEvent) {
  expect_standard_normal(first);
  expect_standard_normal(second);
}

TEST_F(ClientNoise, OfTheCountIsNormalWithTheDeviationOfTheEvent) { expect_standard_normal(count); }

TEST_F(ClientNoise, HasNoCovarianceBetweenCoordinates) { expect_identity_covariance(first); }

TEST_F(ClientNoise, IsIndependentBetweenKeys) { expect_independent(first, second, "keys"); }

TEST_F(ClientNoise, OfTheCountIsIndependentOfThatOfTheSums) {
  expect_independent(first, count, "first and count");
  expect_independent(second, count, "second and count");
}

TEST_F(ClientNoise, IsIndependentAcrossRounds) {
  for (const auto* noise : {&first, &second, &count}) {
    expect_independent({noise->begin(), noise->end() - 1}, {noise->begin() + 1, noise->end()}, "rounds");
  }
}

constexpr Key<Params> kNothing{"nothing"};

// Clients send zero: the model moves by noise alone.
class Still final : public Algorithm {
 public:
  Message broadcast(const Server& server) const override { return {{kNothing, server.params}}; }
  Message train(Client& /*client*/, const Message& downlink) const override {
    return {{kNothing, zeros_like(downlink[kNothing])}};
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    server.params += uplink.mean(kNothing);
  }
};

// The whole way, cohorts of any size: each round's step has the deviation z C / expected cohort.
TEST(ClientNoiseOfARun, HasTheDeviationOfTheLedgersEvents) {
  Dataset dataset;
  Stream stream({.seed = 1});
  dataset.train = dataset.test = {normal(stream, {10, 3}), torch::arange(10).remainder(2)};
  dataset.classes = 2;
  const Partition partition{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}};
  const Model model({.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 2}}}, torch::kFloat64);
  const Still algorithm;
  const WorkPool pool(1);
  const std::atomic<bool> stop = false;
  Simulation simulation({.dataset = dataset,
                         .partition = partition,
                         .model = model,
                         .algorithm = algorithm,
                         .pool = pool,
                         .stop = stop,
                         .seed = 3,
                         .rounds = 500,
                         .cohort_size = 2,
                         .evaluate_every = 500,
                         .policy = client_policy(kClientNoiseClip, kMultiplier)});
  NoiseVectors steps;
  while (!simulation.finished()) {
    const Params before = simulation.params();
    simulation.next_round();
    steps.push_back(numbers_of((2 / (kMultiplier * kClientNoiseClip)) * (simulation.params() - before)));
  }
  expect_standard_normal(steps);
  ASSERT_EQ(simulation.ledger().population().size(), 1U);
  EXPECT_EQ(simulation.ledger().population()[0].participations, 500);
}

}  // namespace
}  // namespace fedarena
