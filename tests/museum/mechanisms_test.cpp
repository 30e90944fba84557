// Exhibits 3 and 8: adaptive clipping with the wrong sign, and without the price of its count.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/accounting/rdp.hpp"

#include "harness/simulation/checkpoint.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

constexpr double kUpdateNorm = 5;
constexpr double kStep = 0.2 * 0.5;  // of log C, when all messages lie on one side of it
constexpr int kSettlingRounds = 60;

// The clip norm after sixty rounds in which every message has the same norm and next to nothing is noised.
double settled_clip_norm(double start) {
  const Federation federation({1, 1, 1, 1});
  const Exhibit algorithm([](Client&, const Params& params) {
    Params trained = params;
    trained.flat().slice(0, 0, 1).add_(kUpdateNorm);
    return trained;
  });
  ClientPolicy policy;
  policy.sampling = kWithoutReplacement;
  policy.clip_norm = start;
  policy.noise_multiplier = 0;
  policy.adaptive_clipping = true;
  policy.count_noise = 1e-9;
  Simulation simulation(federation.setup(algorithm, policy, kSettlingRounds));
  finish(simulation);
  return unpack_checkpoint(simulation.save(), federation.model).clip_norm;
}

// The part of the messages that were clipped in the formula for the part that were not.
double clip_norm_with_the_wrong_sign(double start) {
  double clip_norm = start;
  for (int round = 0; round < kSettlingRounds; ++round)
    clip_norm *= std::exp(clip_norm < kUpdateNorm ? -kStep : kStep);
  return clip_norm;
}

TEST(AdaptiveClippingSign, MakesTheClipNormMeetTheMessages) {
  for (const double start : {0.1, 200.0}) {
    EXPECT_LE(std::abs(std::log(settled_clip_norm(start) / kUpdateNorm)), kStep * 1.01) << start;
    EXPECT_GT(std::abs(std::log(clip_norm_with_the_wrong_sign(start) / kUpdateNorm)), 9) << start;
  }
}

constexpr std::int64_t kManyRounds = 15'000;

ClientPolicy counting(double count_noise) {
  ClientPolicy policy;
  policy.noise_multiplier = 1;
  policy.adaptive_clipping = true;
  policy.count_noise = count_noise;
  return policy;
}

