// Every kind of event but the Poisson-sampled Gaussian under add/remove, extremes and refusals.
#include "fedarena/accounting/rdp.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "fedarena/accounting/pure.hpp"

#include "tests/accounting/reference_files.hpp"
#include "tests/accounting/samples.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

TEST(RdpOrders, AreThoseThatPublishedFiguresUse) {
  const std::vector<double> orders = rdp_orders("opacus");
  ASSERT_EQ(orders.size(), 151U);
  for (int x = 1; x < 100; ++x) EXPECT_EQ(orders[static_cast<std::size_t>(x) - 1], 1 + x / 10.0);
  for (int order = 12; order < 64; ++order) EXPECT_EQ(orders[static_cast<std::size_t>(order) + 87], order);
}

TEST(RdpOrders, ByDefaultHoldThoseOfOtherPrograms) {
  const std::vector<double> orders = rdp_orders("default");
  EXPECT_TRUE(std::is_sorted(orders.begin(), orders.end()));
  EXPECT_EQ(std::adjacent_find(orders.begin(), orders.end()), orders.end());
  std::vector<double> others = rdp_orders("opacus");
  for (const double order : {1.25, 1.75, 2.25, 11.0, 128.0, 256.0, 512.0, 1024.0}) others.push_back(order);
  for (const double order : others) {
    EXPECT_TRUE(std::binary_search(orders.begin(), orders.end(), order)) << order;
  }
}

TEST(RdpOrders, OfAnUnknownNameAreRefusedWithTheNearest) {
  expect_refused(has_all("unknown orders \"opakus\"", "default, opacus", "opacus"),
                 [] { rdp_orders("opakus"); });
}

TEST(Rdp, OfAGaussianIsTheClosedForm) {
  for (const double order : {1.0001, 1.5, 2.0, 63.0, 1e9}) {
    for (const double noise : {0.01, 1.0, 1000.0}) {
      expect_relative(rdp(Gaussian{noise}, order), order / (2 * noise * noise), 1e-15);
      expect_relative(rdp(Gaussian{noise, Adjacency::kReplaceOne}, order), 2 * order / (noise * noise),
                      1e-15);
      for (const Adjacency adjacency : {Adjacency::kAddRemove, Adjacency::kReplaceOne}) {
        EXPECT_EQ(rdp(poisson(1, noise, adjacency), order), rdp(Gaussian{noise, adjacency}, order));
        EXPECT_EQ(rdp(fixed_size(1, noise, adjacency), order), rdp(Gaussian{noise, adjacency}, order));
      }
    }
  }
}

// The divergence of two discrete distributions, in long double.
long double divergence(const std::vector<long double>& p, const std::vector<long double>& q, double order) {
  long double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    sum += std::pow(p[i] / q[i], static_cast<long double>(order)) * q[i];
  return std::log(sum) / (order - 1);
}

TEST(Rdp, OfRandomisedResponseIsThatOfItsTable) {
  for (const int categories : {2, 3, 10}) {
    for (const double epsilon : {0.5, 2.0, 6.0}) {
      const long double other = 1 / (std::exp(static_cast<long double>(epsilon)) + categories - 1);
      std::vector<long double> p(static_cast<std::size_t>(categories), other), q = p;
      p[0] = q[1] = 1 - (categories - 1) * other;
      for (const double order : {1.5, 2.0, 7.3, 40.0}) {
        expect_relative(rdp(RandomizedResponse{categories, epsilon}, order),
                        static_cast<double>(divergence(p, q, order)), 1e-12);
      }
    }
  }
}

// Mironov, CSF 2017, Proposition 6, evaluated in long double.
TEST(Rdp, OfTheLaplaceMechanismOnTheLineIsThePublishedFormula) {
  for (const long double epsilon : {0.25L, 1.0L, 5.0L}) {
    for (const long double a : {1.5L, 2.0L, 20.0L}) {
      const long double moment =
          a / (2 * a - 1) * std::exp((a - 1) * epsilon) + (a - 1) / (2 * a - 1) * std::exp(-a * epsilon);
      expect_relative(rdp(Laplace{1, static_cast<double>(epsilon)}, static_cast<double>(a)),
                      static_cast<double>(std::log(moment) / (a - 1)), 1e-13);
    }
  }
}

TEST(Rdp, OfPureMechanismsIsAtMostTheirEpsilonAndReachesIt) {
  for (const Event& event : {Event(Laplace{1, 2.0}), Event(Laplace{11, 2.0}),
                             Event(RandomizedResponse{2, 2.0}), Event(RandomizedResponse{1000, 2.0})}) {
    double before = 0;
    for (double order = 1.0001; order < 1e8; order *= 1.7) {
      const double here = rdp(event, order);
      EXPECT_GE(here, before);
      EXPECT_LE(here, 2.0);
      before = here;
    }
    EXPECT_NEAR(before, 2.0, 1e-6);
    EXPECT_LE(rdp(event, 1.5), rdp(RandomizedResponse{2, 2.0}, 1.5));
  }
}

