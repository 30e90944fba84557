// Error rates: each statistical comparison raises a false alarm with probability 1e-6 over seeds.
#include "harness/oracle/local_mechanism.hpp"

#include <cmath>
#include <vector>

#include "fedarena/base/error.hpp"

#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

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

Sent sent(Message message, const LocalPolicy& policy, const std::vector<UplinkEntry>& declared,
          const Centres& centres = {}) {
  RoundAccesses book;
  randomise(message, {.entries = declared, .examples = 7, .sender = "client 3 of algorithm \"a\" in round 2"},
            policy, centres, Streams(1, 1, 0), book);
  for (const Message::Entry& entry : message.entries()) {
    const auto* params = std::get_if<Params>(&entry.content);
    if (params == nullptr) continue;
    EXPECT_EQ(charges_of(declared, *params, policy, centres).list(), book.list()) << "told beforehand";
  }
  return {std::move(message), book.list()};
}

// What is sent is what is declared.
Sent sent(const Message& message, const LocalPolicy& policy, const Centres& centres = {}) {
  std::vector<UplinkEntry> declared;
  for (const Message::Entry& entry : message.entries()) {
    const bool vector = std::holds_alternative<Params>(entry.content);
    declared.push_back(vector ? UplinkEntry(Key<Params>{entry.name.c_str()})
                              : UplinkEntry(Key<std::int64_t>{entry.name.c_str()}));
  }
  return sent(message, policy, declared, centres);
}

Params two_tensors(const std::vector<double>& first, const std::vector<double>& second) {
  Layout layout;
  layout.add({static_cast<std::int64_t>(first.size())});
  layout.add({static_cast<std::int64_t>(second.size())});
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
  const Sent noise = sent(two_vectors({0, 0}, {0, 0}), policy);
  for (const double odd : {kNan, kInfinity}) {
    const Sent broken = sent(two_vectors({1, 2}, {odd, 3}), policy);
    EXPECT_TRUE(same_bits(broken.message[kFirst], noise.message[kFirst]));
    EXPECT_TRUE(same_bits(broken.message[kSecond], noise.message[kSecond]));
  }
}

// Names, kinds and order of entries pass no mechanism, so data must not decide them.
TEST(LocalMechanism, RefusesWhatIsNotDeclared) {
  const LocalPolicy policy = local_policy(kLocalGaussian, 1, 1);
  const auto refusal = [&](const Message& message) {
    return message_of([&] { sent(message, policy, {kFirst, kWeight}); });
  };
  const Params vector = vector_of({1});
  const std::int64_t seven = 7;
  const Message declared{{kFirst, vector}, {kWeight, seven}};
  EXPECT_NO_THROW(sent(declared, policy, {kFirst, kWeight}));
  const auto with = [&](const Message::Entry& more) {
    Message message = declared;
    message.put_entry(more);
    return message;
  };
  EXPECT_THAT(refusal(with({Key<double>{"radius"}, 0.5})),
              has_all("client 3 of algorithm \"a\" in round 2 sends \"radius\", a number, which its "
                      "algorithm does not declare, under the policy \"local\"",
                      "\"first\", parameters; \"weight\", the number of its examples"));
  EXPECT_THAT(refusal(with({Key<torch::Tensor>{"labels"}, torch::ones({2})})),
              HasSubstr("\"labels\", a tensor"));
  // A name alone tells something: of parameters that would be noised, and of a public number.
  EXPECT_THAT(refusal(with({Key<Params>{"class-3"}, vector})), HasSubstr("\"class-3\", parameters, which"));
  EXPECT_THAT(refusal(with({Key<std::int64_t>{"class-3"}, seven})),
              HasSubstr("\"class-3\", an integer, which"));
  // So does one that is missing, and a message of nothing.
  EXPECT_THAT(refusal({{kFirst, vector}}), HasSubstr("sends no \"weight\", which its algorithm declares"));
  EXPECT_THAT(refusal({}), HasSubstr("sends no \"first\""));
  EXPECT_THAT(refusal({{kWeight, seven}, {kFirst, vector}}), HasSubstr("in another order"));
  // And a kind: a number in the place of parameters would leave as it is.
  EXPECT_THAT(refusal({{Key<std::int64_t>{"first"}, seven}, {kWeight, seven}}),
              HasSubstr("\"first\", an integer, declared as parameters"));
  EXPECT_THAT(refusal({{kFirst, vector}, {Key<Params>{"weight"}, vector}}),
              HasSubstr("\"weight\", parameters, declared as the number of its examples"));
  EXPECT_THAT(refusal({{kFirst, vector}, {kWeight, std::int64_t{8}}}),
              HasSubstr("\"weight\", an integer that is not the number of its examples"));
}

