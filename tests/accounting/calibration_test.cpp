#include "fedarena/accounting/calibration.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "fedarena/accounting/gaussian.hpp"
#include "fedarena/accounting/rdp.hpp"

#include "tests/accounting/reference_files.hpp"

namespace fedarena {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const EpsilonOf kRdp = epsilon_by_rdp(rdp_orders("opacus"));

TEST(Calibration, ReproducesReferenceNoise) {
  const Solution solution = calibrate({.rate = 0.0256, .steps = 200, .delta = 1e-5, .epsilon = 1}, kRdp);
  expect_relative(solution.setting.noise_multiplier, 1.753140889386, 1e-12);
  EXPECT_LE(solution.epsilon, 1);
  for (const ReferenceRow& row : reference_rows("calibration.csv")) {
    const double target = row.number("target_eps");
    const Solution found = calibrate({.rate = row.number("q"),
                                      .steps = row.whole("steps"),
                                      .delta = row.number("delta"),
                                      .epsilon = target},
                                     kRdp);
    expect_relative(found.setting.noise_multiplier, row.number("sigma_rdp"), 1e-12, row.text("case"));
    EXPECT_LE(found.epsilon, target) << row.text("case");
    EXPECT_EQ(found.epsilon, kRdp(found.setting)) << row.text("case");
  }
}

// Each quantity in turn is taken away from a full setting and found again.
TEST(Calibration, FindsWhicheverIsAbsent) {
  const Knowns all{.noise_multiplier = 1.1, .rate = 0.01, .steps = 5000, .delta = 1e-6};
  const double epsilon = calibrate(all, kRdp).epsilon;
  EXPECT_EQ(epsilon, kRdp({1.1, 0.01, 5000, 1e-6}));
  Knowns knowns = all;
  knowns.epsilon = epsilon;
  const auto without = [&](auto member) {
    Knowns rest = knowns;
    (rest.*member).reset();
    const Solution solution = calibrate(rest, kRdp);
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
      calibrate({.noise_multiplier = 1, .rate = 0.0256, .delta = 1e-5, .epsilon = 2.7866439426}, kRdp);
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
            calibrate({.rate = rate, .steps = steps, .delta = 1e-5, .epsilon = target}, kRdp);
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
  EXPECT_EQ(calibrate(loose, kRdp).setting.rate, 1);
  const EpsilonOf nothing = [](const Setting&) { return 0.0; };
  EXPECT_EQ(calibrate({.noise_multiplier = 1, .rate = 0, .steps = 9, .epsilon = 0}, nothing).setting.delta,
            0);
}

TEST(Calibration, SaysWhatCannotBeReached) {
  // With orders up to 63 no noise brings epsilon below about 0.1 at delta 1e-5.
  EXPECT_THAT(message_of([] { calibrate({.rate = 0.01, .steps = 1, .delta = 1e-5, .epsilon = 0.05}, kRdp); }),
              AllOf(HasSubstr("no noise multiplier reaches epsilon 0.05"), HasSubstr("it is still 0.1"),
                    HasSubstr("orders")));
  EXPECT_THAT(message_of([] {
                calibrate({.noise_multiplier = 0.3, .rate = 0.5, .delta = 1e-5, .epsilon = 1}, kRdp);
              }),
              HasSubstr("one step already has epsilon"));
  EXPECT_THAT(
      message_of([] { calibrate({.noise_multiplier = 1, .rate = 0, .delta = 1e-5, .epsilon = 1}, kRdp); }),
      HasSubstr("any number of steps"));
  EXPECT_THAT(message_of([] { calibrate({.rate = 0, .steps = 10, .delta = 1e-5, .epsilon = 1}, kRdp); }),
              HasSubstr("every noise multiplier"));
  EXPECT_THAT(message_of([] { calibrate({.rate = 0.1, .steps = 10, .delta = 0, .epsilon = 1}, kRdp); }),
              HasSubstr("it is still inf"));
}

TEST(Calibration, NeedsExactlyOneUnknown) {
  EXPECT_THAT(message_of([] { calibrate({.steps = 10, .delta = 1e-5, .epsilon = 1}, kRdp); }),
              HasSubstr("2 of noise multiplier, sampling rate, steps, delta and epsilon are not given"));
  EXPECT_THAT(message_of([] {
                calibrate({.noise_multiplier = 1, .rate = 1, .steps = 1, .delta = 0.1, .epsilon = 1}, kRdp);
              }),
              AllOf(HasSubstr("0 of"), HasSubstr("exactly one")));
}

TEST(Calibration, RefusesKnownsThatAreOutside) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const Knowns good{.noise_multiplier = 1, .rate = 0.1, .steps = 10, .delta = 1e-5};
  const auto refused = [&](auto member, auto value) {
    Knowns knowns = good;
    knowns.*member = value;
    return message_of([&] { calibrate(knowns, kRdp); });
  };
  for (const double noise : {-1.0, nan, infinity}) {
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
  EXPECT_THAT(message_of([&] { calibrate(knowns, kRdp); }), HasSubstr("epsilon is nan"));
  knowns.epsilon = -1;
  EXPECT_THROW(calibrate(knowns, kRdp), Error);
}

}  // namespace
}  // namespace fedarena