// Small epsilons: order * epsilon^2 / 2 for binary response, where a plain formula loses every digit.
TEST(Rdp, OfPureMechanismsKeepsItsPrecisionAtSmallEpsilons) {
  for (const double epsilon : {1e-5, 1e-9}) {
    expect_relative(rdp(RandomizedResponse{2, epsilon}, 3), 3 * epsilon * epsilon / 2, 1e-4);
    expect_relative(rdp(Laplace{1, epsilon}, 3), 3 * epsilon * epsilon / 2, 1e-4);
  }
}

// Wang, Balle, Kasiviswanathan 2019, evaluated by dp_accounting 0.6.0, whose noise multiplier is relative to
// the exchange of a unit: half of ours.
TEST(Rdp, OfSamplingWithoutReplacementIsThePublishedBound) {
  struct Golden {
    double rate, noise, order, divergence;
  };
  for (const Golden& golden :
       {Golden{.01, 4, 2, 0.00011360371352886809}, Golden{.01, 4, 3, 0.000171288979794885},
        Golden{.01, 4, 32, 0.0020793016331292226}, Golden{.01, 4, 2.5, 0.0001520605577062127},
        Golden{.1, 10, 8, 0.006892432098489642}, Golden{.1, 10, 7.3, 0.006289734743067308},
        Golden{.001, 2, 4, 1.0926778604467424e-05}, Golden{.001, 2, 16, 0.6782676061675086},
        Golden{.001, 2, 32, 8.891773492072037}, Golden{.2, 40, 3, 0.0006038795558316552}}) {
    expect_relative(rdp(fixed_size(golden.rate, golden.noise), golden.order), golden.divergence, 1e-10,
                    fmt::format("rate {} noise {} order {}", golden.rate, golden.noise, golden.order));
  }
}

TEST(Rdp, OfPoissonSamplingUnderReplaceOneIsThatOfOppositeUnits) {
  // Of (1-q) N(0) + q N(1) from (1-q) N(0) + q N(-1), by integration in 40 digits.
  struct Golden {
    double rate, noise, order, divergence;
  };
  for (const Golden& golden :
       {Golden{0.01, 1, 2, 0.00045755438253754165}, Golden{0.01, 1, 8.5, 0.0022541688328101822},
        Golden{0.2, 0.7, 3, 1.0407472940931713}, Golden{0.001, 4, 32, 4.0023612179875864e-6},
        Golden{0.5, 2, 1.3, 0.15298768602816741}, Golden{0.0256, 1.1, 64, 22.748874256940074},
        Golden{0.9, 0.5, 6, 14.176152474139713}, Golden{1e-6, 2, 4, 2.0208978789698031e-12}}) {
    expect_relative(rdp(poisson(golden.rate, golden.noise, Adjacency::kReplaceOne), golden.order),
                    golden.divergence, 1e-12,
                    fmt::format("rate {} noise {} order {}", golden.rate, golden.noise, golden.order));
  }
}

TEST(Rdp, UnderReplaceOneIsABoundAtEveryOrder) {
  // The more noise the higher is the order from which on a bound stands for the exact divergence.
  for (const double noise : {0.01, 0.1, 0.5, 1.5, 15.0}) {
    for (const double order : {1.001, 2.0, 9.5, 65.0, 300.0, 1100.0, 16384.0}) {
      const double bound = rdp(poisson(0.03, noise, Adjacency::kReplaceOne), order);
      const std::string what = fmt::format("noise {} order {}", noise, order);
      EXPECT_LE(bound, rdp(Gaussian{noise, Adjacency::kReplaceOne}, order) * (1 + 1e-14)) << what;
      EXPECT_LE(bound, rdp(fixed_size(0.03, noise), order) * (1 + 1e-14)) << what;
      EXPECT_GE(bound, rdp(poisson(0.03, noise), order) * (1 - 1e-14)) << what;
    }
  }
}

TEST(Rdp, UnderReplaceOneRisesWithOrderAndRateAndFallsWithNoise) {
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const double rate = 0.99 * std::pow(10, -4 * unit(random)), noise = 0.05 * std::pow(10, 4 * unit(random));
    const double order = 1 + std::pow(10, -2 + 3 * unit(random));
    for (const auto& make : {poisson, fixed_size}) {
      const Adjacency replace = Adjacency::kReplaceOne;
      const double here = rdp(make(rate, noise, replace), order) * (1 - 1e-12);
      const std::string what = fmt::format("rate {} noise {} order {}", rate, noise, order);
      EXPECT_GE(rdp(make(rate * 1.01, noise, replace), order), here) << what;
      EXPECT_GE(rdp(make(rate, noise / 1.01, replace), order), here) << what;
      EXPECT_GE(rdp(make(rate, noise, replace), order * 1.01), here) << what;
    }
  }
}

