// Adaptive clipping: Andrew, Thakkar, McMahan, Ramaswamy, "Differentially private learning with adaptive
// clipping", NeurIPS 2021, Algorithm 1 and Theorem 1.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"

#include "tests/harness/oracle/uplinks.hpp"

namespace fedarena {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kCohort = 10;

// No noise on the sum and next to none on the count.
Server40 quiet_server(double clip_norm = 2, double quantile = 0.5, double rate = 0.2) {
  Server40 server{client_policy(clip_norm, 0), 1};
  server.policy.adaptive_clipping = true;
  server.policy.target_quantile = quantile;
  server.policy.clip_rate = rate;
  server.policy.count_noise = 1e-12;
  server.expected_cohort = kCohort;
  return server;
}

// The next clip norm after that many messages of norm 1 and that many of norm 3.
double next_norm(const Server40& server, int below, int above) {
  std::vector<Message> messages;
  for (int i = 0; i < below; ++i) messages.push_back({{kFirst, vector_of({1})}});
  for (int i = 0; i < above; ++i) messages.push_back({{kFirst, vector_of({3})}});
  const PrivateUplink uplink = server.receive(std::move(messages));
  (void)uplink.mean(kFirst);
  return uplink.next_clip_norm();
}

std::string refusal(const ClientPolicy& policy, std::int64_t cohort) {
  try {
    (void)noise_multipliers(policy, cohort);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

// C <- C exp(-rate (part below - quantile)): down when more than the quantile lie below it, up when fewer do.
TEST(AdaptiveClipping, FollowsTheGeometricUpdate) {
  for (const double quantile : {0.1, 0.5, 0.9}) {
    for (const double rate : {0.2, 1.0}) {
      for (int below = 0; below <= 10; ++below) {
        const double expected = 2 * std::exp(-rate * (below / 10.0 - quantile));
        EXPECT_NEAR(next_norm(quiet_server(2, quantile, rate), below, 10 - below), expected, 1e-10);
      }
    }
  }
}

TEST(AdaptiveClipping, LowersTheNormWhenMostMessagesAreBelowIt) {
  EXPECT_LT(next_norm(quiet_server(), 9, 1), 2);
  EXPECT_GT(next_norm(quiet_server(), 1, 9), 2);
  EXPECT_NEAR(next_norm(quiet_server(), 5, 5), 2, 1e-10);
}

TEST(AdaptiveClipping, CountsANormEqualToTheClipNormAsBelow) {
  EXPECT_NEAR(next_norm(quiet_server(3), 0, 10), 3 * std::exp(-0.2 * 0.5), 1e-10);
}

TEST(AdaptiveClipping, CountsWhatIsNoNumberAsAbove) {
  const Server40 server = quiet_server();
  const PrivateUplink uplink =
      server.receive(std::vector<Message>(10, {{kFirst, vector_of({std::nan("")})}}));
  (void)uplink.mean(kFirst);
  EXPECT_NEAR(uplink.next_clip_norm(), 2 * std::exp(0.2 * 0.5), 1e-10);
}

// Norms 1, 2, ..., 20: the quantile q lies between the norms 20 q and 20 q + 1.
TEST(AdaptiveClipping, SettlesAtTheTargetQuantile) {
  for (const double quantile : {0.25, 0.5, 0.8}) {
    for (const double start : {0.01, 500.0}) {
      Server40 server = quiet_server(start, quantile);
      server.expected_cohort = 20;
      for (int round = 0; round < 400; ++round) {
        std::vector<Message> messages;
        for (int norm = 1; norm <= 20; ++norm) messages.push_back({{kFirst, vector_of({double(norm)})}});
        const PrivateUplink uplink = server.receive(std::move(messages));
        (void)uplink.mean(kFirst);
        server.policy.clip_norm = uplink.next_clip_norm();
      }
      EXPECT_GE(server.policy.clip_norm, 20 * quantile * 0.98);
      EXPECT_LE(server.policy.clip_norm, (20 * quantile + 1) * 1.02);
    }
  }
}

TEST(AdaptiveClipping, StaysWhereItIsWhenNothingIsAsked) {
  const Server40 server = quiet_server();
  EXPECT_EQ(server.receive({{{kFirst, vector_of({1})}}}).next_clip_norm(), 2);
  Server40 fixed = server;
  fixed.policy.adaptive_clipping = false;
  EXPECT_EQ(next_norm(fixed, 10, 0), 2);
}

// The round that counts still clips by its own norm.
TEST(AdaptiveClipping, MovesTheNormOfTheNextRoundOnly) {
  const Server40 server = quiet_server(2);
  const PrivateUplink uplink = server.receive({{{kFirst, vector_of({3})}, {kSecond, vector_of({0})}}});
  (void)uplink.mean(kSecond);
  EXPECT_NE(uplink.next_clip_norm(), 2);
  EXPECT_NEAR(numbers_of(uplink.mean(kFirst))[0], 2.0 / kCohort, 1e-11);
}

// Theorem 1: what is added to the sum grows, so that sum and count together tell what the policy says.
TEST(AdaptiveClipping, ChargesTheCount) {
  Server40 server{client_policy(2, 1), 1};
  server.policy.adaptive_clipping = true;
  server.expected_cohort = 100;
  for (const double count_noise : {0.0, 3.0, 20.0}) {  // 0: a twentieth of the cohort
    server.policy.count_noise = count_noise;
    const PrivateUplink uplink = server.receive({});
    (void)uplink.mean(kFirst);
    (void)uplink.mean(kSecond);
    ASSERT_EQ(uplink.accesses().list().size(), 1U);
    const auto& event = std::get<SampledGaussian>(uplink.accesses().list()[0].event);
    ASSERT_EQ(event.noise_multipliers.size(), 2U);
    EXPECT_EQ(event.noise_multipliers[1], 2 * (count_noise > 0 ? count_noise : 5));
    EXPECT_GT(event.noise_multipliers[0], 1);
    EXPECT_NEAR(joint_noise_multiplier(event), 1, 1e-12);
    EXPECT_EQ(event.noise_multipliers, noise_multipliers(server.policy, 100));
  }
}

TEST(AdaptiveClipping, ChargesNothingMoreWhenTheNormIsFixed) {
  EXPECT_EQ(noise_multipliers(client_policy(2, 1.5), 100), std::vector<double>{1.5});
}

TEST(AdaptiveClipping, WithoutNoiseOnTheSumNoisesTheCountAlone) {
  ClientPolicy policy = client_policy(2, 0);
  policy.adaptive_clipping = true;
  EXPECT_EQ(noise_multipliers(policy, 100), (std::vector<double>{0, 10}));
}

TEST(AdaptiveClipping, RefusesACountThatTellsMoreThanThePolicyAllows) {
  ClientPolicy policy = client_policy(2, 1);
  policy.adaptive_clipping = true;
  for (const double too_little : {0.1, 0.499, 0.5}) {
    policy.count_noise = too_little;
    EXPECT_THAT(refusal(policy, 100), HasSubstr("is too little for the noise multiplier 1"));
    EXPECT_THAT(refusal(policy, 100), HasSubstr("a number above 0.5"));
  }
  policy.count_noise = 0.501;
  EXPECT_EQ(refusal(policy, 100), "none");
  policy.count_noise = 0;  // a twentieth of the cohort: 0.5 for 10 clients
  EXPECT_THAT(refusal(policy, 10), HasSubstr("count_noise 0.5 is too little"));
  EXPECT_EQ(refusal(policy, 11), "none");
}

// What the larger cohort can hide, the simulation of it need not refuse; the smaller one is charged fully.
TEST(AdaptiveClipping, RescalesBothQueriesToALargerCohort) {
  Server40 server{client_policy(2, 1), 1};
  server.policy.adaptive_clipping = true;
  server.policy.as_if_cohort = 1'000;
  server.policy.as_if_population = 1'000'000;
  server.expected_cohort = kCohort;
  EXPECT_EQ(refusal(server.policy, kCohort), "none");
  const PrivateUplink uplink = server.receive({});
  (void)uplink.mean(kFirst);
  const auto& as_if = std::get<SampledGaussian>(uplink.as_if_accesses().list().at(0).event);
  const auto& simulated = std::get<SampledGaussian>(uplink.accesses().list().at(0).event);
  EXPECT_EQ(as_if.rate, 0.001);
  EXPECT_EQ(simulated.rate, 0.1);
  EXPECT_NEAR(joint_noise_multiplier(as_if), 1, 1e-12);
  EXPECT_NEAR(joint_noise_multiplier(simulated), 0.01, 1e-14);
  ASSERT_EQ(simulated.noise_multipliers.size(), 2U);
  EXPECT_EQ(as_if.noise_multipliers[1], 100);
  EXPECT_EQ(simulated.noise_multipliers[1], 1);
}

}  // namespace
}  // namespace fedarena
