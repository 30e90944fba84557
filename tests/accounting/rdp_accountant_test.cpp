// Composition and calibration: epsilons of reference, what accountants have published, and what copies may
// rely on.
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "fedarena/accounting/calibration.hpp"
#include "fedarena/accounting/gaussian.hpp"
#include "fedarena/accounting/rdp.hpp"

#include "tests/accounting/reference_files.hpp"
#include "tests/accounting/samples.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

RdpEpsilon epsilon_of(double rate, double noise, std::int64_t steps, double delta,
                      Conversion conversion = Conversion::kBalle, const std::string& orders = "opacus") {
  RdpAccountant accountant(rdp_orders(orders));
  accountant.add(poisson(rate, noise), steps);
  return accountant.epsilon(delta, conversion);
}

// FedLAP-DP (PoPETs 2024), private run: 200 accesses a round, rate 256/10000, noise 1, delta 1e-5.
TEST(RdpAccountant, ReproducesTheEpsilonsOfFedLapDp) {
  const std::vector<std::pair<int, double>> figures = {
      {1, 2.7866}, {2, 3.6737}, {5, 5.6577}, {10, 8.1345}, {15, 10.1830}, {17, 10.9310}, {30, 15.2325}};
  for (const auto& [rounds, epsilon] : figures) {
    EXPECT_NEAR(epsilon_of(0.0256, 1, 200 * rounds, 1e-5).epsilon, epsilon, 0.00005) << rounds;
  }
  EXPECT_EQ(epsilon_of(0.0256, 1, 200, 1e-5).order, 6);
}

// The README of Opacus for MNIST: batch 240 of 60000; the newer conversion, then the classic one.
TEST(RdpAccountant, ReproducesTheMnistSettingsOfOpacus) {
  const double rate = 240.0 / 60000;
  struct Published {
    double noise;
    int epochs;
    double balle, classic;
  };
  for (const Published& published :
       {Published{0.7, 45, 6.09, 6.859}, Published{1.1, 60, 2.50, 2.905}, Published{1.3, 15, 0.92, 1.160}}) {
    const int steps = published.epochs * 250;
    EXPECT_NEAR(epsilon_of(rate, published.noise, steps, 1e-5).epsilon, published.balle, 0.005);
    EXPECT_NEAR(epsilon_of(rate, published.noise, steps, 1e-5, Conversion::kClassic).epsilon,
                published.classic, 0.0005);
  }
}

// A few of the rows below, for checkouts without them.
TEST(RdpAccountant, ReproducesEpsilonsOfReference) {
  EXPECT_NEAR(epsilon_of(0.0256, 1, 200, 1e-5).epsilon, 2.7866439426422339, 1e-12);
  EXPECT_NEAR(epsilon_of(0.0256, 1, 600, 1e-5).epsilon, 4.4128687966352366, 1e-12);
  EXPECT_NEAR(epsilon_of(0.001552, 0.461, 46353, 1e-9).epsilon, 31.516670754701543, 1e-11);
  EXPECT_NEAR(epsilon_of(0.9, 1, 1000, 1e-6).epsilon, 562.95930431141316, 1e-10);
  EXPECT_EQ(epsilon_of(0.3, 12, 20, 0.1).epsilon, 0);  // the formula is negative
}

TEST(RdpAccountant, ReproducesTheTableOfEpsilons) {
  for (const ReferenceRow& row : reference_rows("eps_rdp.csv")) {
    const auto at = [&](const std::string& orders) {
      return epsilon_of(row.number("q"), row.number("sigma"), row.whole("steps"), row.number("delta"),
                        Conversion::kBalle, orders);
    };
    const RdpEpsilon result = at("opacus");
    EXPECT_NEAR(result.epsilon, row.number("eps"), 1e-12 * (1 + row.number("eps"))) << row.text("case");
    if (row.number("eps_second_best") - row.number("eps_unclamped") > 1e-9) {
      EXPECT_EQ(result.order, row.number("order")) << row.text("case");
    }
    EXPECT_LE(at("default").epsilon, result.epsilon) << row.text("case");
  }
}

TEST(RdpAccountant, ReproducesHeterogeneousCompositions) {
  for (const ReferenceRow& row : reference_rows("hetero.csv")) {
    RdpAccountant accountant(rdp_orders("opacus"));
    for (const auto& block : nlohmann::json::parse(row.text("blocks"))) {
      accountant.add(poisson(block[0], block[1]), block[2]);
    }
    const RdpEpsilon result = accountant.epsilon(row.number("delta"));
    expect_relative(result.epsilon, row.number("eps_rdp"), 1e-13, row.text("case"));
    EXPECT_EQ(result.order, row.number("order"));
  }
}

