// Error rates: each statistical comparison raises a false alarm with probability 1e-6 over seeds.
#include "harness/oracle/local_mechanism.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"

#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

using ::testing::HasSubstr;

LocalPolicy local_policy(const std::string& mechanism, double clip_norm, double noise_multiplier) {
  LocalPolicy policy;
  policy.mechanism = mechanism;
  policy.clip_norm = clip_norm;
  policy.noise_multiplier = noise_multiplier;
  return policy;
}

// A message after it went through the policy, and what was written down.
struct Sent {
  Message message;
  std::vector<Access> accesses;
};

Sent sent(Message message, const LocalPolicy& policy, std::int64_t examples = 7) {
  RoundAccesses book;
  randomise(message, policy, examples, Streams(1, 1, 0), book);
  return {std::move(message), book.list()};
}

Params two_tensors(const std::vector<double>& first, const std::vector<double>& second) {
  Layout layout;
  layout.add("first", {static_cast<std::int64_t>(first.size())});
  layout.add("second", {static_cast<std::int64_t>(second.size())});
  std::vector<double> all = first;
  all.insert(all.end(), second.begin(), second.end());
  return {std::make_shared<const Layout>(layout), torch::tensor(all, torch::kFloat64)};
}

TEST(LocalMechanism, ClipsAllVectorsOfAMessageTogether) {
  const Sent clipped = sent(two_vectors({0, 3}, {4, 0}), local_policy(kLocalGaussian, 1, 0));
  EXPECT_NEAR(numbers_of(clipped.message[kFirst])[1], 0.6, 1e-9);
  EXPECT_NEAR(numbers_of(clipped.message[kSecond])[0], 0.8, 1e-9);
  EXPECT_LE(std::hypot(norm(clipped.message[kFirst]), norm(clipped.message[kSecond])), 1);
  EXPECT_EQ(clipped.message[kWeight], 7) << "the number of examples is public";
  const Sent shorter = sent(two_vectors({0, 3}, {4, 0}), local_policy(kLocalGaussian, 5.5, 0));
  EXPECT_EQ(numbers_of(shorter.message[kSecond]), (std::vector<double>{4, 0}));
}

TEST(LocalMechanism, AddsGaussianNoiseOfTheStatedDeviation) {
  const std::vector<double> zeros(4'000, 0.0);
  const Sent noisy = sent(two_vectors(zeros, zeros), local_policy(kLocalGaussian, 2, 1.5));
  std::vector<double> noise = numbers_of(noisy.message[kFirst]);
  for (const double number : numbers_of(noisy.message[kSecond])) noise.push_back(number);
  for (double& number : noise) number /= 2 * 1.5;
  EXPECT_LT(kolmogorov_of_normal(noise), kKolmogorovBound);
  EXPECT_LT(std::abs(variance_z(noise, 0, 1, 3)), kNormalBound);
  EXPECT_EQ(noisy.accesses, (std::vector<Access>{{Gaussian{1.5, Adjacency::kReplaceOne}, 1}}));
}

// Messages clipped to C lie at most 2 C apart: 2 C / (z C).
TEST(LocalMechanism, WritesTheEpsilonOfTheBoundedDomain) {
  const Message message = two_vectors({0, 3}, {4, 0});
  EXPECT_EQ(sent(message, local_policy(kLocalLaplace, 3, 10)).accesses,
            (std::vector<Access>{{Laplace{4, 0.2}, 1}}));
  EXPECT_EQ(sent(message, local_policy(kLocalLaplace, 0, 10)).accesses,
            (std::vector<Access>{{MetricLaplace{4, 10}, 1}}));
}

TEST(LocalMechanism, ScalesRelativeNoiseByTheClippedMessage) {
  const LocalPolicy policy = local_policy(kLocalRelative, 0, 5);
  const auto noise_on = [&](double length) {
    const std::vector<double> direction{0.6 * length, 0.8 * length};
    const Sent noisy = sent({{kFirst, vector_of(direction)}}, policy);
    EXPECT_EQ(noisy.accesses.back(), (Access{Nominal{"n/nu", 0.4}, 1}));
    return norm(noisy.message[kFirst] - vector_of(direction));
  };
  EXPECT_NEAR(noise_on(10), 10 * noise_on(1), 1e-9);
  EXPECT_EQ(noise_on(0), 0);
}

TEST(LocalMechanism, TakesEachTensorByItself) {
  LocalPolicy policy = local_policy(kLocalGaussian, 1, 0);
  policy.by_tensor = true;
  const Sent clipped = sent({{kFirst, two_tensors({3, 4}, {0.1, 0.2, 0.2})}}, policy);
  const std::vector<double> numbers = numbers_of(clipped.message[kFirst]);
  EXPECT_NEAR(numbers[0], 0.6, 1e-9);
  EXPECT_NEAR(numbers[1], 0.8, 1e-9);
  EXPECT_EQ(numbers[2], 0.1);
  EXPECT_EQ(clipped.accesses, (std::vector<Access>{{Gaussian{0, Adjacency::kReplaceOne}, 2}}));
  policy.mechanism = kLocalLaplace;
  policy.noise_multiplier = 4;
  EXPECT_EQ(sent({{kFirst, two_tensors({3, 4}, {0.1, 0.2, 0.2})}}, policy).accesses,
            (std::vector<Access>{{Laplace{2, 0.5}, 1}, {Laplace{3, 0.5}, 1}}));
}

TEST(LocalMechanism, SendsNoiseAloneInPlaceOfWhatIsNotANumber) {
  const LocalPolicy policy = local_policy(kLocalGaussian, 1, 1);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Sent noise = sent(two_vectors({0, 0}, {0, 0}), policy);
  for (const double odd : {nan, inf}) {
    const Sent broken = sent(two_vectors({1, 2}, {odd, 3}), policy);
    EXPECT_TRUE(same_bits(broken.message[kFirst], noise.message[kFirst]));
    EXPECT_TRUE(same_bits(broken.message[kSecond], noise.message[kSecond]));
  }
}

TEST(LocalMechanism, RefusesWhatItCannotNoise) {
  const LocalPolicy policy = local_policy(kLocalGaussian, 1, 1);
  const auto refusal = [&](const Message& message) {
    return test::message_of([&] { sent(message, policy); });
  };
  const Params vector = vector_of({1});
  EXPECT_THAT(refusal({{kFirst, vector}, {Key<double>{"radius"}, 0.5}}),
              HasSubstr("a message with \"radius\", a number, under the policy \"local\""));
  EXPECT_THAT(refusal({{kFirst, vector}, {Key<torch::Tensor>{"labels"}, torch::ones({2})}}),
              HasSubstr("\"labels\", a tensor"));
  EXPECT_THAT(refusal({{kFirst, vector}, {kWeight, std::int64_t{8}}}),
              HasSubstr("\"weight\", an integer that is not the number of the client's examples"));
}

TEST(LocalPolicy, NeedsAClipNormForGaussianNoise) {
  EXPECT_THAT(test::message_of([] { local_policy(kLocalGaussian, 0, 1).validate(); }),
              HasSubstr("clip_norm is 0 with the mechanism \"gaussian\""));
  EXPECT_NO_THROW(local_policy(kLocalLaplace, 0, 1).validate());
}

}  // namespace
}  // namespace fedarena