TEST(AdaptiveClippingCount, IsPartOfEpsilon) {
  const Federation federation(std::vector<std::int64_t>(1'000, 1));
  const Exhibit algorithm;
  SimulationSetup setup = federation.setup(algorithm, counting(1));
  setup.cohort_size = 4;
  Simulation simulation(setup);
  simulation.next_round();
  const std::vector<Access> round = simulation.ledger().charged(0);
  ASSERT_EQ(round.size(), 1U);
  const auto honest = std::get<SampledGaussian>(round[0].event);
  const auto epsilon = [](const SampledGaussian& event) {
    RdpAccountant accountant(rdp_orders("default"));
    accountant.add(event, kManyRounds);
    return accountant.epsilon(1e-5).epsilon;
  };
  EXPECT_EQ(honest.rate, 0.004);
  EXPECT_NEAR(epsilon(honest), 2.97, 0.005);
  EXPECT_NEAR(epsilon(honest), poisson_epsilon(1, 0.004, kManyRounds), 1e-9);
  SampledGaussian without_count = honest;
  without_count.noise_multipliers.resize(1);
  EXPECT_NEAR(epsilon(without_count), 2.31, 0.005);
}

// The noise that would be left for the sum is the root of a negative number.
TEST(AdaptiveClippingCount, IsRefusedWhereItAloneTellsTooMuch) {
  const Federation federation({1, 1, 1, 1});
  const Exhibit algorithm;
  Simulation simulation(federation.setup(algorithm, counting(0.4)));
  expect_refused("count_noise 0.4 is too little", [&] { simulation.next_round(); });
  EXPECT_EQ(simulation.rounds_done(), 0);
}

// Exhibit 4: noise for a plain mean on a mean that is weighted by examples.

class WeightedMean : public ::testing::Test {
 protected:
  static constexpr std::int64_t kClients = 20, kCohort = 4;

  // The first client holds 15 % of all examples, three times its share.
  static std::vector<std::int64_t> shard_sizes() {
    std::vector<std::int64_t> sizes(kClients, 51);
    sizes[0] = 171;
    return sizes;
  }
  std::unique_ptr<const Algorithm> fedavg(const std::string& weighting) const {
    return plugins().create("fedavg", {{"weighting", weighting}, {"local_steps", 1}, {"batch_size", 0}});
  }
  SimulationSetup setup(const Algorithm& algorithm) const {
    SimulationSetup result = federation.setup(algorithm, ClientPolicy(), 100);
    result.cohort_size = kCohort;
    return result;
  }

  Federation federation{shard_sizes()};
};

TEST_F(WeightedMean, IsRefusedWithTheReason) {
  const auto algorithm = fedavg("examples");
  Simulation simulation(setup(*algorithm));
  const std::string message = message_of([&] { simulation.next_round(); });
  EXPECT_THAT(message, has_all("weighted by \"examples\" under the policy \"client\"",
                               "the clip norm bounds what one client can change only there"));
  EXPECT_EQ(simulation.rounds_done(), 0);
}

// Three times the share is three times the distance between neighbours, hence a third of the noise.
TEST_F(WeightedMean, WouldHaveCostTenTimesTheEpsilon) {
  const auto algorithm = fedavg("uniform");
  Simulation simulation(setup(*algorithm));
  EXPECT_NEAR(finish(simulation), 15.97, 0.005);
  const double share = 171.0 / static_cast<double>(federation.dataset.train.size()) * kClients;
  EXPECT_DOUBLE_EQ(share, 3);
  EXPECT_NEAR(poisson_epsilon(1 / share, static_cast<double>(kCohort) / kClients, 100), 153, 0.1);
}

// Exhibit 7: a clip norm that is taken for the order of a norm, noise that is rescaled at every layer.
// Error rates: each comparison of variances raises a false alarm with probability 1e-6 over seeds.

class ClipNorm : public ::testing::Test {
 protected:
  /// The gradient on the whole shard that the server gets in each round, at the initial weights throughout.
  std::vector<Params> answers(const Federation& federation, const PrivacyPolicy& policy,
                              std::int64_t rounds) const {
    std::vector<Params> all;
    const Exhibit algorithm(sgd(1, 0, -1),
                            [&](Server&, const Uplink& uplink) { all.push_back(uplink.mean(kUpdate)); });
    Simulation simulation(federation.setup(algorithm, policy, rounds));
    while (!simulation.finished()) simulation.next_round();
    return all;
  }
  const std::vector<Layer> layers{Linear{3, 20}, Relu{}, Linear{20, 20}, Relu{}, Linear{20, 2}};
};

// An example's gradient, all layers together, keeps its direction and gets the clip norm as Euclidean length.
TEST_F(ClipNorm, IsTheEuclideanLengthOfTheWholeGradient) {
  const Federation one_example({1}, layers);
  const Params exact = answers(one_example, NoPolicy{}, 1)[0];
  for (const double clip_norm : {1e-4, 1e-3, 1e-2}) {
    ASSERT_GT(norm(exact), 2 * clip_norm);
    const Params clipped = answers(one_example, record_policy(clip_norm, 0), 1)[0];
    EXPECT_LE(norm(clipped), clip_norm);
    EXPECT_LE(norm(clipped - (clip_norm / norm(exact)) * exact), 1e-6 * clip_norm);
  }
}

TEST_F(ClipNorm, ScalesTheNoiseOfEveryLayerAlike) {
  constexpr std::int64_t kExamples = 5, kRounds = 150;
  constexpr double kMultiplier = 1.5;
  const Federation federation({kExamples}, layers);
  for (const double clip_norm : {0.5, 2.0, 7.0}) {
    const std::vector<Params> noisy = answers(federation, record_policy(clip_norm, kMultiplier), kRounds);
    const std::vector<Params> quiet = answers(federation, record_policy(clip_norm, 0), kRounds);
    const double deviation = kMultiplier * clip_norm / kExamples;
    for (std::size_t tensor = 0; tensor < federation.model.layout()->size(); ++tensor) {
      std::vector<double> noise;
      for (std::size_t round = 0; round < noisy.size(); ++round) {
        const std::vector<double> part = numbers_of((noisy[round] - quiet[round])[tensor]);
        noise.insert(noise.end(), part.begin(), part.end());
      }
      const double variance = deviation * deviation;
      EXPECT_LT(std::abs(variance_z(noise, 0, variance, 3 * variance * variance)), kNormalBound)
          << "tensor " << tensor << ", clip norm " << clip_norm;
    }
  }
}

}  // namespace
}  // namespace fedarena