TEST(LocalMechanism, DrawsNothingForARefusedMessage) {
  RoundAccesses book;
  Message message{{kFirst, vector_of({5})}};
  EXPECT_THROW(randomise(message, {.entries = {kSecond}}, local_policy(kLocalGaussian, 1, 1), {},
                         Streams(1, 1, 0), book),
               Error);
  EXPECT_TRUE(book.list().empty());
  EXPECT_EQ(numbers_of(message[kFirst]), std::vector<double>{5});
}

Centres centres_at(const std::vector<std::vector<double>>& points, bool by_tensor = false) {
  std::vector<Params> centres;
  for (const std::vector<double>& point : points) centres.push_back(two_tensors({point[0]}, {point[1]}));
  return {centres, two_tensors({0}, {0}), by_tensor};
}

TEST(LocalMechanism, ClipsAroundTheNearestCentre) {
  const Centres centres = centres_at({{10, 0}, {0, 10}});
  const auto clipped = [&](double first, double second, bool by_tensor = false) {
    LocalPolicy policy = local_policy(kLocalGaussian, 1, 0);
    policy.by_tensor = by_tensor;
    const Centres cut = by_tensor ? centres_at({{10, 0}, {0, 10}}, true) : centres;
    return numbers_of(sent({{kFirst, two_tensors({first}, {second})}}, policy, cut).message[kFirst]);
  };
  EXPECT_THAT(clipped(13, 4), Pointwise(DoubleNear(1e-8), {10.6, 0.8}));
  EXPECT_THAT(clipped(3, 14), Pointwise(DoubleNear(1e-8), {0.6, 10.8}));
  EXPECT_THAT(clipped(9.5, 0.5), ElementsAre(9.5, 0.5)) << "near enough";
  // Each tensor by itself: 9 is nearest to 10 in the first, 8 to 10 in the second.
  EXPECT_THAT(clipped(8, 7, true), Pointwise(DoubleNear(1e-8), {9, 9}));
  EXPECT_THAT(clipped(kNan, 0), ElementsAre(10, 0)) << "the first centre, in place of what is not a number";
}

// Two clients that are near different centres lie 2 C + 10 sqrt(2) apart.
TEST(LocalMechanism, ChargesTheSpreadOfTheCentres) {
  const Message message{{kFirst, two_tensors({9}, {0})}};
  const std::vector<std::vector<double>> points{{10, 0}, {0, 10}, {9, 1}};
  const double spread = std::sqrt(200);
  const auto only = [](const Sent& sent) {
    EXPECT_EQ(sent.accesses.size(), 1U);
    return sent.accesses.front().event;
  };
  const Event laplace = only(sent(message, local_policy(kLocalLaplace, 3, 10), centres_at(points)));
  EXPECT_NEAR(std::get<Laplace>(laplace).epsilon, (6 + spread) / 30, 1e-12);
  const Event gaussian = only(sent(message, local_policy(kLocalGaussian, 3, 2), centres_at(points)));
  EXPECT_NEAR(std::get<Gaussian>(gaussian).noise_multiplier, 2 * 6 / (6 + spread), 1e-12);
  EXPECT_EQ(only(sent(message, local_policy(kLocalLaplace, 0, 10), centres_at(points))),
            Event(MetricLaplace{2, 10}))
      << "a distance is one between messages, wherever the centres are";
  // One centre is known to be the nearest.
  EXPECT_EQ(only(sent(message, local_policy(kLocalGaussian, 3, 2), centres_at({{10, 0}}))),
            Event(Gaussian{2, Adjacency::kReplaceOne}));
  // Two vectors may each be near another centre: the spread of pairs.
  const Message pair{{kFirst, two_tensors({9}, {0})}, {kSecond, two_tensors({0}, {9})}};
  const Event both = only(sent(pair, local_policy(kLocalLaplace, 3, 10), centres_at(points)));
  EXPECT_NEAR(std::get<Laplace>(both).epsilon, (6 + std::sqrt(400)) / 30, 1e-12);
  // By tensor: 10 apart in each.
  LocalPolicy policy = local_policy(kLocalLaplace, 3, 10);
  policy.by_tensor = true;
  EXPECT_EQ(sent(message, policy, centres_at(points, true)).accesses,
            (std::vector<Access>{{Laplace{1, 16.0 / 30}, 2}}));
}

