// Exhibits 3 and 8: adaptive clipping with the wrong sign, and without the price of its count.
#include <cmath>
#include <string>

#include <gmock/gmock.h>

#include "fedarena/accounting/rdp.hpp"

#include "harness/simulation/checkpoint.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

using ::testing::HasSubstr;

constexpr double kUpdateNorm = 5;
constexpr double kStep = 0.2 * 0.5;  // of log C, when all messages lie on one side of it
constexpr int kAdaptiveClippingRounds = 60;

// The clip norm after sixty rounds in which every message has the same norm and next to nothing is noised.
double settled_clip_norm(double start) {
  const Federation federation({1, 1, 1, 1});
  const Exhibit algorithm([](Client&, const Params& params) {
    Params trained = params;
    trained.flat().slice(0, 0, 1).add_(kUpdateNorm);
    return trained;
  });
  ClientPolicy policy;
  policy.sampling = kFixedSize;
  policy.clip_norm = start;
  policy.noise_multiplier = 0;
  policy.adaptive_clipping = true;
  policy.count_noise = 1e-9;
  Simulation simulation(federation.setup(algorithm, policy, kAdaptiveClippingRounds));
  finish(simulation);
  return unpack_checkpoint(simulation.save(), federation.model).clip_norm;
}

// The part of the messages that were clipped in the formula for the part that were not.
double clip_norm_with_the_wrong_sign(double start) {
  double clip_norm = start;
  for (int round = 0; round < kAdaptiveClippingRounds; ++round)
    clip_norm *= std::exp(clip_norm < kUpdateNorm ? -kStep : kStep);
  return clip_norm;
}

TEST(AdaptiveClippingSign, MakesTheClipNormMeetTheMessages) {
  for (const double start : {0.1, 200.0}) {
    EXPECT_LE(std::abs(std::log(settled_clip_norm(start) / kUpdateNorm)), kStep * 1.01) << start;
    EXPECT_GT(std::abs(std::log(clip_norm_with_the_wrong_sign(start) / kUpdateNorm)), 9) << start;
  }
}

constexpr std::int64_t kAdaptiveClippingClients = 1'000, kCohort = 4, kManyRounds = 15'000;

ClientPolicy counting(double count_noise) {
  ClientPolicy policy;
  policy.noise_multiplier = 1;
  policy.adaptive_clipping = true;
  policy.count_noise = count_noise;
  return policy;
}

TEST(AdaptiveClippingCount, IsPartOfEpsilon) {
  const Federation federation(std::vector<std::int64_t>(kAdaptiveClippingClients, 1));
  const Exhibit algorithm;
  SimulationSetup setup = federation.setup(algorithm, counting(1));
  setup.cohort_size = kCohort;
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
  EXPECT_THAT(message_of([&] { simulation.next_round(); }), HasSubstr("count_noise 0.4 is too little"));
  EXPECT_EQ(simulation.rounds_done(), 0);
}

}  // namespace
}  // namespace fedarena
