// Sampled Gaussians under replace-one: what bounds them, from above and from below (docs/accounting.md).
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "fedarena/accounting/conversion.hpp"
#include "fedarena/accounting/gaussian.hpp"
#include "fedarena/accounting/pld.hpp"
#include "fedarena/accounting/rdp.hpp"

#include "tests/accounting/samples.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

constexpr Adjacency kReplace = Adjacency::kReplaceOne;

struct Steps {
  double rate, noise;
  std::int64_t count;

  std::vector<Access> poisson_replace() const { return {{poisson(rate, noise, kReplace), count}}; }
  std::vector<Access> poisson_remove() const { return {{poisson(rate, noise), count}}; }
  std::vector<Access> fixed_replace() const { return {{fixed_size(rate, noise, kReplace), count}}; }
  std::string text() const { return fmt::format("rate {} noise {} steps {}", rate, noise, count); }
};

PldEpsilon bracket(const std::vector<Access>& accesses, double delta) {
  return pld_epsilon(accesses, delta, {.lower_bound = true});
}

double by_rdp(const std::vector<Access>& accesses, double delta) {
  RdpAccountant accountant(rdp_orders("default"));
  for (const Access& access : accesses) accountant.add(access.event, access.count);
  return accountant.epsilon(delta).epsilon;
}

Steps random_steps(std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  return {0.5 * std::pow(10, -3 * unit(random)), 0.6 * std::pow(10, unit(random)),
          static_cast<std::int64_t>(std::pow(10, 3 * unit(random)))};
}

TEST(ReplaceOne, OfPoissonSamplesIsTheExchangeOfAUnitForItsOpposite) {
  // One step: P and Q = (1-q) N(0) + q N(+-1) are best told apart at the z where log P/Q is epsilon.
  const double q = 0.2, noise = 0.8, epsilon = 0.7;
  const auto loss = [&](double z) {
    const auto side = [&](double sign) {
      return (1 - q) + q * std::exp((sign * 2 * z - 1) / (2 * noise * noise));
    };
    return std::log(side(1) / side(-1));
  };
  double low = 0, high = 10;
  for (int i = 0; i < 100; ++i) (loss((low + high) / 2) < epsilon ? low : high) = (low + high) / 2;
  const auto above = [&](double centre) {
    return (1 - q) * 0.5 * std::erfc(low / noise / std::sqrt(2)) +
           q * 0.5 * std::erfc((low - centre) / noise / std::sqrt(2));
  };
  const double exact = above(1) - std::exp(epsilon) * above(-1);
  const double delta = pld_delta(Steps{q, noise, 1}.poisson_replace(), epsilon);
  EXPECT_GE(delta, exact * (1 - 1e-12));
  EXPECT_LE(delta, exact * (1 + 1e-3));
}

// Of the whole line, by the plain trapezoidal rule.
double divergence_by_definition(double q, double noise, double order) {
  const auto log_density = [&](double z, double shift) {
    const auto log_normal = [&](double centre) { return -(z - centre) * (z - centre) / (2 * noise * noise); };
    const double still = std::log1p(-q) + log_normal(0), moved = std::log(q) + log_normal(shift);
    return std::max(still, moved) + std::log1p(std::exp(-std::abs(still - moved)));
  };
  const double step = noise / 50, end = 2 * order + 40 * noise;
  std::vector<double> logs;
  for (double z = -end; z <= end; z += step)
    logs.push_back(order * log_density(z, 1) + (1 - order) * log_density(z, -1));
  const double most = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - most);
  const double integral = sum * step / (noise * std::sqrt(2 * std::acos(-1.0)));
  return (most + std::log(integral)) / (order - 1);
}

// Near a rate of 1, Q is N(-1) far to the right, and what counts lies at up to 2 a - 1.
TEST(ReplaceOne, HasTheDivergencesOfPoissonSamplesAtEveryRate) {
  for (const double q : {0.3, 0.6, 0.99, 0.99991, 0.9999999}) {
    for (const double noise : {5.0, 7.1673, 10.0}) {
      for (const double order : {2.0, 64.0, 128.0, 256.0}) {
        const double expected = divergence_by_definition(q, noise, order);
        const double actual = rdp(poisson(q, noise, kReplace), std::vector<double>{order})[0];
        EXPECT_NEAR(actual, expected, 1e-9 * expected) << q << " " << noise << " " << order;
      }
    }
  }
}

TEST(ReplaceOne, OfFixedSizeSamplesIsTheGaussianOfTwiceTheDistance) {
  // One step: q times the Gaussian's delta at log(1 + (e^epsilon - 1) / q), by the theorem, and no less.
  const double inner = std::log1p(std::expm1(0.7) / 0.2);
  const double exact = 0.2 * gaussian_delta(inner, 0.5);
  const double delta = pld_delta(Steps{0.2, 1, 1}.fixed_replace(), 0.7);
  EXPECT_GE(delta, exact * (1 - 1e-12));
  EXPECT_LE(delta, exact * (1 + 1e-3));
}

