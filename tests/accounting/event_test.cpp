// Events by themselves, and those of one round.
#include "fedarena/accounting/event.hpp"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/accounting/samples.hpp"
#include "tests/infinity.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

TEST(Event, IsDescribedInOneLine) {
  EXPECT_EQ(describe(poisson(0.0256, 1)), "Poisson-sampled Gaussian (rate 0.0256, noise multiplier 1)");
  EXPECT_EQ(describe(fixed_size(0.1, 2.5)),
            "fixed-size sampled Gaussian (rate 0.1, noise multiplier 2.5, replace-one)");
  EXPECT_EQ(describe(SampledGaussian{Sampling::kPoisson, 0.5, {1, 20}, Adjacency::kAddRemove}),
            "Poisson-sampled Gaussian (rate 0.5, noise multipliers 1 and 20)");
  EXPECT_EQ(describe(Gaussian{4, Adjacency::kZeroOut}), "Gaussian (noise multiplier 4, zero-out)");
  EXPECT_EQ(describe(Gaussian{4, Adjacency::kReplaceOne}), "Gaussian (noise multiplier 4, replace-one)");
  EXPECT_EQ(describe(ExactAccess{"label counts"}), "exact access (label counts)");
  EXPECT_EQ(describe(Laplace{11, 2}), "Laplace in R^11 (epsilon 2)");
  EXPECT_EQ(describe(MetricLaplace{11, 0.5}), "metric Laplace in R^11 (scale 0.5)");
  EXPECT_EQ(describe(Nominal{"n/nu", 0.4}), "nominal n/nu of 0.4, which is not an epsilon");
  EXPECT_EQ(describe(RandomizedResponse{10, 1}), "10-ary randomised response (epsilon 1)");
  EXPECT_EQ(describe(Composition{{{Gaussian{4}, 3}, {ExactAccess{"loss"}, 1}}}),
            "[3 x Gaussian (noise multiplier 4) and exact access (loss)]");
  EXPECT_EQ(describe(Composition{}), "nothing");
}

TEST(Event, HasAnOrder) {
  const Composition one{{{Gaussian{1}, 2}}}, more{{{Gaussian{1}, 3}}},
      longer{{{Gaussian{1}, 2}, {Gaussian{1}, 1}}};
  EXPECT_EQ(Event(one), Event(Composition{{{Gaussian{1}, 2}}}));
  EXPECT_LT(Event(one), Event(more));
  EXPECT_LT(Event(one), Event(longer));
  EXPECT_LT(Event(longer), Event(more));
  EXPECT_LT(Event(Gaussian{5}), Event(one));
  EXPECT_LT((Access{Gaussian{1}, 9}), (Access{Gaussian{2}, 1}));
  EXPECT_NE((Access{Gaussian{1}, 1}), (Access{Gaussian{1}, 2}));
}

TEST(Event, IsExactWithoutNoise) {
  for (const Event& event : {Event(ExactAccess{"loss"}), Event(Gaussian{0}), poisson(0.1, 0),
                             Event(SampledGaussian{Sampling::kPoisson, 0.1, {1, 0}, Adjacency::kAddRemove}),
                             Event(Composition{{{Gaussian{1}, 2}, {Composition{{{Gaussian{0}, 1}}}, 1}}})}) {
    EXPECT_TRUE(is_exact(event)) << describe(event);
  }
  for (const Event& event : {Event(Gaussian{1e-9}), poisson(0, 0), poisson(0.1, 1), Event(Laplace{1, 30}),
                             Event(RandomizedResponse{2, 30}), Event(Composition{})}) {
    EXPECT_FALSE(is_exact(event)) << describe(event);
  }
}

TEST(Event, HasTheAdjacenciesOfItsGaussians) {
  EXPECT_TRUE(adjacencies({{Laplace{1, 1}, 1}, {ExactAccess{"loss"}, 1}}).empty());
  EXPECT_EQ(adjacencies({{Gaussian{1}, 1}, {poisson(0.1, 1), 1}}), std::set{Adjacency::kAddRemove});
  EXPECT_EQ(adjacencies({{Composition{{{Composition{{{fixed_size(0.1, 1), 1}}}, 1}}}, 1}}),
            std::set{Adjacency::kReplaceOne});
  EXPECT_EQ(adjacencies({{Gaussian{1}, 1}, {fixed_size(0.1, 1), 1}}).size(), 2U);
  EXPECT_EQ(adjacencies({{Gaussian{1, Adjacency::kZeroOut}, 1}, {fixed_size(0.1, 1), 1}}),
            std::set{Adjacency::kZeroOut});
  EXPECT_EQ(adjacencies({{Gaussian{1, Adjacency::kZeroOut}, 1}, {poisson(0.1, 1), 1}}),
            std::set{Adjacency::kZeroOut});
}

TEST(Event, AssumedToBeAPoissonSampleKeepsRateAndNoise) {
  const auto inside = [](const Event& event) { return Event(Composition{{{event, 7}, {Gaussian{2}, 1}}}); };
  for (const Adjacency adjacency : {Adjacency::kAddRemove, Adjacency::kReplaceOne}) {
    const Event fixed = fixed_size(0.3, 1.5, adjacency);
    const Event assumed = poisson(0.3, 1.5, Adjacency::kZeroOut);
    EXPECT_EQ(assuming_poisson(fixed), assumed);
    EXPECT_EQ(assuming_poisson(inside(fixed)), inside(assumed));
    for (const Event& other : {poisson(0.3, 1.5, adjacency), Event(Gaussian{1, adjacency})}) {
      EXPECT_EQ(assuming_poisson(other), other);
    }
  }
  EXPECT_EQ(assuming_poisson(ExactAccess{"loss"}), Event(ExactAccess{"loss"}));
}

