#include "fedarena/accounting/pure.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"

#include "tests/accounting/rdp_events.hpp"
#include "tests/accounting/reference_files.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

TEST(PureEpsilon, IsThatOfTheMechanism) {
  EXPECT_EQ(pure_epsilon(Laplace{7, 0.5}), 0.5);
  EXPECT_EQ(pure_epsilon(RandomizedResponse{3, 2}), 2);
  EXPECT_EQ(pure_epsilon(Composition{{{Laplace{1, 0.5}, 3}, {RandomizedResponse{3, 2}, 1}}}), 3.5);
  EXPECT_EQ(pure_epsilon(poisson(0, 1)), 0);
  EXPECT_EQ(pure_epsilon(Composition{}), 0);
  for (const Event& event : {Event(ExactAccess{"loss"}), Event(Gaussian{9}), poisson(0.1, 1)}) {
    EXPECT_EQ(pure_epsilon(event), kInfinity);
  }
  EXPECT_THROW(pure_epsilon(Laplace{0, 1}), Error);
}

TEST(OptimalComposition, ReproducesReferenceNumbers) {
  expect_relative(optimal_composition_epsilon(0.1, 10, 1e-5), 9.9369117675933592e-1, 1e-13);
  expect_relative(optimal_composition_epsilon(0.01, 1000, 1e-5), 1.1977327983086730, 1e-13);
  expect_relative(optimal_composition_epsilon(8, 15, 1e-5), 119.99998994951177, 1e-13);
  for (const ReferenceRow& row : reference_rows("pure_composition.csv")) {
    const double each = row.number("eps_each"), delta = row.number("delta");
    const std::int64_t count = row.whole("k");
    expect_relative(static_cast<double>(count) * each, row.number("eps_basic"), 1e-15);
    expect_relative(optimal_composition_epsilon(each, count, 0), row.number("eps_basic"), 1e-15);
    expect_relative(optimal_composition_epsilon(each, count, delta), row.number("eps_optimal"), 1e-12);
    expect_relative(advanced_composition_epsilon(each, count, delta), row.number("eps_advanced_DRV"), 1e-14);
    expect_relative(optimal_composition_delta(each, count, static_cast<double>(count) * each / 2),
                    row.number("delta_at_half_basic"), 1e-12);
  }
}

// One response: delta = (e^eps - e^total) / (1 + e^eps).
TEST(OptimalComposition, OfOneIsTheBinaryResponse) {
  expect_relative(optimal_composition_delta(2, 1, 0.5), (std::exp(2) - std::exp(0.5)) / (1 + std::exp(2)),
                  1e-14);
  EXPECT_EQ(optimal_composition_delta(2, 1, 2), 0);
  EXPECT_EQ(optimal_composition_delta(2, 1, 3), 0);
}

TEST(OptimalComposition, HandlesTheEndsOfTheRanges) {
  EXPECT_EQ(optimal_composition_delta(0, 5, 0), 0);
  EXPECT_EQ(optimal_composition_epsilon(0, 5, 1e-5), 0);
  EXPECT_EQ(optimal_composition_epsilon(0.1, 1, 0.5), 0);
  const double many = optimal_composition_epsilon(1e-4, 1'000'000'000, 1e-6);
  EXPECT_GT(many, 10);
  EXPECT_LT(many, 30);
  EXPECT_NEAR(optimal_composition_delta(700, 3, 10), 1, 1e-12);
}

TEST(OptimalComposition, RefusesWhatIsOutside) {
  const double nan = std::nan("");
  for (const double epsilon : {-1.0, nan, kInfinity}) {
    EXPECT_THROW(optimal_composition_epsilon(epsilon, 1, 1e-5), Error);
  }
  for (const double delta : {-1.0, nan, 1.0}) {
    EXPECT_THROW(optimal_composition_epsilon(1, 1, delta), Error);
    EXPECT_THROW(advanced_composition_epsilon(1, 1, delta), Error);
  }
  EXPECT_THROW(optimal_composition_epsilon(1, 0, 1e-5), Error);
  EXPECT_THROW(optimal_composition_delta(1, 1, -1), Error);
}

}  // namespace
}  // namespace fedarena
