#include "results/statistics/holm.hpp"

#include <vector>

#include <gmock/gmock.h>

namespace fedarena::results {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Holm, AgreesWithStepsByHand) {
  // Ascending: 0.005 x 4 = 0.02, 0.01 x 3 = 0.03, 0.03 x 2 = 0.06, and 0.04 x 1 is raised to that.
  EXPECT_THAT(holm_adjusted(std::vector{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleNear(0.03, 1e-15), DoubleNear(0.06, 1e-15), DoubleNear(0.06, 1e-15),
                          DoubleNear(0.02, 1e-15)));
}

TEST(Holm, LeavesASingleTestAsItIsAndNeverExceedsOne) {
  EXPECT_THAT(holm_adjusted(std::vector<double>{}), IsEmpty());
  EXPECT_THAT(holm_adjusted(std::vector{0.04}), ElementsAre(0.04));
  EXPECT_THAT(holm_adjusted(std::vector{0.9, 0.4, 1.0}), ElementsAre(1, 1, 1));
}

TEST(Holm, TreatsEqualTestsAlike) {
  EXPECT_THAT(holm_adjusted(std::vector{0.25, 0.125, 0.125}), ElementsAre(0.375, 0.375, 0.375));
}

}  // namespace
}  // namespace fedarena::results
