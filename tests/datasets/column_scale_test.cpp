#include "datasets/own/column_scale.hpp"

#include <cmath>
#include <numeric>

#include "tests/matchers.hpp"

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

// Test rows of such a column once had a loss of 5e10.
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
  EXPECT_THAT(scaled({1e9, 1e9 + 1, 1e9, 1e9 + 1}), ElementsAre(-1, 1, -1, 1));
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

// 1,000 rows of `usual`, and those of `others`.
std::vector<double> mostly(double usual, std::vector<double> others) {
  others.insert(others.end(), 1000, usual);
  return others;
}

TEST(ColumnScale, HidesDifferencesHoweverManyRowsAreEqual) {
  for (const double huge : {1e200, -1e200, 9.96921e36, 1e12}) {
    EXPECT_TRUE(hides(mostly(0, {1, 2, 3, 4, 5, huge}))) << huge;
    EXPECT_TRUE(hides(mostly(7, {8, huge}))) << huge;
    EXPECT_TRUE(hides(mostly(huge, {1, 2, 3, 4, 5}))) << "a mark for what is missing";
  }
  EXPECT_TRUE(hides(mostly(0, {1, 2, 3, 1e200, -1e200}))) << "whose mean is about 0";
  std::vector<double> flags = mostly(0, std::vector<double>(400, 1));
  flags.insert(flags.end(), 600, 9.96921e36);
  EXPECT_TRUE(hides(flags));
}

TEST(ColumnScale, HidesNothingOfFlagsCountsAndHeavyTails) {
  EXPECT_FALSE(hides(mostly(0, {1})));
  EXPECT_FALSE(hides(mostly(0, {1e200}))) << "a flag in another unit";
  EXPECT_FALSE(hides(mostly(0, {1, 1, 2, 3, 5, 40, 1000000})));
  EXPECT_FALSE(hides(mostly(0, {5.551115123125783e-17, 1, 1}))) << "what rounding leaves of 0";
  EXPECT_FALSE(hides(mostly(0.1, {0.10000000149011612, 0.2}))) << "once written in single precision";
  std::vector<double> heavy_tail, small_probabilities, powers;
  for (int i = 1; i < 1000; ++i) {
    const double part = i / 1000.0;
    heavy_tail.push_back(std::pow(part / (1 - part), 2));
    small_probabilities.push_back(i < 300 ? std::pow(10, -i) : part);
  }
  for (int i = 0; i < 16; ++i) powers.push_back(std::pow(10, i));
  EXPECT_FALSE(hides(mostly(0, heavy_tail)));
  EXPECT_FALSE(hides(small_probabilities));
  EXPECT_FALSE(hides(powers));
}

TEST(ColumnScale, HidesWhatSinglePrecisionHasNoNumberFor) {
  const std::vector<double> values = {1e-300, 2e-300, 3e-300};
  EXPECT_TRUE(hides_differences(ColumnScale(), values, all_rows(values)));
  const std::vector<double> ordinary = {1, 2, 3};
  EXPECT_FALSE(hides_differences(ColumnScale(), ordinary, all_rows(ordinary)));
  const std::vector<double> far = mostly(0, {1, 2, 3, 1e12});
  EXPECT_FALSE(hides_differences(ColumnScale(), far, all_rows(far))) << "each has its number";
  EXPECT_TRUE(hides_differences(ColumnScale(1e300), ordinary, all_rows(ordinary)));
}

}  // namespace
}  // namespace fedarena
