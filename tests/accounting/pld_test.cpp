// Losses on grids against numbers from high-precision integration of the inversion formula, and closed forms.
#include "fedarena/accounting/pld.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "fedarena/accounting/gaussian.hpp"
#include "fedarena/accounting/pure.hpp"
#include "fedarena/accounting/rdp.hpp"
#include "fedarena/accounting/unproven.hpp"

#include "tests/accounting/reference_files.hpp"
#include "tests/accounting/samples.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

const PldSettings kBoth{.lower_bound = true};

// Both bounds hold, and are as near as asked for.
void expect_bracket(const std::vector<Access>& accesses, double delta, double exact, const std::string& of) {
  const PldEpsilon epsilon = pld_epsilon(accesses, delta, kBoth);
  constexpr double kDigits = 1e-14;  // those of the golden number
  EXPECT_GE(epsilon.upper, exact * (1 - kDigits)) << of;
  EXPECT_LE(epsilon.upper, exact * (1 + 1e-3) + 1e-9) << of;
  EXPECT_LE(*epsilon.lower, exact * (1 + kDigits)) << of;
  EXPECT_GE(*epsilon.lower, exact * (1 - 1e-3) - 1e-9) << of;
}

// An upper bound that is near.
void expect_delta(const std::vector<Access>& accesses, double epsilon, double exact, double digits = 1e-14) {
  const double delta = pld_delta(accesses, epsilon);
  EXPECT_GE(delta, exact * (1 - digits)) << describe(accesses.front().event) << " at " << epsilon;
  EXPECT_LE(delta, exact * (1 + 1e-3)) << describe(accesses.front().event) << " at " << epsilon;
}

double upper(const std::vector<Access>& accesses, double delta) { return pld_epsilon(accesses, delta).upper; }

struct Golden {
  double rate, noise;
  std::int64_t steps;
  double delta, epsilon;
};

TEST(Pld, BracketsTheExactEpsilonOfSampledGaussians) {
  const std::vector<Golden> table = {{0.0256, 1, 200, 1e-5, 2.3838992280945866},
                                     {0.0256, 1, 3000, 1e-5, 9.3751441763764555},
                                     {0.02902, 5.66, 91, 1e-5, 0.16258198614846254},
                                     {0.003712, 6.75, 304, 1e-10, 0.052340184748307841},
                                     {0.135, 1.53, 892, 1e-9, 22.150914678949258},
                                     {0.0009631, 4.42, 10, 1e-6, 0.002028308326293794},
                                     {0.2255, 1.17, 41, 1e-10, 12.859841745804176},
                                     {0.01, 0.3, 1000, 1e-5, 69.815710713000916},
                                     {0.9, 1, 1000, 1e-6, 548.19035972180666},
                                     {0.0256, 1, 1000000, 1e-5, 673.8712352110935},
                                     {0.0001, 5, 10, 1e-3, 0},
                                     {0.3, 12, 20, 0.1, 0},
                                     {1, 1, 1, 1e-5, 4.3771780956812246}};
  for (const Golden& golden : table) {
    expect_bracket({{poisson(golden.rate, golden.noise), golden.steps}}, golden.delta, golden.epsilon,
                   fmt::format("rate {} noise {} steps {}", golden.rate, golden.noise, golden.steps));
  }
}

TEST(Pld, BracketsTheExactEpsilonOfDifferentAccessesTogether) {
  expect_bracket({{poisson(0.0256, 1), 1000}, {poisson(0.0256, 0.8), 500}}, 1e-5, 7.9559368932138878,
                 "two rates");
  expect_bracket({{poisson(0.005, 0.7), 400}, {Gaussian{20}, 1}}, 1e-6, 2.5926136324176041,
                 "with a Gaussian");
  expect_bracket({{poisson(0.5, 5), 50}, {poisson(0.25, 3), 60}, {Gaussian{30}, 10}}, 1e-5,
                 4.3816392351637931, "three");
}

