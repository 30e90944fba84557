// What the oracle of policy "record" really adds to sums of gradients: noisy answers minus clean ones over
// the same samples. Each comparison raises a false alarm with probability 1e-6 over seeds; there are 155
// here.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/oracle/record_oracle.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"
#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {
namespace {

// What was added to several answers, in units of the deviation that it ought to have: one vector an answer.
using NoiseVectors = std::vector<std::vector<double>>;

// Mean 0, variance 1 and Kolmogorov's distance from the standard normal, all coordinates together: three
// comparisons.
void expect_standard_normal(const NoiseVectors& vectors) {
  std::vector<double> values;
  for (const auto& vector : vectors) values.insert(values.end(), vector.begin(), vector.end());
  EXPECT_LT(std::abs(mean_z(values, 0, 1)), kNormalBound);
  EXPECT_LT(std::abs(variance_z(values, 0, 1, 3)), kNormalBound);
  EXPECT_LT(kolmogorov_of_normal(values), kKolmogorovBound);
}

// Of products of independent standard normals, sums are normal with variance `count`: one comparison.
void expect_uncorrelated(double sum_of_products, double count, const std::string& what) {
  EXPECT_LT(std::abs(sum_of_products) / std::sqrt(count), kNormalBound) << what;
}

// Covariance 0 between all pairs of coordinates, variance 1 of each: n (n + 1) / 2 comparisons.
void expect_identity_covariance(const NoiseVectors& vectors) {
  const auto count = static_cast<double>(vectors.size());
  for (std::size_t i = 0; i < vectors.front().size(); ++i) {
    std::vector<double> own;
    for (const auto& vector : vectors) own.push_back(vector[i]);
    EXPECT_LT(std::abs(variance_z(own, 0, 1, 3)), kNormalBound) << "coordinate " << i;
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0;
      for (const auto& vector : vectors) sum += vector[i] * vector[j];
      expect_uncorrelated(sum, count, "coordinates " + std::to_string(i) + ", " + std::to_string(j));
    }
  }
}

// No correlation of left[k] with right[k], in any pair of their coordinates: one comparison for equal
// coordinates, one for all pairs.
void expect_independent(const NoiseVectors& left, const NoiseVectors& right, const std::string& what) {
  ASSERT_EQ(left.size(), right.size());
  double equal = 0, all = 0, equal_count = 0, all_count = 0;
  for (std::size_t k = 0; k < left.size(); ++k) {
    for (std::size_t i = 0; i < left[k].size(); ++i) {
      for (std::size_t j = 0; j < right[k].size(); ++j) {
        const double product = left[k][i] * right[k][j];
        all += product;
        ++all_count;
        if (i != j) continue;
        equal += product;
        ++equal_count;
      }
    }
  }
  expect_uncorrelated(equal, equal_count, what);
  expect_uncorrelated(all, all_count, what);
}

constexpr double kClip = 0.7, kMultiplier = 1.9;

class RecordNoise : public ::testing::Test {
 protected:
  static constexpr std::int64_t kRounds = 40, kClients = 10, kAccesses = 5, kBatch = 6;

  // By (round, client, access), in that order.
  static void SetUpTestSuite() {
    const Bench bench(1);
    const double deviation = kMultiplier * kClip / kBatch;
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      for (std::int64_t client = 0; client < kClients; ++client) {
        const Streams streams(21, round, client);
        RecordOracle noisy = bench.record(range(0, 40), record_policy(kClip, kMultiplier), streams);
        RecordOracle clean = bench.record(range(0, 40), record_policy(kClip, 0), streams);
        for (std::int64_t access = 0; access < kAccesses; ++access) {
          const torch::Tensor answer = clean.gradient(bench.at(), {.batch_size = kBatch}).flat();
          const torch::Tensor noise = noisy.gradient(bench.at(), {.batch_size = kBatch}).flat() - answer;
          answers.push_back(numbers_of(answer));
          vectors.push_back(numbers_of(noise / deviation));
        }
      }
    }
  }
  static const std::vector<double>& at(std::int64_t round, std::int64_t client, std::int64_t access) {
    return vectors[static_cast<std::size_t>((round * kClients + client) * kAccesses + access)];
  }

  // Of all pairs of accesses that are so many rounds, clients and accesses apart.
  static void expect_independence_at(std::int64_t rounds, std::int64_t clients, std::int64_t accesses) {
    NoiseVectors left, right;
    for (std::int64_t round = rounds; round < kRounds; ++round) {
      for (std::int64_t client = clients; client < kClients; ++client) {
        for (std::int64_t access = accesses; access < kAccesses; ++access) {
          left.push_back(at(round - rounds, client - clients, access - accesses));
          right.push_back(at(round, client, access));
        }
      }
    }
    expect_independent(left, right, fmt::format("{}, {}, {} apart", rounds, clients, accesses));
  }

  static inline NoiseVectors vectors, answers;
};

TEST_F(RecordNoise, IsNormalWithTheDeviationOfTheEvent) { expect_standard_normal(vectors); }

