#include "datasets/own/column_scale.hpp"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>

namespace fedarena {
namespace {

using testing::Each;

std::vector<std::int64_t> all_rows(const std::vector<double>& values) {
  std::vector<std::int64_t> rows(values.size());
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return rows;
}

std::vector<double> scaled(const std::vector<double>& values) {
  const ColumnScale scale(values, all_rows(values));
  std::vector<double> result;
  for (const double value : values) result.push_back(scale(value));
  return result;
}

bool hides(const std::vector<double>& values) {
  return hides_differences(ColumnScale(values, all_rows(values)), values, all_rows(values));
}

TEST(ColumnScale, MakesAConstantZeroWhateverItsMeanRoundsTo) {
  for (const double value : {14.62, 0.1, -1e-300, 5e-324, 1e200, 1.7976931348623157e308, 0.0}) {
    const std::vector<double> values(200, value);
    const ColumnScale scale(values, all_rows(values));
    EXPECT_TRUE(scale.constant()) << value;
    EXPECT_EQ(scale.deviation(), 0);
    EXPECT_EQ(scale(value), 0);
    EXPECT_EQ(scale(value + 0.01), 0) << "as in test rows";
  }
}

TEST(ColumnScale, TakesASpreadBelowRoundingForNone) {
  EXPECT_THAT(scaled({0.3, 0.1 + 0.2, 0.3, 0.3}), Each(0));
  EXPECT_THAT(scaled({1e300, std::nextafter(1e300, 2e300)}), Each(0));
  EXPECT_THAT(scaled({1e9, 1e9 + 1, 1e9, 1e9 + 1}), testing::ElementsAre(-1, 1, -1, 1));
}

TEST(ColumnScale, IsTheSameInEveryUnit) {
  const std::vector<double> values = {1, 2, 3, 6};
  const double deviation = std::sqrt(3.5);
  for (const double unit : {1.0, 1e-320, 1e-200, 1e200, 2e307, -1e160}) {
    std::vector<double> in_unit;
    for (const double value : values) in_unit.push_back(value * unit);
    const std::vector<double> result = scaled(in_unit);
    const double sign = unit < 0 ? -1 : 1;
    // The smallest unit has four digits left.
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(result[i], sign * (values[i] - 3) / deviation, unit == 1e-320 ? 1e-3 : 1e-12) << unit;
  }
}

TEST(ColumnScale, TakesMeanAndDeviationOfItsRowsAlone) {
  const std::vector<double> values = {1, 2, 3, 6, 1e300};
  const ColumnScale scale(values, std::vector<std::int64_t>{0, 1, 2, 3});
  EXPECT_NEAR(scale.deviation(), std::sqrt(3.5), 1e-15);
  EXPECT_NEAR(scale(3), 0, 1e-15);
  EXPECT_GT(scale(1e300), 1e299);
}

TEST(ColumnScale, LeavesValuesAloneUnlessAskedTo) {
  for (const double value : {0.1, -1e308, 5e-324}) EXPECT_EQ(ColumnScale()(value), value);
}

TEST(ColumnScale, DividesByAUnit) {
  const ColumnScale scale(0.25);
  EXPECT_EQ(scale(3), 12);
  EXPECT_EQ(scale(-0.5), -2);
  EXPECT_EQ(scale.deviation(), 0.25);
  EXPECT_FALSE(scale.constant());
}

TEST(ColumnScale, HidesDifferencesBesideAHugeValueOnly) {
  EXPECT_TRUE(hides({1, 2, 3, 4, 5, 1e200}));
  EXPECT_TRUE(hides({1, 2, 3, 4, 5, -9.96921e36}));
  EXPECT_FALSE(hides({1, 2, 3, 4, 5, 1e5}));
  EXPECT_FALSE(hides({7, 7, 7, 7, 7, 1e200})) << "there are none";
  EXPECT_FALSE(hides({1e-300, 2e-300, 3e-300, 4e-300}));
}

}  // namespace
}  // namespace fedarena