TEST(Rdp, OfFixedSizeSamplingUnderAddRemoveIsNotProven) {
  const std::string refusal = message_of<Unproven>([] { rdp(fixed_size(0.1, 2, Adjacency::kAddRemove), 2); });
  EXPECT_THAT(refusal, has_all("fixed-size sampled Gaussian (rate 0.1, noise multiplier 2)", "add-remove",
                               "replace-one"));
}

TEST(Rdp, OfACompositionIsTheSum) {
  const Event parts = Composition{{{poisson(0.01, 1), 3}, {Composition{{{Gaussian{5}, 2}}}, 4}}};
  expect_relative(rdp(parts, 6), 3 * rdp(poisson(0.01, 1), 6) + 8 * rdp(Gaussian{5}, 6), 1e-15);
  EXPECT_EQ(rdp(Composition{}, 6), 0);
  EXPECT_EQ(rdp(Composition{{{Gaussian{5}, 2}, {ExactAccess{"loss"}, 1}}}, 6), kInfinity);
}

TEST(Rdp, IsInfiniteWhereNothingPrivatises) {
  EXPECT_EQ(rdp(ExactAccess{"gradient"}, 2), kInfinity);
  EXPECT_EQ(rdp(Gaussian{0}, 2), kInfinity);
  EXPECT_EQ(rdp(poisson(1e-9, 0), 2), kInfinity);
  EXPECT_EQ(rdp(SampledGaussian{Sampling::kPoisson, 0.1, {1.0, 0.0}, Adjacency::kAddRemove}, 2), kInfinity);
}

TEST(Rdp, IsZeroOnlyWhereNothingIsLookedAt) {
  for (const double noise : {0.0, 0.01, 1000.0}) {
    for (const Adjacency adjacency : {Adjacency::kAddRemove, Adjacency::kReplaceOne}) {
      EXPECT_EQ(rdp(poisson(0, noise, adjacency), 2), 0);
      EXPECT_EQ(rdp(fixed_size(0, noise, adjacency), 2), 0);
    }
  }
  EXPECT_GT(rdp(poisson(1e-300, 1e200), 1.001), 0);
  EXPECT_GT(rdp(Gaussian{1e300}, 1.001), 0);
}

TEST(Rdp, OfExtremeEventsIsBetweenNothingAndTheGaussian) {
  for (const Sampling sampling : {Sampling::kPoisson, Sampling::kWithoutReplacement}) {
    for (const Adjacency adjacency : {Adjacency::kAddRemove, Adjacency::kReplaceOne}) {
      if (sampling == Sampling::kWithoutReplacement && adjacency == Adjacency::kAddRemove) continue;
      for (const double rate : {1e-300, 1e-100, 1e-9, 0.5, 1 - 1e-9, std::nextafter(1.0, 0.0)}) {
        for (const double noise :
             {1e-300, 1e-160, 1e-5, 0.01, 0.02, 0.0200001, 0.03, 1e3, 1e6, 1e160, 1e308}) {
          for (const double order : {std::nextafter(1.0, 2.0), 1 + 1e-9, 1.5, 64.0, 1025.0, 1e6, 1e12}) {
            const double value = rdp(SampledGaussian{sampling, rate, {noise}, adjacency}, order);
            EXPECT_GT(value, 0) << rate << " " << noise << " " << order;
            EXPECT_LE(value, rdp(Gaussian{noise, adjacency}, order) * (1 + 1e-12))
                << rate << " " << noise << " " << order;
          }
        }
      }
    }
  }
}

// So little noise that the two parts of the mixture do not overlap: rate^a exp(a (a-1) / 2 noise^2) and no
// more.
TEST(Rdp, OfTinyNoiseIsHugeButRight) {
  expect_relative(rdp(poisson(1e-9, 0.01), 2), 2 * std::log(1e-9) + 1e4, 1e-14);
  expect_relative(rdp(poisson(0.5, 1e-5), 1.5), 3 * std::log(0.5) + 0.75e10, 1e-14);
}

TEST(Rdp, RefusesOrdersThatAreNone) {
  for (const double order : {1.0, 0.5, -2.0, std::nan(""), kInfinity}) {
    expect_refused("allowed: a finite number > 1", [&] { rdp(Gaussian{1}, order); });
  }
}

TEST(Rdp, RefusesEventsThatAreNone) {
  expect_refused("sampling rate is -0.1", [] { rdp(poisson(-0.1, 1), 2); });
  expect_refused("sampling rate is nan", [] { rdp(poisson(std::nan(""), 1), 2); });
  expect_refused("noise multiplier is -1", [] { rdp(poisson(0.1, -1), 2); });
}

}  // namespace
}  // namespace fedarena