TEST(RdpAccountant, IsNeverWorseWithMoreOrders) {
  for (const double noise : {0.3, 0.8, 2.0, 20.0}) {
    for (const std::int64_t steps : {1, 100, 1'000'000'000}) {
      for (const double delta : {1e-12, 1e-5, 0.1}) {
        const double few = epsilon_of(0.01, noise, steps, delta).epsilon;
        EXPECT_LE(epsilon_of(0.01, noise, steps, delta, Conversion::kBalle, "default").epsilon, few);
        EXPECT_LE(few, epsilon_of(0.01, noise, steps, delta, Conversion::kClassic).epsilon);
        EXPECT_TRUE(std::isfinite(few));
      }
    }
  }
}

TEST(RdpAccountant, AddsCurves) {
  RdpAccountant accountant(rdp_orders("opacus"));
  accountant.add(poisson(0.01, 1), 3);
  accountant.add(Gaussian{4});
  accountant.add(poisson(0.01, 1), 2);
  const std::vector<double> sampled = rdp(poisson(0.01, 1), accountant.orders()),
                            whole = rdp(Gaussian{4}, accountant.orders());
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    expect_relative(accountant.rdp()[i], 5 * sampled[i] + whole[i], 1e-15);
  }
}

TEST(RdpAccountant, CountsSequencesAsOneByOne) {
  RdpAccountant at_once(rdp_orders("opacus")), one_by_one(rdp_orders("opacus")),
      composed(rdp_orders("opacus"));
  at_once.add(poisson(0.02, 1.1), 1000);
  for (int i = 0; i < 1000; ++i) one_by_one.add(poisson(0.02, 1.1));
  composed.add(Composition{{{poisson(0.02, 1.1), 250}}}, 4);
  expect_relative(one_by_one.epsilon(1e-5).epsilon, at_once.epsilon(1e-5).epsilon, 1e-12);
  expect_relative(composed.epsilon(1e-5).epsilon, at_once.epsilon(1e-5).epsilon, 1e-13);
}

TEST(RdpAccountant, AnswersWhatIfOnACopy) {
  RdpAccountant accountant(rdp_orders("opacus"));
  accountant.add(poisson(0.02, 1.1), 100);
  const double before = accountant.epsilon(1e-5).epsilon;
  RdpAccountant copy = accountant;
  copy.add(poisson(0.5, 0.9), 7);
  EXPECT_GT(copy.epsilon(1e-5).epsilon, before);
  EXPECT_EQ(accountant.epsilon(1e-5).epsilon, before);
}

TEST(RdpAccountant, IsAsBeforeAfterARefusal) {
  RdpAccountant accountant(rdp_orders("opacus"));
  accountant.add(poisson(0.02, 1.1), 100);
  const double before = accountant.epsilon(1e-5).epsilon;
  const Event half = Composition{{{Gaussian{1}, 1}, {fixed_size(0.1, 1, Adjacency::kAddRemove), 1}}};
  EXPECT_THROW(accountant.add(half), Unproven);
  EXPECT_THROW(accountant.add(Gaussian{-1}), Error);
  expect_refused("counted -3 times", [&] { accountant.add(Gaussian{1}, -3); });
  EXPECT_EQ(accountant.epsilon(1e-5).epsilon, before);
}

