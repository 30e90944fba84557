#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "fedarena/accounting/odometer.hpp"
#include "fedarena/base/find.hpp"

#include "harness/oracle/private_uplink.hpp"
#include "tests/harness/oracle/bench.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using ::testing::DoubleNear;
using Values = std::vector<double>;

constexpr double kTolerance = 1e-11;  // factors are 1e-12 smaller than their formula

const SampledGaussian& only_event(const RoundAccesses& accesses) {
  EXPECT_EQ(accesses.list().size(), 1U);
  EXPECT_EQ(accesses.list().at(0).count, 1);
  return std::get<SampledGaussian>(accesses.list().at(0).event);
}

// ||(3, 4, 0, 12)|| = 13 is cut to 6.5 by one half; ||(1, 0, 2, 2)|| = 3 stays.
TEST(PrivateUplink, ClipsAllParametersOfAMessageTogether) {
  const Server40 server{client_policy(6.5, 0)};
  const PrivateUplink uplink = server.receive({two_vectors({3, 4}, {0, 12}), two_vectors({1, 0}, {2, 2})});
  EXPECT_THAT(numbers_of(uplink.mean(kFirst)),
              ElementsAre(DoubleNear(2.5 / 4, kTolerance), DoubleNear(2.0 / 4, kTolerance)));
  EXPECT_THAT(numbers_of(uplink.mean(kSecond)),
              ElementsAre(DoubleNear(2.0 / 4, kTolerance), DoubleNear(8.0 / 4, kTolerance)));
}

TEST(PrivateUplink, NeverLetsAMessageExceedTheClipNorm) {
  Stream stream({.seed = 2});
  for (const double clip : {1e-5, 0.1, 1.0, 77.0}) {
    for (const torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
      for (int repeat = 0; repeat < 100; ++repeat) {
        Server40 server{client_policy(clip, 0), 50};
        server.expected_cohort = 1;
        const Params zeros = vector_of(Values(50));
        const auto vector = [&] {
          const torch::Tensor values = normal(stream, {50}) * std::exp(20 * stream.normal());
          return Params(zeros.layout(), values.to(type));
        };
        const PrivateUplink uplink({.policy = server.policy,
                                    .clip_norm = clip,
                                    .streams = server.streams,
                                    .zeros = Params::zeros(zeros.layout(), type)},
                                   {{{kFirst, vector()}, {kSecond, vector()}}});
        const Params first = uplink.mean(kFirst), second = uplink.mean(kSecond);
        EXPECT_LE(std::sqrt(dot(first, first) + dot(second, second)), clip);
      }
    }
  }
}

double length_of(const torch::Tensor& vector) { return vector.to(torch::kFloat64).norm().item<double>(); }

// The factor then has few digits in single precision, or none.
TEST(Clipping, HoldsForMessagesOfAnySize) {
  for (const double clip_norm : {1e-30, 4e-7, 5e-7, 6e-7, 1.0}) {
    for (const double size : {1e3, 1e15, 3e37, 9e37}) {
      const torch::Tensor vector = torch::full({50}, size, torch::kFloat32);
      const double norm = length_of(vector);
      const torch::Tensor clipped = vector.clone(), sum = torch::zeros_like(vector);
      clip(clipped, norm, clip_norm);
      add_clipped(sum, vector, norm, clip_norm);
      for (const torch::Tensor& result : {clipped, sum}) {
        EXPECT_LE(length_of(result), clip_norm) << size;
        EXPECT_GE(length_of(result), 0.999 * clip_norm) << size;
      }
    }
  }
  const torch::Tensor beyond = torch::full({50}, 1e300, torch::kFloat64);
  clip(beyond, 1e300 * std::sqrt(50), 1e-30);
  EXPECT_EQ(length_of(beyond), 0);
}

TEST(PrivateUplink, DividesByTheExpectedCohortNotTheActualOne) {
  const Server40 server{client_policy(100, 0)};
  for (const std::size_t actual : {1, 3, 4, 9}) {
    const PrivateUplink uplink = server.receive(std::vector<Message>(actual, two_vectors({1, 10}, {0, 0})));
    const auto count = static_cast<double>(actual);
    EXPECT_EQ(uplink.size(), 4);
    EXPECT_EQ(numbers_of(uplink.mean(kFirst)), (Values{count / 4, 10 * count / 4}));
  }
}