// The deviation is z C whatever is charged for it.
TEST(LocalMechanism, AddsTheSameNoiseAroundCentres) {
  for (const char* mechanism : {kLocalGaussian, kLocalLaplace}) {
    const LocalPolicy policy = local_policy(mechanism, 1, 2);
    const auto noise = [&](const Centres& centres, double at) {
      return numbers_of(sent({{kFirst, two_tensors({at}, {0})}}, policy, centres).message[kFirst])[0] - at;
    };
    EXPECT_NEAR(noise({}, 0), noise(centres_at({{100, 0}, {0, 40}}), 100), 1e-9) << mechanism;
  }
}

TEST(LocalMechanism, ScalesRelativeNoiseByTheDistanceToTheNearestCentre) {
  const auto noise_at = [&](double first) {
    const Params vector = two_tensors({first}, {0});
    const Sent noisy =
        sent({{kFirst, vector}}, local_policy(kLocalRelative, 0, 5), centres_at({{10, 0}, {-50, 0}}));
    return norm(noisy.message[kFirst] - vector);
  };
  EXPECT_EQ(noise_at(10), 0);
  EXPECT_NEAR(noise_at(13), 3 * noise_at(11), 1e-9);
  EXPECT_NEAR(noise_at(-49), noise_at(11), 1e-9);
}

TEST(Centres, ThatAreNotFiniteAreTheOrigin) {
  const Message message{{kFirst, two_tensors({3}, {4})}};
  const LocalPolicy policy = local_policy(kLocalGaussian, 1, 1);
  const Sent around = sent(message, policy, centres_at({{10, 0}, {kInfinity, 0}}));
  const Sent expected = sent(message, policy, centres_at({{10, 0}, {0, 0}}));
  EXPECT_EQ(around.accesses, expected.accesses);
  EXPECT_TRUE(same_bits(around.message[kFirst], expected.message[kFirst]));
}

TEST(Centres, MustBeOfTheModelsLayout) {
  expect_refused("a centre that is not of the model's layout", [] {
    Centres({vector_of({1, 2})}, two_tensors({0}, {0}), false);
  });
  // The spread of a centre of one number, for which the layout says two, would be that of one.
  const Params broadcast = two_tensors({1}, {1});
  torch::Tensor(broadcast.flat()).set_(torch::ones({1}, broadcast.flat().options()));
  expect_refused("a centre that is not of the model's layout",
                 [&] { Centres({broadcast}, two_tensors({0}, {0}), false); });
}

TEST(LocalPolicy, NeedsAClipNormForGaussianNoise) {
  expect_refused("clip_norm is 0 with the mechanism \"gaussian\"",
                 [] { local_policy(kLocalGaussian, 0, 1).validate(); });
  EXPECT_NO_THROW(local_policy(kLocalLaplace, 0, 1).validate());
}

TEST(LocalPolicy, RefusesBudgetsThatPayForNothing) {
  const auto refusal = [](LocalPolicy policy, const PerClient& budget) {
    policy.budget = budget;
    return message_of([&] { policy.validate(); });
  };
  for (const double clip_norm : {0, 1}) {
    EXPECT_THAT(refusal(local_policy(kLocalRelative, clip_norm, 1), 3),
                HasSubstr("budget is 3.0 with the mechanism \"laplace-relative\"; allowed: 0\n"));
  }
  EXPECT_THAT(refusal(local_policy(kLocalLaplace, 0, 1), PerClient({2, 3})),
              HasSubstr("budget is [2.0, 3.0] with clip_norm 0; allowed: 0\n"));
}

}  // namespace
}  // namespace fedarena