TEST(ReplaceOne, BracketsTheExactEpsilonOfManySteps) {
  // The inversion formula in high precision. Of the first three dp_accounting prints 1.54, 8.29 and 2.96.
  const struct {
    Steps steps;
    double delta, epsilon;
  } table[] = {{{256.0 / 60'000, 1.1, 2'350}, 1e-5, 1.5437112600},
               {{0.064, 1, 160}, 1e-5, 8.2873799070},
               {{0.1, 2, 50}, 1e-5, 2.9551230350},
               {{0.0256, 1, 200}, 1e-5, 3.3837080860},
               {{0.3, 3, 20}, 1e-6, 4.2790442027}};
  for (const auto& [steps, delta, exact] : table) {
    const PldEpsilon found = bracket(steps.poisson_replace(), delta);
    EXPECT_GE(found.upper, exact * (1 - 1e-8)) << steps.text();
    EXPECT_LE(found.upper, exact * (1 + 1e-3)) << steps.text();
    EXPECT_LE(*found.lower, exact * (1 + 1e-8)) << steps.text();
    EXPECT_GE(*found.lower, exact * (1 - 1e-3)) << steps.text();
    EXPECT_TRUE(found.as_near_as_wanted) << steps.text();
  }
}

// The least epsilon that one removal and one addition prove, each at its own epsilon and delta.
double by_group_privacy(const std::function<double(double)>& delta_of, double delta, double most) {
  const auto proven = [&](double epsilon) {
    double least = 1;
    for (int i = 0; i <= 40; ++i) {
      const double first = epsilon * i / 40;
      least = std::min(least, delta_of(first) + std::exp(first) * delta_of(std::max(0.0, epsilon - first)));
    }
    return least;
  };
  double low = 0;
  for (int i = 0; i < 12; ++i) {
    const double middle = (low + most) / 2;
    (proven(middle) <= delta ? most : low) = middle;
  }
  return most;
}

TEST(ReplaceOne, NeverLosesToGroupPrivacyOfAddRemove) {
  std::mt19937_64 random(27);
  for (int repeat = 0; repeat < 40; ++repeat) {
    const Steps steps = random_steps(random);
    const double delta = std::pow(10, -2 - repeat % 7);
    RdpAccountant removal(rdp_orders("default"));
    removal.add(poisson(steps.rate, steps.noise), steps.count);
    const double here = by_rdp(steps.poisson_replace(), delta);
    const double group = by_group_privacy(
        [&](double epsilon) { return delta_of_rdp(removal.orders(), removal.rdp(), epsilon); }, delta,
        4 * here);
    EXPECT_LE(here, group * (1 + 1e-9)) << steps.text() << " delta " << delta;
  }
  for (const Steps& steps : {Steps{256.0 / 60'000, 1.1, 2'350}, Steps{0.064, 1, 160}, Steps{0.1, 2, 50}}) {
    const double here = pld_epsilon(steps.poisson_replace(), 1e-5).upper;
    // Half of it on either side is less than what add/remove needs for that delta.
    const double half = pld_delta(steps.poisson_remove(), here / 2);
    EXPECT_GT((1 + std::exp(here / 2)) * half, 1e-5) << steps.text();
  }
}

TEST(ReplaceOne, NoLowerBoundLiesAboveAProvenUpperBound) {
  std::mt19937_64 random(7);
  for (int repeat = 0; repeat < 12; ++repeat) {
    const Steps steps = random_steps(random);
    const double delta = std::pow(10, -3 - repeat % 5);
    for (const auto& accesses : {steps.poisson_replace(), steps.fixed_replace()}) {
      const PldEpsilon found = bracket(accesses, delta);
      ASSERT_TRUE(found.lower) << steps.text();
      EXPECT_LE(*found.lower, found.upper) << steps.text();
      EXPECT_LE(*found.lower, by_rdp(accesses, delta)) << steps.text();
      // Whoever may exchange a unit may leave it out.
      EXPECT_GE(found.upper, *bracket(steps.poisson_remove(), delta).lower) << steps.text();
    }
    // Two neighbours have samples of a fixed size with one direction of Poisson's pair at twice the distance.
    const PldEpsilon fixed = bracket(steps.fixed_replace(), delta);
    const PldEpsilon twice = bracket(Steps{steps.rate, steps.noise / 2, steps.count}.poisson_remove(), delta);
    EXPECT_LE(*fixed.lower, twice.upper) << steps.text();
    EXPECT_GE(fixed.upper, *twice.lower) << steps.text();
  }
}