TEST_F(RecordNoise, HasNoCovarianceBetweenCoordinates) { expect_identity_covariance(vectors); }

TEST_F(RecordNoise, IsIndependentAcrossAccesses) {
  for (const std::int64_t lag : {1, 4}) expect_independence_at(0, 0, lag);
}

TEST_F(RecordNoise, IsIndependentAcrossRounds) {
  for (const std::int64_t lag : {1, 7}) expect_independence_at(lag, 0, 0);
}

TEST_F(RecordNoise, IsIndependentAcrossClients) {
  for (const std::int64_t lag : {1, 3}) expect_independence_at(0, lag, 0);
}

// Given the answers, sum_k answer_k noise_k is normal with variance sum_k answer_k^2.
TEST_F(RecordNoise, IsIndependentOfWhatItHides) {
  double sum = 0, squares = 0;
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    for (std::size_t i = 0; i < vectors[k].size(); ++i) {
      sum += answers[k][i] * vectors[k][i];
      squares += answers[k][i] * answers[k][i];
    }
  }
  expect_uncorrelated(sum, squares, "answers");
}

// In single precision, too: the sum is rounded after the noise, not the noise's deviation.
TEST(RecordNoiseInSinglePrecision, HasTheSameDistribution) {
  const Bench bench(1);
  const Model model({.input_shape = {3}, .outputs = 4, .layers = {Linear{3, 4}}}, torch::kFloat32);
  const GradientEngine engine(model, bench.pool);
  const ExampleReader reader(bench.dataset, torch::kFloat32);
  const Params zero = Params::zeros(model.layout(), torch::kFloat32);
  RecordOracle oracle({bench.dataset.train, reader, model, engine, bench.stop, 4},
                      torch::empty({0}, torch::kInt64), Streams(9, 1, 1), record_policy(kClip, kMultiplier));
  NoiseVectors vectors;
  for (int access = 0; access < 2'000; ++access) {
    vectors.push_back(numbers_of(oracle.gradient(zero, {.batch_size = 0}).flat() / (kMultiplier * kClip)));
  }
  expect_standard_normal(vectors);
}

// What policy "client" really adds to sums of messages. Each comparison raises a false alarm with probability
// 1e-6 over seeds; there are 60 here.

constexpr std::int64_t kSums = 2'000, kCohort = 4;
constexpr double kSumClip = 3, kSumMultiplier = 0.8, kCountNoise = 5;

class ClientNoise : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Server40 server{client_policy(kSumClip, kSumMultiplier), 8};
    server.policy.adaptive_clipping = true;
    server.policy.count_noise = kCountNoise;
    const double deviation = noise_multipliers(server.policy, kCohort)[0] * kSumClip / kCohort;
    const std::vector<double> values{1, 1, 0, 0, 1, 0, 0, 1};
    for (std::int64_t round = 1; round <= kSums; ++round) {
      server.streams = Streams(31, round, kServer);
      // Six messages of norm 2, of which four were expected.
      const PrivateUplink uplink = server.receive(std::vector<Message>(
          6, {{kFirst, vector_of(values)}, {kSecond, vector_of(std::vector<double>(8))}}));
      const Params sum = (6.0 / kCohort) * vector_of(values);
      first.push_back(numbers_of((1 / deviation) * (uplink.mean(kFirst) - sum)));
      second.push_back(numbers_of((1 / deviation) * uplink.mean(kSecond)));
      // C' = C exp(-rate (0.5 + (6 / 2 + noise) / 4 - 0.5))
      const double part = -std::log(uplink.next_clip_norm() / kSumClip) / server.policy.clip_rate;
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

// Clients send zero: the model moves by noise alone.
class Still final : public Algorithm {
 public:
  Message broadcast(const Server& server) const override { return {{kModel, server.params}}; }
  Message train(Client& /*client*/, const Message& downlink) const override {
    return {{kModel, zeros_like(downlink[kModel])}};
  }
  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override { return {kModel}; }
  void aggregate(Server& server, const Uplink& uplink) const override {
    server.params += uplink.mean(kModel);
  }
};

class ClientNoiseOfARun : public SmallRuns<Still> {
 protected:
  ClientNoiseOfARun() : SmallRuns({2, 2, 2, 2, 2}) {}
};

// The whole way, cohorts of any size: each round's step has the deviation z C / expected cohort.
TEST_F(ClientNoiseOfARun, HasTheDeviationOfTheLedgersEvents) {
  SimulationSetup setup = setup_on(pool, 500, 2, client_policy(kSumClip, kSumMultiplier));
  setup.evaluate_every = 500;
  Simulation simulation(setup);
  NoiseVectors steps;
  while (!simulation.finished()) {
    const Params before = simulation.params();
    simulation.next_round();
    steps.push_back(numbers_of((2 / (kSumMultiplier * kSumClip)) * (simulation.params() - before)));
  }
  expect_standard_normal(steps);
  ASSERT_EQ(simulation.ledger().population().size(), 1U);
  EXPECT_EQ(simulation.ledger().population()[0].participations, 500);
}

}  // namespace
}  // namespace fedarena