TEST(PrivateUplink, AnswersForNobodyWithNoiseAlone) {
  EXPECT_EQ(numbers_of(Server40{client_policy(5, 0)}.receive({}).mean(kFirst)), (Values{0, 0}));
  const PrivateUplink uplink = Server40{client_policy(5, 1)}.receive({});
  for (const double value : numbers_of(uplink.mean(kFirst))) EXPECT_NE(value, 0);
  EXPECT_EQ(only_event(uplink.accesses()).rate, 0.1);
}

TEST(PrivateUplink, LeavesOutWhatIsNoNumber) {
  const Server40 server{client_policy(100, 0)};
  for (const double value : {std::nan(""), kInfinity, -kInfinity, 1e200}) {
    const PrivateUplink uplink = server.receive(
        {two_vectors({1, 2}, {3, 4}), two_vectors({5, 5}, {value, 5}), two_vectors({value, 5}, {5, 5})});
    EXPECT_EQ(numbers_of(uplink.mean(kFirst)), (Values{0.25, 0.5})) << value;
    EXPECT_EQ(numbers_of(uplink.mean(kSecond)), (Values{0.75, 1})) << value;
  }
}

TEST(PrivateUplink, AnswersTheSameQuestionAlike) {
  const PrivateUplink uplink = Server40{client_policy(5, 1)}.receive({two_vectors({1, 2}, {3, 4})});
  const Values first = numbers_of(uplink.mean(kFirst)), second = numbers_of(uplink.mean(kSecond));
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(numbers_of(uplink.mean(kFirst)), first);
    EXPECT_EQ(numbers_of(uplink.mean(kSecond)), second);
  }
}

// Which of two threads asks first decides which noise is whose, and both may have had the same.
TEST(PrivateUplink, AnswersInTheThreadOfTheServerAlone) {
  const Server40 server{client_policy(1, 1)};
  const PrivateUplink uplink = server.receive({two_vectors({3, 4}, {0, 12})});
  for (const bool raw : {false, true}) {
    std::string refusal;
    std::thread([&] {
      refusal = message_of([&] { raw ? (void)uplink.each() : (void)uplink.mean(kFirst); });
    }).join();
    EXPECT_THAT(refusal, HasSubstr(raw ? "asks for messages in a thread" : "asks for a mean in a thread"));
  }
  EXPECT_TRUE(uplink.accesses().list().empty());
}

// Parts of one long vector that is noised once: one event, with a rate and one multiplier.
TEST(PrivateUplink, ChargesOneEventForAllKeys) {
  const PrivateUplink uplink = Server40{client_policy(5, 1.3)}.receive({two_vectors({1, 2}, {1, 2})});
  EXPECT_TRUE(uplink.accesses().list().empty());
  const Values first = numbers_of(uplink.mean(kFirst)), second = numbers_of(uplink.mean(kSecond));
  EXPECT_EQ(only_event(uplink.accesses()),
            (SampledGaussian{Sampling::kPoisson, 0.1, {1.3}, Adjacency::kZeroOut}));
  EXPECT_TRUE(uplink.as_if_accesses().list().empty());
  EXPECT_NE(first[0] - second[0], 0);  // equal sums, hence the noise differs
  EXPECT_NE(first[1] - second[1], 0);
}

TEST(PrivateUplink, ChargesCohortsOfAFixedSizeAsSuch) {
  Server40 server{client_policy(5, 1.3)};
  server.policy.sampling = kWithoutReplacement;
  const PrivateUplink uplink = server.receive({two_vectors({1, 2}, {1, 2})});
  (void)uplink.mean(kFirst);
  EXPECT_EQ(only_event(uplink.accesses()),
            (SampledGaussian{Sampling::kWithoutReplacement, 0.1, {1.3}, Adjacency::kReplaceOne}));
}

// No key shares its noise with another one or with the count of adaptive clipping, whatever they are called.
TEST(PrivateUplink, NoisesAdversarialNamesApart) {
  Server40 server{client_policy(5, 1)};
  server.policy.adaptive_clipping = true;
  server.policy.count_noise = 10;
  const Key<Params> count_like{"clip norm"}, empty{""};
  const PrivateUplink uplink = server.receive({});
  const Values one = numbers_of(uplink.mean(count_like)), other = numbers_of(uplink.mean(empty));
  const double sum_noise = one[0] * 4 / (5 * noise_multipliers(server.policy, 4)[0]);
  const double part = 0.5 - std::log(uplink.next_clip_norm() / 5) / server.policy.clip_rate;
  const double count_noise = (part - 0.5) * 4 / 10;
  EXPECT_GT(std::abs(sum_noise - count_noise), 1e-6);
  EXPECT_NE(one, other);
}