TEST(ReplaceOne, HasNoLowerBoundForLaplaceNoiseInSpace) {
  EXPECT_FALSE(bracket({{Laplace{3, 0.1}, 100}}, 1e-6).lower);
  EXPECT_FALSE(bracket({{Laplace{3, 0.1}, 1}, {poisson(0.1, 1, kReplace), 5}}, 1e-6).lower);
  EXPECT_TRUE(bracket({{Laplace{1, 0.1}, 100}}, 1e-6).lower);
}

TEST(ReplaceOne, FixedSizeSamplesAreNotCertifiedToBeNearTheTruth) {
  EXPECT_FALSE(pld_epsilon(Steps{0.1, 2, 50}.fixed_replace(), 1e-5).as_near_as_wanted);
}

TEST(ReplaceOne, OfPoissonSamplesLiesBetweenAddRemoveAndSamplesOfAFixedSize) {
  const Steps steps{0.02, 1.1, 500};
  const double middle = pld_epsilon(steps.poisson_replace(), 1e-6).upper;
  EXPECT_GT(middle, pld_epsilon(steps.poisson_remove(), 1e-6).upper);
  EXPECT_LT(middle, pld_epsilon(steps.fixed_replace(), 1e-6).upper);
}

TEST(ReplaceOne, ComposesWithWhatIsNotSampled) {
  const std::vector<Access> plain = {{Gaussian{4, kReplace}, 3}};
  std::vector<Access> both = plain;
  both.push_back({poisson(0.05, 1, kReplace), 20});
  const PldEpsilon together = bracket(both, 1e-6);
  EXPECT_GT(*together.lower, pld_epsilon(plain, 1e-6).upper);
  EXPECT_LT(together.upper, by_rdp(both, 1e-6));
}

TEST(ReplaceOne, IsBoundedAtTheEnds) {
  // Hardly sampled, always sampled, hardly any noise, hardly anything but noise.
  EXPECT_EQ(pld_epsilon(Steps{1e-9, 100, 1}.poisson_replace(), 1e-5).upper, 0);
  const double all = pld_epsilon(Steps{1 - 1e-12, 2, 10}.poisson_replace(), 1e-5).upper;
  EXPECT_NEAR(all, gaussian_epsilon(1e-5, 1 / std::sqrt(10)), 2e-3 * all);
  const PldEpsilon loud = bracket(Steps{0.5, 0.05, 5}.poisson_replace(), 1e-5);
  EXPECT_GT(*loud.lower, 100);
  EXPECT_LE(loud.upper, *loud.lower * 1.001);
  EXPECT_LT(pld_epsilon(Steps{0.01, 1000, 10}.poisson_replace(), 1e-9).upper, 1e-3);
  EXPECT_EQ(pld_epsilon(Steps{0.1, 1, 10}.poisson_replace(), 0).upper, kInfinity);
}

// Votes of parts, of which one is exchanged: the divergence is 2 a / z^2, so that n of them at delta = 1e-5
// cost c n + 2 sqrt(c n log 1/delta) with c = 2 / z^2 by the classic conversion at the best order. How many
// of 300 signs under noise of deviation 5000 then cost an epsilon of 1, 5 and 10 (Wang et al., CCS 2021, as
// run by PPPFL).
TEST(ReplaceOne, PaysForAsManyVotesOfPartsAsTheClosedForm) {
  const Gaussian vote{5000 / std::sqrt(300.0), kReplace};
  const double slope = 2 / (vote.noise_multiplier * vote.noise_multiplier), tail = std::log(1e5);
  struct Golden {
    double epsilon;
    std::int64_t votes;
  };
  for (const Golden& golden : {Golden{1, 867}, Golden{5, 18'734}, Golden{10, 64'597}}) {
    const auto closed = [&](std::int64_t votes) {
      const double divergence = slope * static_cast<double>(votes);
      return divergence + 2 * std::sqrt(divergence * tail);
    };
    EXPECT_LE(closed(golden.votes), golden.epsilon);
    EXPECT_GT(closed(golden.votes + 1 + golden.votes / 10'000), golden.epsilon);
    RdpAccountant accountant(rdp_orders("default"));
    accountant.add(vote, golden.votes);
    const double classic = accountant.epsilon(1e-5, Conversion::kClassic).epsilon;
    EXPECT_GE(classic, closed(golden.votes) * (1 - 1e-12));
    EXPECT_LE(classic, closed(golden.votes) * (1 + 1e-3)) << "the orders are dense enough";
    EXPECT_LT(accountant.epsilon(1e-5).epsilon, classic);
  }
}

}  // namespace
}  // namespace fedarena
