#include "fedarena/accounting/conversion.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/accounting/rdp.hpp"

#include "tests/accounting/rdp_events.hpp"
#include "tests/accounting/reference_files.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using List = std::vector<double>;

TEST(Conversion, IsThePublishedFormula) {
  const List order{5}, divergence{0.75};
  const double classic = 0.75 + std::log(1e5) / 4;
  EXPECT_DOUBLE_EQ(epsilon_of_rdp(order, divergence, 1e-5, Conversion::kClassic).epsilon, classic);
  EXPECT_DOUBLE_EQ(epsilon_of_rdp(order, divergence, 1e-5, Conversion::kBalle).epsilon,
                   classic + std::log(0.8) - std::log(5) / 4);
}

// dp_accounting: a divergence of 1.1 at every order 2..32, delta 1e-5.
TEST(Conversion, ReproducesAPublishedTest) {
  List orders, divergences;
  for (int order = 2; order <= 32; ++order) {
    orders.push_back(order);
    divergences.push_back(1.1);
  }
  const RdpEpsilon result = epsilon_of_rdp(orders, divergences, 1e-5, Conversion::kBalle);
  EXPECT_NEAR(result.epsilon, 1.3278380617554359, 1e-15);
  EXPECT_EQ(result.order, 32);
}

TEST(Conversion, TakesTheBestOrderAndSkipsInfinities) {
  const RdpEpsilon result = epsilon_of_rdp(List{2, 10, 40}, List{0.1, 0.5, kInfinity}, 1e-5);
  EXPECT_EQ(result.order, 10);
  EXPECT_EQ(epsilon_of_rdp(List{2, 10}, List{kInfinity, kInfinity}, 1e-5).epsilon, kInfinity);
}

TEST(Conversion, IsNeverNegative) { EXPECT_EQ(epsilon_of_rdp(List{64}, List{1e-9}, 0.5).epsilon, 0); }

TEST(Conversion, AtDeltaZeroIsInfiniteUnlessNothingIsTold) {
  EXPECT_EQ(epsilon_of_rdp(List{2, 3}, List{1e-300, 1e-300}, 0).epsilon, kInfinity);
  EXPECT_EQ(epsilon_of_rdp(List{2, 3}, List{0, 0}, 0).epsilon, 0);
  EXPECT_EQ(delta_of_rdp(List{2, 3}, List{0, 0}, 0), 0);
}

TEST(Conversion, ToDeltaReproducesTheReference) {
  const List orders = rdp_orders("opacus");
  const auto delta_of = [&](double rate, double noise, double steps, double epsilon) {
    List divergences = rdp(poisson(rate, noise), orders);
    for (double& divergence : divergences) divergence *= steps;
    return delta_of_rdp(orders, divergences, epsilon);
  };
  expect_relative(delta_of(0.0256, 1, 200, 3), 3.4411468629145360e-6, 1e-12);
  expect_relative(delta_of(1, 5, 100, 2), 5.9317525435529023e-1, 1e-12);
  expect_relative(delta_of(0.5, 20, 10, 0.5), 6.6548932043440624e-11, 1e-12);
  for (const ReferenceRow& row : reference_rows("delta_rdp.csv")) {
    expect_relative(delta_of(row.number("q"), row.number("sigma"), row.number("steps"), row.number("eps")),
                    row.number("delta"), 1e-11);
  }
}

TEST(Conversion, ToDeltaInvertsTheOneToEpsilon) {
  const List orders = rdp_orders("default"), divergences = rdp(Gaussian{1.3}, orders);
  for (const double delta : {1e-12, 1e-5, 0.01}) {
    const double epsilon = epsilon_of_rdp(orders, divergences, delta).epsilon;
    expect_relative(delta_of_rdp(orders, divergences, epsilon), delta, 1e-12);
  }
}

TEST(Conversion, ToDeltaIsAProbability) {
  EXPECT_EQ(delta_of_rdp(List{2}, List{100}, 1), 1);
  EXPECT_EQ(delta_of_rdp(List{2}, List{kInfinity}, 1), 1);
  EXPECT_EQ(delta_of_rdp(List{2}, List{1}, kInfinity), 0);
}

TEST(Conversion, HasNames) {
  EXPECT_EQ(conversion_of("balle"), Conversion::kBalle);
  EXPECT_EQ(conversion_of("classic"), Conversion::kClassic);
  EXPECT_THAT(message_of([] { conversion_of("clasic"); }),
              AllOf(HasSubstr("unknown conversion \"clasic\""), HasSubstr("balle, classic")));
}

TEST(Conversion, RefusesWhatIsOutside) {
  for (const double delta : {1.0, 1.5, -0.1, std::nan("")}) {
    EXPECT_THAT(message_of([&] { epsilon_of_rdp(List{2}, List{1}, delta); }),
                HasSubstr("allowed: 0 <= delta < 1"));
  }
  for (const double order : {1.0, 0.0, std::nan(""), kInfinity}) {
    EXPECT_THAT(message_of([&] { epsilon_of_rdp(List{order}, List{1}, 0.1); }),
                HasSubstr("a finite number > 1"));
  }
  for (const double divergence : {-1.0, std::nan("")}) {
    EXPECT_THROW(epsilon_of_rdp(List{2}, List{divergence}, 0.1), Error);
  }
  EXPECT_THROW(epsilon_of_rdp({}, {}, 0.1), Error);
  EXPECT_THROW(delta_of_rdp(List{2}, List{1}, -1), Error);
  EXPECT_THROW(delta_of_rdp(List{2}, List{1}, std::nan("")), Error);
}

}  // namespace
}  // namespace fedarena