TEST(Event, IsValidWithinItsDocumentation) {
  for (const Event& event :
       {poisson(0, 0), poisson(1, 1e300), Event(Gaussian{0}), Event(Laplace{1, 1e-9}), Event(ExactAccess{""}),
        Event(RandomizedResponse{2, 30}), Event(Composition{}), Event(Composition{{{Gaussian{1}, 1}}})}) {
    EXPECT_NO_THROW(validate(event)) << describe(event);
  }
}

TEST(Event, OutsideOfItsDocumentationIsRefusedByName) {
  const auto refusal = [](const Event& event) { return test::message_of([&] { validate(event); }); };
  EXPECT_EQ(refusal(Gaussian{-1}), "a noise multiplier is -1; allowed: a finite number >= 0");
  EXPECT_EQ(refusal(Gaussian{std::nan("")}), "a noise multiplier is nan; allowed: a finite number >= 0");
  EXPECT_EQ(refusal(Gaussian{kInfinity}), "a noise multiplier is inf; allowed: a finite number >= 0");
  EXPECT_EQ(refusal(poisson(1.5, 1)), "a sampling rate is 1.5; allowed: 0 <= rate <= 1");
  EXPECT_EQ(refusal(poisson(std::nan(""), 1)), "a sampling rate is nan; allowed: 0 <= rate <= 1");
  EXPECT_EQ(refusal(poisson(0.5, -2)), "a noise multiplier is -2; allowed: a finite number >= 0");
  EXPECT_EQ(refusal(SampledGaussian{}),
            "a sampled Gaussian without noise multipliers; allowed: at least one");
  EXPECT_EQ(refusal(Laplace{0, 1}), "the dimension of a Laplace mechanism is 0; allowed: an integer >= 1");
  EXPECT_EQ(refusal(Laplace{1, 0}), "the epsilon of a Laplace mechanism is 0; allowed: a finite number > 0");
  EXPECT_EQ(refusal(MetricLaplace{0, 1}),
            "the dimension of a metric Laplace mechanism is 0; allowed: an integer >= 1");
  EXPECT_EQ(refusal(MetricLaplace{1, 0}),
            "the scale of a metric Laplace mechanism is 0; allowed: a finite number > 0");
  EXPECT_EQ(refusal(Nominal{"n/nu", kInfinity}), "the nominal n/nu is inf; allowed: a finite number >= 0");
  EXPECT_EQ(refusal(RandomizedResponse{1, 1}),
            "a randomised response has 1 categories; allowed: an integer >= 2");
  EXPECT_EQ(refusal(RandomizedResponse{2, -1}),
            "the epsilon of a randomised response is -1; allowed: a finite number > 0");
  EXPECT_EQ(refusal(Composition{{{Gaussian{1}, 0}}}),
            "a part of a composition is counted 0 times; allowed: an integer >= 1");
  EXPECT_EQ(refusal(Composition{{{Composition{{{Gaussian{-1}, 1}}}, 1}}}),
            "a noise multiplier is -1; allowed: a finite number >= 0");
}

TEST(SampledGaussian, OfSeveralSumsIsAsOne) {
  const auto joint = [](std::vector<double> noises) {
    return joint_noise_multiplier({Sampling::kPoisson, 0.5, std::move(noises), Adjacency::kAddRemove});
  };
  EXPECT_EQ(joint({1.7}), 1.7);
  EXPECT_DOUBLE_EQ(joint({3, 4}), 2.4);
  EXPECT_DOUBLE_EQ(joint({2, 2, 2, 2}), 1);
  EXPECT_DOUBLE_EQ(joint({3e-200, 4e-200}), 2.4e-200);
  EXPECT_DOUBLE_EQ(joint({3e200, 4e200}), 2.4e200);
  EXPECT_EQ(joint({3, 0}), 0);
  EXPECT_THROW(joint({}), Error);
}

TEST(RoundAccesses, CountsEqualEventsInARow) {
  const RoundAccesses list = accesses({{"gradient", 3}, {"loss", 1}, {"gradient", 2}});
  const std::vector<Access> expected{
      {ExactAccess{"gradient"}, 3}, {ExactAccess{"loss"}, 1}, {ExactAccess{"gradient"}, 2}};
  EXPECT_EQ(list.list(), expected);
  EXPECT_TRUE(RoundAccesses().list().empty());
}

// Equal to the last bit, or another event: what is alike for a person is not the same access.
TEST(RoundAccesses, TellApartEventsThatDifferInOneNumber) {
  const std::vector<Event> events = event_of_each_kind();
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (std::size_t j = 0; j < events.size(); ++j) {
      RoundAccesses pair;
      pair.add(events[i]);
      pair.add(events[j]);
      EXPECT_EQ(pair.list().size(), i == j ? 1U : 2U) << i << ", " << j;
    }
  }
  RoundAccesses close;
  close.add(Gaussian{1});
  close.add(Gaussian{1 + 0x1p-52});
  close.add(Gaussian{1, Adjacency::kReplaceOne});
  EXPECT_EQ(close.list().size(), 3U);
}

}  // namespace
}  // namespace fedarena