TEST(PrivateUplink, RefusesAWeightedMeanAndSaysWhy) {
  const PrivateUplink uplink = Server40{client_policy(5, 1)}.receive({two_vectors({1, 2}, {3, 4})});
  expect_refused(has_all("a mean of \"first\" weighted by \"weight\" under the policy \"client\"",
                         "all clients weigh alike", "weighting = \"uniform\""),
                 [&] { (void)uplink.mean(kFirst, kWeight); });
  EXPECT_TRUE(uplink.accesses().list().empty());
}

TEST(PrivateUplink, ChargesInfinityForRawMessages) {
  const PrivateUplink uplink = Server40{client_policy(5, 1)}.receive({two_vectors({1, 2}, {3, 4})});
  (void)uplink.mean(kFirst);
  EXPECT_EQ(uplink.each().size(), 1U);
  ASSERT_EQ(uplink.accesses().list().size(), 2U);
  EXPECT_EQ(uplink.accesses().list()[1], (Access{ExactAccess{"messages"}, 1}));
  Ledger ledger(Unit::kClient);
  ledger.record_population(1, uplink.accesses());
  EXPECT_EQ(Odometer(AccountSettings()).epsilon(ledger).epsilon, kInfinity);
}

// Clients may have chosen the name by their examples, and whether anybody is there is a secret.
TEST(PrivateUplink, ChargesInfinityForMeansThatAreNotDeclared) {
  Server40 server{client_policy(5, 1)};
  server.declared = {kFirst, Key<std::int64_t>{"second"}};
  for (const std::vector<Message>& messages : {std::vector<Message>(), {two_vectors({1, 2}, {3, 4})}}) {
    const PrivateUplink uplink = server.receive(messages), late = server.receive(messages);
    (void)uplink.mean(kSecond);
    EXPECT_TRUE(contains(uplink.accesses().list(), Access{ExactAccess{kUndeclaredMessages}, 1}));
    (void)late.mean(kFirst);
    EXPECT_EQ(late.accesses().list().size(), 1U);
    expect_refused("for the first time after noised answers", [&] { (void)late.mean(kSecond); });
  }
}

