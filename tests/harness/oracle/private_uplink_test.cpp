#include "harness/oracle/private_uplink.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/accounting/odometer.hpp"
#include "fedarena/base/error.hpp"

#include "tests/harness/oracle/uplinks.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<double>;

constexpr double kPrivateUplinkNoNoise = 0;
constexpr double kTolerance = 1e-11;  // factors are 1e-12 smaller than their formula

const SampledGaussian& only_event(const RoundAccesses& accesses) {
  EXPECT_EQ(accesses.list().size(), 1U);
  EXPECT_EQ(accesses.list().at(0).count, 1);
  return std::get<SampledGaussian>(accesses.list().at(0).event);
}

// ||(3, 4, 0, 12)|| = 13 is cut to 6.5 by one half; ||(1, 0, 2, 2)|| = 3 stays.
TEST(PrivateUplink, ClipsAllParametersOfAMessageTogether) {
  const Server40 server{client_policy(6.5, kPrivateUplinkNoNoise)};
  const PrivateUplink uplink = server.receive({message_of({3, 4}, {0, 12}), message_of({1, 0}, {2, 2})});
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
        Server40 server{client_policy(clip, kPrivateUplinkNoNoise), 50};
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

TEST(PrivateUplink, DividesByTheExpectedCohortNotTheActualOne) {
  const Server40 server{client_policy(100, kPrivateUplinkNoNoise)};
  for (const std::size_t actual : {1, 3, 4, 9}) {
    const PrivateUplink uplink = server.receive(std::vector<Message>(actual, message_of({1, 10}, {0, 0})));
    const auto count = static_cast<double>(actual);
    EXPECT_EQ(uplink.size(), 4);
    EXPECT_EQ(numbers_of(uplink.mean(kFirst)), (Values{count / 4, 10 * count / 4}));
  }
}

TEST(PrivateUplink, AnswersForNobodyWithNoiseAlone) {
  EXPECT_EQ(numbers_of(Server40{client_policy(5, kPrivateUplinkNoNoise)}.receive({}).mean(kFirst)), (Values{0, 0}));
  const PrivateUplink uplink = Server40{client_policy(5, 1)}.receive({});
  for (const double value : numbers_of(uplink.mean(kFirst))) EXPECT_NE(value, 0);
  EXPECT_EQ(only_event(uplink.accesses()).rate, 0.1);
}

TEST(PrivateUplink, LeavesOutWhatIsNoNumber) {
  const Server40 server{client_policy(100, kPrivateUplinkNoNoise)};
  for (const double value : {std::nan(""), kInfinity, -kInfinity, 1e200}) {
    const PrivateUplink uplink = server.receive(
        {message_of({1, 2}, {3, 4}), message_of({5, 5}, {value, 5}), message_of({value, 5}, {5, 5})});
    EXPECT_EQ(numbers_of(uplink.mean(kFirst)), (Values{0.25, 0.5})) << value;
    EXPECT_EQ(numbers_of(uplink.mean(kSecond)), (Values{0.75, 1})) << value;
  }
}

TEST(PrivateUplink, AnswersTheSameQuestionAlike) {
  const PrivateUplink uplink = Server40{client_policy(5, 1)}.receive({message_of({1, 2}, {3, 4})});
  const Values first = numbers_of(uplink.mean(kFirst)), second = numbers_of(uplink.mean(kSecond));
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(numbers_of(uplink.mean(kFirst)), first);
    EXPECT_EQ(numbers_of(uplink.mean(kSecond)), second);
  }
}

// Parts of one long vector that is noised once: one event, with a rate and one multiplier.
TEST(PrivateUplink, ChargesOneEventForAllKeys) {
  const PrivateUplink uplink = Server40{client_policy(5, 1.3)}.receive({message_of({1, 2}, {1, 2})});
  EXPECT_TRUE(uplink.accesses().list().empty());
  const Values first = numbers_of(uplink.mean(kFirst)), second = numbers_of(uplink.mean(kSecond));
  EXPECT_EQ(only_event(uplink.accesses()),
            (SampledGaussian{Sampling::kPoisson, 0.1, {1.3}, Adjacency::kAddRemove}));
  EXPECT_TRUE(uplink.as_if_accesses().list().empty());
  EXPECT_NE(first[0] - second[0], 0);  // equal sums, hence the noise differs
  EXPECT_NE(first[1] - second[1], 0);
}

TEST(PrivateUplink, ChargesCohortsOfAFixedSizeAsSuch) {
  Server40 server{client_policy(5, 1.3)};
  server.policy.sampling = kFixedSize;
  const PrivateUplink uplink = server.receive({message_of({1, 2}, {1, 2})});
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

TEST(PrivateUplink, NoisesRoundsAndSeedsDifferently) {
  const auto noise = [](const Streams& streams) {
    Server40 server{client_policy(5, 1)};
    server.streams = streams;
    return numbers_of(server.receive({}).mean(kFirst));
  };
  EXPECT_EQ(noise(Streams(1, 1, kServer)), noise(Streams(1, 1, kServer)));
  EXPECT_NE(noise(Streams(1, 1, kServer)), noise(Streams(1, 2, kServer)));
  EXPECT_NE(noise(Streams(1, 1, kServer)), noise(Streams(2, 1, kServer)));
}

TEST(PrivateUplink, RefusesAWeightedMeanAndSaysWhy) {
  const PrivateUplink uplink = Server40{client_policy(5, 1)}.receive({message_of({1, 2}, {3, 4})});
  try {
    (void)uplink.mean(kFirst, kWeight);
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("a mean of \"first\" weighted by \"weight\" under the policy \"client\""));
    EXPECT_THAT(error.what(), HasSubstr("all clients weigh alike"));
    EXPECT_THAT(error.what(), HasSubstr("weighting = \"uniform\""));
  }
  EXPECT_TRUE(uplink.accesses().list().empty());
}

TEST(PrivateUplink, ChargesInfinityForRawMessages) {
  const PrivateUplink uplink = Server40{client_policy(5, 1)}.receive({message_of({1, 2}, {3, 4})});
  (void)uplink.mean(kFirst);
  EXPECT_EQ(uplink.each().size(), 1U);
  ASSERT_EQ(uplink.accesses().list().size(), 2U);
  EXPECT_EQ(uplink.accesses().list()[1], (Access{ExactAccess{"messages"}, 1}));
  Ledger ledger(Unit::kClient);
  ledger.record_population(1, uplink.accesses());
  EXPECT_EQ(Odometer(AccountSettings()).epsilon(ledger).epsilon, kInfinity);
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
            (SampledGaussian{Sampling::kPoisson, 0.1, {2 * 4.0 / 400}, Adjacency::kAddRemove}));
  EXPECT_EQ(only_event(larger.as_if_accesses()),
            (SampledGaussian{Sampling::kPoisson, 0.004, {2}, Adjacency::kAddRemove}));
}

}  // namespace
}  // namespace fedarena
