#include "results/text/number_format.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "fedarena/base/stream.hpp"

#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena::results {
namespace {

std::vector<std::string> each(std::string (*text_of)(double), const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  for (const double number : numbers) texts.push_back(text_of(number));
  return texts;
}

TEST(NumberFormat, GivesMeasuresFourSignificantDigitsAndNoExponent) {
  EXPECT_THAT(each(measured, {0, 0.012344, 0.63124, 0.99996, 1, 99.996, 7664.6, 1234567, kInfinity}),
              ElementsAre("0.000", "0.01234", "0.6312", "1.000", "1.000", "100.0", "7665", "1234567", "inf"));
  EXPECT_EQ(measured(std::nan("")), "nan");
  EXPECT_EQ(measured(6.02214e33), "6.022e+33");
  EXPECT_EQ(measured_beside(6.02214e33, 1.5e9), "1.5e+09");
  EXPECT_EQ(measured_beside(3, 0.25), "0.250");
  EXPECT_EQ(measured_beside(7664.6, 12.5), "13");
}

TEST(NumberFormat, GivesCountsThreeSignificantDigits) {
  EXPECT_THAT(each(human_count, {0, 0.5, 2.5, 7, 640.5, 999, 999.6}),
              ElementsAre("0", "0.50", "2.50", "7", "640", "999", "1.00 k"));
  EXPECT_THAT(each(human_count, {12'345, 999'499, 999'500, 1.5e9, 9.996e15, 9e18}),
              ElementsAre("12.3 k", "999 k", "1.00 M", "1.50 G", "10.0 P", "9.00 E"));
}

TEST(NumberFormat, GivesBytesThreeSignificantDigits) {
  EXPECT_THAT(each(human_bytes, {0, 0.5, 7, 999, 1000, 1024, 9.996 * 1024}),
              ElementsAre("0 B", "0.500 B", "7 B", "999 B", "0.977 KiB", "1.00 KiB", "10.0 KiB"));
  EXPECT_THAT(each(human_bytes, {99.96 * 1024, 999.4 * 1024, 999.6 * 1024, 1.2345e9, 5e18}),
              ElementsAre("100 KiB", "999 KiB", "0.976 MiB", "1.15 GiB", "4547474 TiB"));
}

TEST(NumberFormat, KnowsTheNumberThatItPrints) {
  EXPECT_EQ(scaled_bytes(1537).value, 1536);
  for (double number = 1; number < 1e18; number *= 7.3) {
    EXPECT_NEAR(scaled_count(number).value, number, 0.005 * number);
    if (number < 1e15) {
      EXPECT_NEAR(scaled_bytes(number).value, number, 0.005 * number);
    }
  }
}

TEST(NumberFormat, GivesSecondsAndPercentsFewDigits) {
  EXPECT_THAT(each(human_seconds, {0.421, 12.34, 1234.4}), ElementsAre("0.42", "12.3", "1234"));
  EXPECT_THAT(each(human_seconds, {0, 0.00042, 0.0042, 0.05, 0.0994, 0.0996, 0.00996}),
              ElementsAre("0.00", "0.00042", "0.0042", "0.050", "0.099", "0.10", "0.010"));
  EXPECT_THAT(each(percent, {0.712349, 1}), ElementsAre("71.23", "100.00"));
  // Means of two seeds: halves, whatever binary makes of them.
  EXPECT_THAT(each(percent, {(0.079 + 0.0945) / 2, (0.2315 + 0.3) / 2, (0.298 + 0.3135) / 2, -0.00275}),
              ElementsAre("8.68", "26.58", "30.58", "-0.28"));
}

TEST(NumberFormat, NeverRoundsEpsilonDown) {
  EXPECT_THAT(each(epsilon_text, {0, 3.1, 2.79, 2.78664, 2.7900001, std::nextafter(2.79, 3), 9.999, 1e-300}),
              ElementsAre("0.00", "3.10", "2.79", "2.79", "2.80", "2.80", "10.00", "0.01"));
  EXPECT_EQ(epsilon_text(1e15 + 0.125), "1000000000000000.12");  // beyond 2^53 / 100 doubles are sparser
  EXPECT_EQ(epsilon_text(kInfinity), "inf");
}

TEST(NumberFormat, RoundsFourDigitsToTheSideOfTheBound) {
  EXPECT_THAT(
      each(epsilon_number, {0, 2, 2.7866, 2.78661, 2.786600000001, 0.1, 0.012341, 3.0001e-7, 1e13, 9.99991}),
      ElementsAre("0", "2.0000", "2.7866", "2.7867", "2.7867", "0.1000", "0.01235", "3.001e-07", "1e+13",
                  "10.0000"));
  EXPECT_THAT(each(lower_bound_number, {0, 2, 2.7866, 2.78669, 0.099999, 0.0123499}),
              ElementsAre("0", "2.0000", "2.7866", "2.7866", "0.09999", "0.01234"));
  EXPECT_EQ(epsilon_number(kInfinity), "inf");
  Stream stream({.seed = 5});
  for (int trial = 0; trial < 100'000; ++trial) {
    const double bound = std::exp(400 * stream.uniform() - 380);
    ASSERT_GE(std::stod(epsilon_number(bound)), bound);
    ASSERT_LE(std::stod(lower_bound_number(bound)), bound);
    ASSERT_LE(std::stod(epsilon_number(bound)), bound * 1.002);
    ASSERT_GE(std::stod(lower_bound_number(bound)), bound * 0.998);
  }
}

TEST(NumberFormat, RoundsToSomeDigitsUpAndDown) {
  EXPECT_EQ(rounded_up(1.2340001, 4), 1.235);
  EXPECT_EQ(rounded_up(1.234, 4), 1.234);
  EXPECT_EQ(rounded_up(9.99991, 4), 10);
  EXPECT_EQ(rounded_down(12349.9, 4), 12340);
  EXPECT_EQ(rounded_down(-1.2340001, 4), -1.235);
  EXPECT_EQ(rounded_up(0, 4), 0);
  EXPECT_EQ(rounded_up(kInfinity, 4), kInfinity);
}

TEST(NumberFormat, NeverPrintsAnEpsilonBelowItself) {
  Stream stream({.seed = 4});
  for (int trial = 0; trial < 100'000; ++trial) {
    const double epsilon = std::exp(40 * stream.uniform() - 20);
    const double printed = std::stod(epsilon_text(epsilon));
    ASSERT_GE(printed, epsilon);
    ASSERT_LE(printed, epsilon * (1 + 1e-15) + 0.01);
  }
}

TEST(NumberFormat, WritesNumbersAsShortAsTheyGo) {
  EXPECT_THAT(each(short_number, {1e-5, 1.5e-10, 1e300, 0.001, 8}),
              ElementsAre("1e-5", "1.5e-10", "1e+300", "0.001", "8"));
  EXPECT_THAT(each(exact_number, {4096, 0.1, std::nan(""), kInfinity}),
              ElementsAre("4096", "0.1", "nan", "inf"));
}

TEST(NumberFormat, GivesTimesTwoUnitsAtMost) {
  EXPECT_THAT(each(duration_text, {0, 59.4, 59.6, 3599, 7265, 100000}),
              ElementsAre("0 s", "59 s", "1 min 00 s", "59 min 59 s", "2 h 01 min", "1 d 03 h"));
  EXPECT_EQ(duration_text(1e300), duration_text(1e12));
}

}  // namespace
}  // namespace fedarena::results
