// What the oracle of policy "record" really adds to sums of gradients: noisy answers minus clean ones over
// the same samples. Each comparison raises a false alarm with probability 1e-6 over seeds; there are 163
// here.
#include <vector>

#include <gtest/gtest.h>

#include "harness/oracle/record_oracle.hpp"
#include "tests/harness/oracle/bench.hpp"
#include "tests/statistical/noise_statistics.hpp"

namespace fedarena {
namespace {

constexpr double kRecordNoiseClip = 0.7, kMultiplier = 1.9;
constexpr std::int64_t kRecordNoiseRounds = 40, kClients = 10, kAccesses = 5, kBatch = 6;

std::vector<double> numbers(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.to(torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

class RecordNoise : public ::testing::Test {
 protected:
  // By (round, client, access), in that order.
  static void SetUpTestSuite() {
    const Bench bench(1);
    const double deviation = kMultiplier * kRecordNoiseClip / kBatch;
    for (std::int64_t round = 1; round <= kRecordNoiseRounds; ++round) {
      for (std::int64_t client = 0; client < kClients; ++client) {
        const Streams streams(21, round, client);
        RecordOracle noisy = bench.record(range(0, 40), record_policy(kRecordNoiseClip, kMultiplier), streams);
        RecordOracle clean = bench.record(range(0, 40), record_policy(kRecordNoiseClip, 0), streams);
        for (std::int64_t access = 0; access < kAccesses; ++access) {
          const torch::Tensor answer = clean.gradient(bench.at(), {.batch_size = kBatch}).flat();
          const torch::Tensor noise = noisy.gradient(bench.at(), {.batch_size = kBatch}).flat() - answer;
          answers.push_back(numbers(answer));
          vectors.push_back(numbers(noise / deviation));
        }
      }
    }
  }
  static const std::vector<double>& at(std::int64_t round, std::int64_t client, std::int64_t access) {
    return vectors[static_cast<std::size_t>((round * kClients + client) * kAccesses + access)];
  }

  static inline NoiseVectors vectors, answers;
};

TEST_F(RecordNoise, IsNormalWithTheDeviationOfTheEvent) { expect_standard_normal(vectors); }

TEST_F(RecordNoise, HasNoCovarianceBetweenCoordinates) { expect_identity_covariance(vectors); }

TEST_F(RecordNoise, IsIndependentAcrossAccesses) {
  for (const std::int64_t lag : {1, 4}) {
    NoiseVectors left, right;
    for (std::int64_t round = 0; round < kRecordNoiseRounds; ++round) {
      for (std::int64_t client = 0; client < kClients; ++client) {
        for (std::int64_t access = lag; access < kAccesses; ++access) {
          left.push_back(at(round, client, access - lag));
          right.push_back(at(round, client, access));
        }
      }
    }
    expect_independent(left, right, "accesses");
  }
}

TEST_F(RecordNoise, IsIndependentAcrossRounds) {
  for (const std::int64_t lag : {1, 7}) {
    NoiseVectors left, right;
    for (std::int64_t round = lag; round < kRecordNoiseRounds; ++round) {
      for (std::int64_t client = 0; client < kClients; ++client) {
        for (std::int64_t access = 0; access < kAccesses; ++access) {
          left.push_back(at(round - lag, client, access));
          right.push_back(at(round, client, access));
        }
      }
    }
    expect_independent(left, right, "rounds");
  }
}

TEST_F(RecordNoise, IsIndependentAcrossClients) {
  for (const std::int64_t lag : {1, 3}) {
    NoiseVectors left, right;
    for (std::int64_t round = 0; round < kRecordNoiseRounds; ++round) {
      for (std::int64_t client = lag; client < kClients; ++client) {
        for (std::int64_t access = 0; access < kAccesses; ++access) {
          left.push_back(at(round, client - lag, access));
          right.push_back(at(round, client, access));
        }
      }
    }
    expect_independent(left, right, "clients");
  }
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

// The same of the system's generator, which has no seed: these three fail in three runs of a million.
TEST(SystemNoise, IsNormalInAnswers) {
  const Bench bench(1);
  RecordPolicy policy = record_policy(kRecordNoiseClip, kMultiplier);
  policy.noise_source = kSystemNoise;
  NoiseVectors vectors;
  for (int round = 1; round <= 200; ++round) {
    RecordOracle oracle = bench.record({}, policy);
    for (int access = 0; access < 5; ++access) {
      vectors.push_back(
          numbers(oracle.gradient(bench.at(), {.batch_size = 0}).flat() / (kMultiplier * kRecordNoiseClip)));
    }
  }
  expect_standard_normal(vectors);
}

// In single precision, too: the sum is rounded after the noise, not the noise's deviation.
TEST(RecordNoiseInSinglePrecision, HasTheSameDistribution) {
  const Bench bench(1);
  const Model model({.input_shape = {3}, .outputs = 4, .layers = {Linear{3, 4}}}, torch::kFloat32);
  const GradientEngine engine(model, bench.pool);
  const ExampleReader reader(bench.dataset, torch::kFloat32);
  const Params zero = Params::zeros(model.layout(), torch::kFloat32);
  RecordOracle oracle({bench.dataset.train, reader, model, engine, bench.stop, 4},
                      torch::empty({0}, torch::kInt64), Streams(9, 1, 1), record_policy(kRecordNoiseClip, kMultiplier));
  NoiseVectors vectors;
  for (int access = 0; access < 2'000; ++access) {
    vectors.push_back(numbers(oracle.gradient(zero, {.batch_size = 0}).flat() / (kMultiplier * kRecordNoiseClip)));
  }
  expect_standard_normal(vectors);
}

}  // namespace
}  // namespace fedarena