TEST(Pld, BracketsTheOptimalCompositionOfPureMechanisms) {
  // Kairouz, Oh, Viswanath 2015, Theorem 3.3.
  const auto pure = [](double epsilon, std::int64_t count) {
    return std::vector<Access>{{RandomizedResponse{2, epsilon}, count}};
  };
  expect_bracket(pure(0.1, 100), 1e-6, 4.7745675881079864, "100 of 0.1");
  expect_bracket(pure(1, 30), 1e-6, 29.987864232380330, "30 of 1");
  expect_bracket(pure(0.01, 1000), 1e-5, 1.1977327983086730, "1000 of 0.01");
  expect_bracket(pure(8, 15), 1e-5, 119.99998994951177, "15 of 8");
  EXPECT_EQ(upper({{Laplace{3, 0.1}, 100}}, 1e-6), upper(pure(0.1, 100), 1e-6)) << "as any mechanism";
  EXPECT_NEAR(pld_epsilon(pure(1, 30), 0).upper, 30, 1e-9);
}

// Of an epsilon whose losses no double holds, which clipping around distant centres can make of Laplace
// noise.
TEST(Pld, AddsPureEpsilonsThatAreTooLargeForADistribution) {
  const std::vector<Access> rest = {{poisson(0.0256, 1), 3000}};
  for (const Event& large :
       {Event(Laplace{1, 6827}), Event(Laplace{7850, 1000}), Event(RandomizedResponse{10, 800})}) {
    const double epsilon = pure_epsilon(large);
    EXPECT_NEAR(upper({{large, 4}}, 1e-5), 4 * epsilon, 1e-9 * epsilon);
    std::vector<Access> both = rest;
    both.push_back({large, 1});
    EXPECT_NEAR(upper(both, 1e-5), epsilon + upper(rest, 1e-5), 1e-9 * epsilon);
    EXPECT_EQ(pld_delta(both, 0.99 * epsilon), 1);
    EXPECT_LE(pld_delta(both, epsilon + upper(rest, 1e-5)), 1.001e-5);
  }
  // Beside losses that no grid can bracket.
  EXPECT_GE(upper({{Laplace{1, 499}, 100}, {Laplace{1, 501}, 1}}, 1e-5), 49'000);
  EXPECT_GE(upper({{poisson(1e-6, 0.5), 1}, {Laplace{1, 501}, 1}}, 1e-15), 501 + 0.1158);
  // Next to the limit nothing jumps.
  EXPECT_NEAR(upper({{Laplace{5, 499.999}, 3}}, 1e-5), upper({{Laplace{5, 500.001}, 3}}, 1e-5), 0.01);
}

TEST(Pld, KnowsTheLaplaceMechanismOnTheLineExactly) {
  // One access: delta = 1 - e^((eps - eps0) / 2).
  const std::vector<Access> one = {{Laplace{1, 1.5}, 1}};
  for (const double epsilon : {0.0, 0.3, 1.2}) {
    expect_delta(one, epsilon, -std::expm1((epsilon - 1.5) / 2));
  }
  EXPECT_EQ(pld_delta(one, 1.6), 0);
  EXPECT_LT(upper({{Laplace{1, 0.5}, 20}}, 1e-5), 0.95 * upper({{Laplace{2, 0.5}, 20}}, 1e-5));
}

TEST(Pld, KnowsRandomisedResponseOverManyCategories) {
  // One access: delta = p (1 - e^(eps - eps0)) at p = e^eps0 / (e^eps0 + k - 1), as 0 and -eps0 give nothing.
  const std::vector<Access> one = {{RandomizedResponse{10, 2.0}, 1}};
  expect_delta(one, 1, std::exp(2.0) / (std::exp(2.0) + 9) * -std::expm1(-1.0));
}

TEST(Pld, BoundsTheExactDelta) {
  const struct {
    double rate, noise;
    std::int64_t steps;
    double epsilon, delta;
  } table[] = {{0.0256, 1, 200, 3, 3.692594324401257e-07},   {0.0256, 1, 3000, 12, 2.2208111015156048e-08},
               {0.01, 1.1, 1000, 2, 7.8663714042529327e-08}, {0.2, 2, 50, 4, 8.8147218401014405e-07},
               {0.5, 1, 10, 16, 2.4552216045064241e-10},     {0.5, 0.5, 1, 0.25, 3.0394679654502807e-1},
               {0.01, 0.3, 1, 1, 4.3438037948083437e-3}};
  for (const auto& [rate, noise, steps, epsilon, exact] : table) {
    expect_delta({{poisson(rate, noise), steps}}, epsilon, exact);
  }
}

TEST(Pld, IsTheClosedFormForGaussiansAlone) {
  const std::vector<Access> several = {{Gaussian{1}, 1}, {Gaussian{2}, 1}, {poisson(1, 3), 1}};
  expect_bracket(several, 1e-6, 5.8291264380786266, "1, 2 and 3");
  const std::vector<Access> replaced = {{Gaussian{2, Adjacency::kReplaceOne}, 4}};
  expect_bracket(replaced, 1e-5, gaussian_epsilon(1e-5, 0.5), "replace-one is twice the distance");
}

TEST(Pld, TakesSeveralAnswersOnOneSampleTogether) {
  SampledGaussian both{Sampling::kPoisson, 0.02, {2, 3}};
  const double joint = 1 / std::sqrt(1.0 / 4 + 1.0 / 9);
  EXPECT_NEAR(upper({{both, 500}}, 1e-6), upper({{poisson(0.02, joint), 500}}, 1e-6), 1e-9);
}

TEST(Pld, IsTheSameHoweverAccessesAreCounted) {
  const Access step{poisson(0.02, 1.2), 1};
  const double whole = upper({{step.event, 40}}, 1e-6);
  EXPECT_EQ(upper(std::vector<Access>(40, step), 1e-6), whole);
  EXPECT_EQ(upper({{Composition{{{step.event, 4}}}, 10}}, 1e-6), whole);
}

TEST(Pld, RepeatsBitByBit) {
  const std::vector<Access> accesses = {{poisson(0.0256, 1), 3000}, {Laplace{1, 0.1}, 3}};
  EXPECT_EQ(upper(accesses, 1e-5), upper(accesses, 1e-5));
}

TEST(Pld, GrowsWithStepsAndRateAndFallsWithNoiseAndDelta) {
  for (const Adjacency adjacency : {Adjacency::kAddRemove, Adjacency::kReplaceOne}) {
    const auto epsilon = [&](double rate, double noise, std::int64_t steps, double delta) {
      return upper({{poisson(rate, noise, adjacency), steps}}, delta);
    };
    const double middle = epsilon(0.02, 1.1, 500, 1e-6);
    EXPECT_LT(epsilon(0.02, 1.1, 490, 1e-6), middle);
    EXPECT_LT(epsilon(0.019, 1.1, 500, 1e-6), middle);
    EXPECT_LT(epsilon(0.02, 1.15, 500, 1e-6), middle);
    EXPECT_LT(epsilon(0.02, 1.1, 500, 2e-6), middle);
  }
}

TEST(Pld, ReachesTheErrorThatIsAskedFor) {
  const std::vector<Access> accesses = {{poisson(0.0256, 1), 200}};
  for (const double error : {1e-1, 1e-2, 1e-4, 1e-5}) {
    const PldEpsilon epsilon = pld_epsilon(accesses, 1e-5, {.relative_error = error, .lower_bound = true});
    EXPECT_LE(epsilon.upper, *epsilon.lower * (1 + error) + 2e-9) << error;
    EXPECT_GE(epsilon.upper, 2.3838992280945866) << error;
    EXPECT_LE(*epsilon.lower, 2.3838992280945866) << error;
  }
  EXPECT_FALSE(pld_epsilon(accesses, 1e-5).lower.has_value());
}

TEST(Pld, AnExactAccessCostsInfinity) {
  const std::vector<Access> accesses = {{poisson(0.1, 1), 1}, {ExactAccess{"loss"}, 1}};
  EXPECT_EQ(upper(accesses, 1e-5), kInfinity);
  EXPECT_EQ(pld_delta(accesses, 5), 1);
  EXPECT_EQ(upper({{poisson(0.1, 0), 1}}, 1e-5), kInfinity);
  EXPECT_EQ(upper({{Gaussian{0}, 1}}, 1e-5), kInfinity);
}

TEST(Pld, CostsNothingWhereNothingIsLookedAt) {
  EXPECT_EQ(upper({}, 1e-5), 0);
  EXPECT_EQ(upper({{poisson(0, 0), 1'000'000'000}}, 1e-5), 0);
  EXPECT_EQ(upper({{ExactAccess{"loss"}, 0}}, 1e-5), 0);
  EXPECT_EQ(pld_delta({}, 0), 0);
}

TEST(Pld, IsBoundedAtTheEnds) {
  const std::vector<Access> accesses = {{poisson(0.0256, 1), 3000}};
  EXPECT_EQ(upper(accesses, 0), kInfinity);
  EXPECT_EQ(upper(accesses, 1), 0);
  EXPECT_EQ(pld_delta(accesses, kInfinity), 0);
  EXPECT_GT(pld_delta(accesses, 50), 0);
  const PldEpsilon tiny = pld_epsilon(accesses, 1e-100, kBoth);
  EXPECT_GT(*tiny.lower, upper(accesses, 1e-12));
  EXPECT_LE(tiny.upper, *tiny.lower * 1.001);
  EXPECT_EQ(upper({{poisson(1e-9, 1000), 1}}, 1e-5), 0);
  // Of 10^9 chances of 10^-9 at least one comes with probability 0.63; a single one costs 5000 or so.
  const PldEpsilon rare = pld_epsilon(std::vector<Access>{{poisson(1e-9, 0.01), 1'000'000'000}}, 1e-5, kBoth);
  EXPECT_GT(*rare.lower, 10'000);
  EXPECT_LT(rare.upper, 100'000);
}

TEST(Pld, SeesSmallLossesBesideRareLargeOnes) {
  // Delta at epsilon 0 is at most half the root of the chi-squared divergence (1 + q^2 (e^(1/z^2) - 1))^T
  // - 1.
  EXPECT_EQ(upper({{poisson(1e-6, 0.57), 500}}, 1e-4), 0);  // 5.1e-5
  EXPECT_EQ(upper({{poisson(2.230380180310373e-08, 0.845672359842996), 29}}, 2.594224424757949e-07),
            0);  // 1.1e-7
  // No grid is fine enough for both; the bound is no worse than RDP's.
  const std::vector<Access> accesses = {{poisson(1e-7, 0.5), 30}};
  RdpAccountant accountant(rdp_orders("default"));
  accountant.add(accesses.front().event, 30);
  const PldEpsilon found = pld_epsilon(accesses, 1e-7, kBoth);
  EXPECT_LE(found.upper, accountant.epsilon(1e-7).epsilon);
  EXPECT_GT(*found.lower, 0);
  EXPECT_LE(*found.lower, found.upper);
}

TEST(Pld, StaysABoundWhereNoGridIsFineEnough) {
  // 10^9 steps; the central limit says 5.4e5 or so, and RDP 6e5.
  const PldEpsilon many = pld_epsilon(std::vector<Access>{{poisson(0.0256, 1), 1'000'000'000}}, 1e-5, kBoth);
  EXPECT_GT(many.upper, *many.lower);
  EXPECT_GT(many.upper, 5.3e5);
  EXPECT_LT(many.upper, 5.5e5);
  EXPECT_GT(many.upper - *many.lower, 1e-3 * *many.lower);
  EXPECT_FALSE(many.as_near_as_wanted);
}

TEST(Pld, SaysWhetherItIsAsNearAsWanted) {
  std::vector<std::int64_t> counts = {1, 200, 100'000};
  if (test::long_tests()) counts.push_back(1'000'000'000);
  for (const std::int64_t steps : counts) {
    for (const double wanted : {1e-2, 1e-3, 1e-5}) {
      const PldEpsilon found = pld_epsilon(std::vector<Access>{{poisson(0.0256, 1), steps}}, 1e-5,
                                           {.relative_error = wanted, .lower_bound = true});
      const bool near = found.upper - *found.lower <= wanted * *found.lower + 1e-9;
      EXPECT_EQ(found.as_near_as_wanted, near) << steps << " steps, " << wanted;
    }
  }
  EXPECT_TRUE(pld_epsilon(std::vector<Access>{{poisson(0.0256, 1), 200}}, 1e-5).as_near_as_wanted);
  EXPECT_TRUE(pld_epsilon(std::vector<Access>{{ExactAccess{"loss"}, 1}}, 1e-5).as_near_as_wanted);
}

TEST(Pld, RefusesNumbersThatMakeNoSense) {
  const std::vector<Access> accesses = {{poisson(0.1, 1), 1}};
  for (const double delta : {-1.0, 1.1, 1e-300, kNan, kInfinity}) {
    EXPECT_THAT(message_of([&] { pld_epsilon(accesses, delta); }), HasSubstr("delta")) << delta;
  }
  for (const double epsilon : {-0.1, kNan}) {
    EXPECT_THAT(message_of([&] { pld_delta(accesses, epsilon); }), HasSubstr("epsilon")) << epsilon;
  }
  for (const double error : {0.0, 2.0, kNan}) {
    EXPECT_THROW(pld_epsilon(accesses, 1e-5, {.relative_error = error}), Error) << error;
  }
  for (const Event& event : {poisson(-0.1, 1), poisson(1.1, 1), poisson(kNan, 1), poisson(0.1, -1),
                             poisson(0.1, kNan), Event(Laplace{0, 1}), Event(Laplace{1, kNan}),
                             Event(RandomizedResponse{1, 1}), Event(Gaussian{-1})}) {
    EXPECT_THROW(pld_epsilon(std::vector<Access>{{event, 1}}, 1e-5), Error) << describe(event);
  }
  EXPECT_THROW(pld_epsilon(std::vector<Access>{{Gaussian{1}, -1}}, 1e-5), Error);
  expect_refused("0.001", [] { upper({{poisson(0.1, 1e-4), 1}}, 1e-5); });
  for (const double sigma : {1e-320, 1e-6}) {
    expect_refused("from 0.0001 on", [&] { upper({{Gaussian{sigma}, 1}, {poisson(0.2, 4), 8}}, 1e-3); });
  }
}

TEST(Pld, RefusesWhatItCannotProve) {
  const std::vector<Access> fixed = {{fixed_size(0.0256, 1, Adjacency::kAddRemove), 200}};
  EXPECT_THAT(message_of<Unproven>([&] { pld_epsilon(fixed, 1e-5); }), HasSubstr("fixed-size"));
  const std::vector<Access> mixed = {{Gaussian{1}, 1}, {Gaussian{1, Adjacency::kReplaceOne}, 1}};
  EXPECT_THROW(pld_epsilon(mixed, 1e-5), Unproven);
}

// The pairs or triples of a table: noise and count, or rate, noise and count.
std::vector<Access> accesses_of(const ReferenceRow& row) {
  std::vector<Access> accesses;
  for (const auto& block : nlohmann::json::parse(row.text("blocks"))) {
    const Event event = block.size() == 2 ? Event(Gaussian{block[0]}) : poisson(block[0], block[1]);
    accesses.push_back({event, block.back().get<std::int64_t>()});
  }
  return accesses;
}

TEST(Pld, BracketsEveryReferenceEpsilon) {
  for (const ReferenceRow& row : reference_rows("eps_tight.csv")) {
    expect_bracket({{poisson(row.number("q"), row.number("sigma")), row.whole("steps")}}, row.number("delta"),
                   row.number("eps_exact"), row.text("case"));
  }
  for (const ReferenceRow& row : reference_rows("hetero.csv")) {
    expect_bracket(accesses_of(row), row.number("delta"), row.number("eps_exact"), row.text("case"));
  }
  for (const ReferenceRow& row : reference_rows("gaussian_composition.csv")) {
    expect_bracket(accesses_of(row), row.number("delta"), row.number("eps_exact"), row.text("blocks"));
  }
  for (const ReferenceRow& row : reference_rows("pure_composition.csv")) {
    expect_bracket({{RandomizedResponse{2, row.number("eps_each")}, row.whole("k")}}, row.number("delta"),
                   row.number("eps_optimal"), row.text("eps_each"));
  }
}

TEST(Pld, BoundsEveryReferenceDelta) {
  for (const ReferenceRow& row : reference_rows("delta_exact.csv")) {
    expect_delta({{poisson(row.number("q"), row.number("sigma")), row.whole("steps")}}, row.number("eps"),
                 row.number("delta_exact"));
  }
  for (const ReferenceRow& row : reference_rows("pure_composition.csv")) {
    const double each = row.number("eps_each"), count = row.number("k");
    expect_delta({{RandomizedResponse{2, each}, row.whole("k")}}, each * count / 2,
                 row.number("delta_at_half_basic"), 1e-12);
  }
}

TEST(Pld, BracketsEveryPublishedEpsilon) {
  for (const ReferenceRow& row : reference_rows("published.csv")) {
    if (row.text("kind") != "eps_pld" && row.text("kind") != "eps_prv_upper") continue;
    const auto inputs = nlohmann::json::parse(row.text("inputs"));
    if (!inputs.contains("sigma") && !inputs.contains("effective_sigma")) continue;
    const double noise = inputs.contains("sigma") ? inputs["sigma"] : inputs["effective_sigma"];
    expect_bracket({{poisson(inputs["q"], noise), inputs["steps"].get<std::int64_t>()}}, inputs["delta"],
                   row.number("recomputed"), inputs.dump());
  }
}

}  // namespace
}  // namespace fedarena
