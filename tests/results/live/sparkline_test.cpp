#include "results/live/sparkline.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace fedarena::results {
namespace {

constexpr std::size_t kWide = 100;

TEST(Sparkline, RisesFromTheSmallestToTheLargestValue) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(values, kWide, Letters::kUnicode), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(values, kWide, Letters::kAscii), ".:-=+*#@");
  EXPECT_EQ(sparkline(std::vector{0.2, 0.9, 0.2}, kWide, Letters::kUnicode), "▁█▁");
}

TEST(Sparkline, HasAtMostSoManyLettersAndEndsWithTheLastValue) {
  std::vector<double> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  EXPECT_EQ(sparkline(values, 4, Letters::kAscii), ":=*@");
  EXPECT_EQ(sparkline(values, 1, Letters::kAscii), "@");
  EXPECT_EQ(sparkline(values, 0, Letters::kAscii), "");
  values.back() = -1;
  EXPECT_EQ(sparkline(values, 4, Letters::kAscii), "-+#.");
}

TEST(Sparkline, ShowsWhatIsNoNumberAndWhatIsTooLarge) {
  constexpr double kMost = std::numeric_limits<double>::max();
  EXPECT_EQ(sparkline(std::vector<double>{0, std::nan(""), INFINITY, 1}, kWide, Letters::kAscii), ".!!@");
  EXPECT_EQ(sparkline(std::vector{std::nan("")}, kWide, Letters::kUnicode), "!");
  EXPECT_EQ(sparkline(std::vector{-kMost, 0.0, kMost}, kWide, Letters::kAscii), ".+@");
}

TEST(Sparkline, KeepsEqualValuesInTheMiddle) {
  EXPECT_EQ(sparkline(std::vector{0.5, 0.5}, kWide, Letters::kUnicode), "▄▄");
  EXPECT_EQ(sparkline({}, kWide, Letters::kUnicode), "");
}

}  // namespace
}  // namespace fedarena::results