// The simulated noise is that of the larger cohort on the mean; what is really spent is written beside it.
TEST(PrivateUplink, RescalesNoiseToALargerCohort) {
  Server40 plain{client_policy(5, 2), 1'000}, scaled = plain;
  scaled.policy.as_if_cohort = 400;
  scaled.policy.as_if_population = 100'000;
  const PrivateUplink small = plain.receive({}), larger = scaled.receive({});
  const Values loud = numbers_of(small.mean(kFirst)), quiet = numbers_of(larger.mean(kFirst));
  for (std::size_t i = 0; i < loud.size(); ++i) EXPECT_NEAR(quiet[i], loud[i] * 4 / 400, 1e-14);
  EXPECT_EQ(only_event(larger.accesses()),
            (SampledGaussian{Sampling::kPoisson, 0.1, {2 * 4.0 / 400}, Adjacency::kZeroOut}));
  EXPECT_EQ(only_event(larger.as_if_accesses()),
            (SampledGaussian{Sampling::kPoisson, 0.004, {2}, Adjacency::kZeroOut}));
}

// Adaptive clipping: Andrew, Thakkar, McMahan, Ramaswamy, "Differentially private learning with adaptive
// clipping", NeurIPS 2021, Algorithm 1 and Theorem 1.

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

double next_norm(const Server40& server, std::vector<Message> messages) {
  const PrivateUplink uplink = server.receive(std::move(messages));
  (void)uplink.mean(kFirst);
  return uplink.next_clip_norm();
}

// The next clip norm after that many messages of norm 1 and that many of norm 3.
double next_norm(const Server40& server, int below, int above) {
  std::vector<Message> messages;
  for (int i = 0; i < below; ++i) messages.push_back({{kFirst, vector_of({1})}});
  for (int i = 0; i < above; ++i) messages.push_back({{kFirst, vector_of({3})}});
  return next_norm(server, std::move(messages));
}

std::string refusal(const ClientPolicy& policy, std::int64_t cohort) {
  return message_of([&] { (void)noise_multipliers(policy, cohort); });
}

TEST(AsIf, StandsForNothingSmallerThanWhatIsSimulated) {
  const auto check = [](std::int64_t cohort, std::int64_t population) {
    ClientPolicy policy;
    policy.as_if_cohort = cohort;
    policy.as_if_population = population;
    check_as_if(policy, 40, 100);
  };
  const auto refused = [&](std::int64_t cohort, std::int64_t population) {
    return message_of([&] { check(cohort, population); });
  };
  EXPECT_NO_THROW(check(0, 0));
  EXPECT_NO_THROW(check(40, 100));
  EXPECT_THAT(refused(39, 1'000), HasSubstr("as_if_cohort is 39, but cohorts of 40 are simulated"));
  EXPECT_THAT(refused(40, 99), HasSubstr("as_if_population is 99, but 100 clients are simulated"));
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

// Where all messages are short, the norm falls for ever.
TEST(AdaptiveClipping, StaysWithinWhatSinglePrecisionCanClipTo) {
  std::vector<Message> messages;
  for (int i = 0; i < 10; ++i) messages.push_back({{kFirst, vector_of({0})}});
  EXPECT_EQ(next_norm(quiet_server(1.01 * kLeastClipNorm, 0.1, 1), std::move(messages)), kLeastClipNorm);
}

TEST(Policies, RefuseClipNormsBeyondSinglePrecision) {
  int clipping = 0;
  for (const PolicyInfo& policy : policies()) {
    if (find_field(policy.fields, "clip_norm") == nullptr) continue;
    ++clipping;
    const auto make = [&](double clip_norm) {
      policy.make(complete(policy.fields, {{"clip_norm", clip_norm}}));
    };
    make(kLeastClipNorm);
    expect_refused("clip_norm is 1e-44; allowed: a number from", [&] { make(1e-44); });
  }
  EXPECT_EQ(clipping, 3);
}

TEST(AdaptiveClipping, CountsANormEqualToTheClipNormAsBelow) {
  EXPECT_NEAR(next_norm(quiet_server(3), 0, 10), 3 * std::exp(-0.2 * 0.5), 1e-10);
}

TEST(AdaptiveClipping, CountsWhatIsNoNumberAsAbove) {
  const std::vector<Message> messages(10, {{kFirst, vector_of({std::nan("")})}});
  EXPECT_NEAR(next_norm(quiet_server(), messages), 2 * std::exp(0.2 * 0.5), 1e-10);
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
        server.policy.clip_norm = next_norm(server, std::move(messages));
      }
      EXPECT_GE(server.policy.clip_norm, 20 * quantile * 0.98);
      EXPECT_LE(server.policy.clip_norm, (20 * quantile + 1) * 1.02);
    }
  }
}

// Whether a client sent an entry is its own secret.
TEST(PrivateUplink, TakesNothingFromAMessageWithoutTheEntry) {
  const Server40 server{client_policy(10, 0)};
  const Message other{{kSecond, vector_of({5, 5})}}, number{{Key<double>{"first"}, 5.0}};
  const PrivateUplink uplink = server.receive({{{kFirst, vector_of({1, 2})}}, other, number});
  EXPECT_EQ(numbers_of(uplink.mean(kFirst)), (std::vector<double>{0.25, 0.5}));
  // That of nobody is a mistake in a name; whoever catches it has learnt from whole messages.
  const PrivateUplink in_vain = server.receive({other});
  expect_refused(AllOf(HasSubstr("the mean of \"first\", which no client sent"), Not(HasSubstr("second"))),
                 [&] { (void)in_vain.mean(kFirst); });
  EXPECT_EQ(in_vain.accesses().list(), (std::vector<Access>{{ExactAccess{"messages"}, 1}}));
  EXPECT_NO_THROW((void)server.receive({}).mean(kFirst));
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
    const SampledGaussian& event = only_event(uplink.accesses());
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
  EXPECT_NO_THROW((void)noise_multipliers(policy, 100));
  policy.count_noise = 0;  // a twentieth of the cohort: 0.5 for 10 clients
  EXPECT_THAT(refusal(policy, 10), HasSubstr("count_noise 0.5 is too little"));
  EXPECT_NO_THROW((void)noise_multipliers(policy, 11));
}

// What the larger cohort can hide, the simulation of it need not refuse; the smaller one is charged fully.
TEST(AdaptiveClipping, RescalesBothQueriesToALargerCohort) {
  Server40 server{client_policy(2, 1), 1};
  server.policy.adaptive_clipping = true;
  server.policy.as_if_cohort = 1'000;
  server.policy.as_if_population = 1'000'000;
  server.expected_cohort = kCohort;
  EXPECT_NO_THROW((void)noise_multipliers(server.policy, kCohort));
  const PrivateUplink uplink = server.receive({});
  (void)uplink.mean(kFirst);
  const SampledGaussian &as_if = only_event(uplink.as_if_accesses()),
                        &simulated = only_event(uplink.accesses());
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