TEST(RdpAccountant, StartsAtNothing) {
  RdpAccountant accountant(rdp_orders("opacus"));
  EXPECT_EQ(accountant.epsilon(0).epsilon, 0);
  accountant.add(ExactAccess{"loss"}, 0);
  accountant.add(poisson(0, 0), 1'000'000'000);
  EXPECT_EQ(accountant.epsilon(0).epsilon, 0);
  accountant.add(ExactAccess{"loss"});
  EXPECT_EQ(accountant.epsilon(1e-5).epsilon, kInfinity);
}

TEST(RdpAccountant, SpendsSomethingWhereDivergencesUnderflow) {
  for (const Event& event : {Event(Laplace{1, 1e-200}), Event(RandomizedResponse{2, 1e-200})}) {
    RdpAccountant accountant(rdp_orders("default"));
    accountant.add(event, 1);
    EXPECT_GT(accountant.epsilon(0).epsilon, 0);
  }
}

TEST(RdpAccountant, SpendsPureEpsilonsAtDeltaZero) {
  RdpAccountant accountant(rdp_orders("default"));
  accountant.add(RandomizedResponse{4, 0.5}, 3);
  accountant.add(Laplace{11, 1});
  EXPECT_DOUBLE_EQ(accountant.epsilon(0).epsilon, 2.5);
  EXPECT_EQ(accountant.epsilon(0).order, kInfinity);
  EXPECT_LE(accountant.epsilon(1e-5).epsilon, 2.5);
  accountant.add(RandomizedResponse{4, 0.01}, 10'000);
  EXPECT_LT(accountant.epsilon(1e-5).epsilon, 10);  // far below 102.5
  accountant.add(Gaussian{100});
  EXPECT_EQ(accountant.epsilon(0).epsilon, kInfinity);
}

TEST(RdpAccountant, TakesNoSampleForAPoissonSample) {
  RdpAccountant proving(rdp_orders("opacus"));
  EXPECT_THROW(proving.add(fixed_size(0.0256, 1, Adjacency::kAddRemove)), Unproven);
  proving.add(fixed_size(0.0256, 1, Adjacency::kReplaceOne), 200);
  EXPECT_GT(proving.epsilon(1e-5).epsilon, 2.79);
}

TEST(RdpAccountant, RefusesOrdersAndDeltasThatAreNone) {
  EXPECT_THROW(RdpAccountant({}), Error);
  EXPECT_THROW(RdpAccountant({2.0, 1.0}), Error);
  EXPECT_THROW(RdpAccountant({std::nan("")}), Error);
  RdpAccountant accountant({2.0});
  for (const double delta : {1.0, 2.0, -1e-5, std::nan("")}) {
    expect_refused("allowed: 0 <= delta < 1", [&] { accountant.epsilon(delta); });
  }
}

const EpsilonOf kRdp = epsilon_by_rdp(rdp_orders("opacus"));

Solution calibrated(const Knowns& knowns) { return calibrate(knowns, kRdp); }

std::string no_calibration(const Knowns& knowns) {
  return message_of([&] { calibrated(knowns); });
}

TEST(Calibration, ReproducesReferenceNoise) {
  const Solution solution = calibrated({.rate = 0.0256, .steps = 200, .delta = 1e-5, .epsilon = 1});
  expect_relative(solution.setting.noise_multiplier, 1.753140889386, 1e-12);
  EXPECT_LE(solution.epsilon, 1);
  for (const ReferenceRow& row : reference_rows("calibration.csv")) {
    const double target = row.number("target_eps");
    const Solution found = calibrated({.rate = row.number("q"),
                                       .steps = row.whole("steps"),
                                       .delta = row.number("delta"),
                                       .epsilon = target});
    expect_relative(found.setting.noise_multiplier, row.number("sigma_rdp"), 1e-12, row.text("case"));
    EXPECT_LE(found.epsilon, target) << row.text("case");
    EXPECT_EQ(found.epsilon, kRdp(found.setting)) << row.text("case");
  }
}

// Each quantity in turn is taken away from a full setting and found again.
TEST(Calibration, FindsWhicheverIsAbsent) {
  const Knowns all{.noise_multiplier = 1.1, .rate = 0.01, .steps = 5000, .delta = 1e-6};
  const double epsilon = calibrated(all).epsilon;
  EXPECT_EQ(epsilon, kRdp({1.1, 0.01, 5000, 1e-6}));
  Knowns knowns = all;
  knowns.epsilon = epsilon;
  const auto without = [&](auto member) {
    Knowns rest = knowns;
    (rest.*member).reset();
    const Solution solution = calibrated(rest);
    EXPECT_LE(solution.epsilon, epsilon);
    expect_relative(solution.epsilon, epsilon, 1e-10);
    return solution.setting;
  };
  expect_relative(without(&Knowns::noise_multiplier).noise_multiplier, 1.1, 2e-12);
  expect_relative(without(&Knowns::rate).rate, 0.01, 2e-12);
  EXPECT_EQ(without(&Knowns::steps).steps, 5000);
  expect_relative(without(&Knowns::delta).delta, 1e-6, 1e-10);
}

TEST(Calibration, StopsAtTheLastStepThatFits) {
  const Solution solution =
      calibrated({.noise_multiplier = 1, .rate = 0.0256, .delta = 1e-5, .epsilon = 2.7866439426});
  EXPECT_EQ(solution.setting.steps, 199);
  EXPECT_LE(solution.epsilon, 2.7866439426);
  EXPECT_GT(kRdp({1, 0.0256, 200, 1e-5}), 2.7866439426);
}

TEST(Calibration, WorksWithAnyAccountant) {
  const EpsilonOf exact = [](const Setting& setting) {
    const GaussianBlock block{setting.noise_multiplier, setting.steps};
    return gaussian_epsilon(setting.delta, composed_noise_multiplier(std::span(&block, 1)));
  };
  const Solution noise = calibrate({.rate = 1, .steps = 100, .delta = 1e-6, .epsilon = 8}, exact);
  expect_relative(noise.setting.noise_multiplier, 10 * gaussian_noise_multiplier(8, 1e-6), 1e-12);
  const Solution delta = calibrate({.noise_multiplier = 10, .rate = 1, .steps = 100, .epsilon = 2}, exact);
  expect_relative(delta.setting.delta, gaussian_delta(2, 1), 1e-11);
  EXPECT_LE(delta.epsilon, 2);
}

TEST(Calibration, IsOnTheSafeSideEverywhere) {
  for (const double target : {0.2, 1.0, 9.0, 300.0}) {
    for (const double rate : {1e-4, 0.02, 1.0}) {
      for (const std::int64_t steps : {1, 3000}) {
        const Solution solution =
            calibrated({.rate = rate, .steps = steps, .delta = 1e-5, .epsilon = target});
        EXPECT_LE(kRdp(solution.setting), target);
        Setting less = solution.setting;
        less.noise_multiplier *= 1 - 1e-11;
        EXPECT_GT(kRdp(less), target);
      }
    }
  }
}

TEST(Calibration, TakesTheWholeRangeWhereItFits) {
  const Knowns loose{.noise_multiplier = 100, .steps = 1, .delta = 1e-5, .epsilon = 5};
  EXPECT_EQ(calibrated(loose).setting.rate, 1);
  const EpsilonOf nothing = [](const Setting&) { return 0.0; };
  EXPECT_EQ(calibrate({.noise_multiplier = 1, .rate = 0, .steps = 9, .epsilon = 0}, nothing).setting.delta,
            0);
}

TEST(Calibration, SaysWhatCannotBeReached) {
  // With orders up to 63 no noise brings epsilon below about 0.1 at delta 1e-5.
  EXPECT_THAT(
      no_calibration({.rate = 0.01, .steps = 1, .delta = 1e-5, .epsilon = 0.05}),
      has_all("no noise multiplier up to 1073741824 reaches epsilon 0.05", "it is still 0.1", "orders"));
  EXPECT_THAT(no_calibration({.noise_multiplier = 0.3, .rate = 0.5, .delta = 1e-5, .epsilon = 1}),
              HasSubstr("one step already has epsilon"));
  EXPECT_THAT(no_calibration({.noise_multiplier = 1, .rate = 0, .delta = 1e-5, .epsilon = 1}),
              HasSubstr("even 1000000000000 steps"));
  EXPECT_THAT(no_calibration({.rate = 0, .steps = 10, .delta = 1e-5, .epsilon = 1}),
              HasSubstr("every noise multiplier"));
  EXPECT_THAT(no_calibration({.rate = 0.1, .steps = 10, .delta = 0, .epsilon = 1}),
              HasSubstr("it is still inf"));
}

TEST(Calibration, NeedsExactlyOneUnknown) {
  EXPECT_THAT(no_calibration({.steps = 10, .delta = 1e-5, .epsilon = 1}),
              HasSubstr("2 of noise multiplier, sampling rate, steps, delta and epsilon are not given"));
  EXPECT_THAT(no_calibration({.noise_multiplier = 1, .rate = 1, .steps = 1, .delta = 0.1, .epsilon = 1}),
              has_all("0 of", "exactly one"));
}

TEST(Calibration, RefusesKnownsThatAreOutside) {
  const double nan = std::nan("");
  const Knowns good{.noise_multiplier = 1, .rate = 0.1, .steps = 10, .delta = 1e-5};
  const auto refused = [&](auto member, auto value) {
    Knowns knowns = good;
    knowns.*member = value;
    return no_calibration(knowns);
  };
  for (const double noise : {-1.0, nan, kInfinity}) {
    EXPECT_THAT(refused(&Knowns::noise_multiplier, noise), HasSubstr("the noise multiplier is"));
  }
  for (const double rate : {-0.1, 1.1, nan}) {
    EXPECT_THAT(refused(&Knowns::rate, rate), HasSubstr("the sampling rate is"));
  }
  for (const std::int64_t steps : {0, -5}) {
    EXPECT_THAT(refused(&Knowns::steps, steps), HasSubstr("the number of steps is"));
  }
  for (const double delta : {-0.1, 1.0, nan}) {
    EXPECT_THAT(refused(&Knowns::delta, delta), HasSubstr("0 <= delta < 1"));
  }
  Knowns knowns{.rate = 0.1, .steps = 10, .delta = 1e-5, .epsilon = nan};
  EXPECT_THAT(no_calibration(knowns), HasSubstr("epsilon is nan"));
  knowns.epsilon = -1;
  EXPECT_THROW(calibrated(knowns), Error);
}

}  // namespace
}  // namespace fedarena
