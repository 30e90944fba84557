#include "results/text/number_format.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "fedarena/base/stream.hpp"

#include "results/text/text.hpp"
#include "tests/infinity.hpp"

namespace fedarena::results {
namespace {

TEST(NumberFormat, GivesMeasuresFourSignificantDigitsAndNoExponent) {
  EXPECT_EQ(measured(0), "0.000");
  EXPECT_EQ(measured(0.012344), "0.01234");
  EXPECT_EQ(measured(0.63124), "0.6312");
  EXPECT_EQ(measured(0.99996), "1.000");
  EXPECT_EQ(measured(1), "1.000");
  EXPECT_EQ(measured(99.996), "100.0");
  EXPECT_EQ(measured(7664.6), "7665");
  EXPECT_EQ(measured(1234567), "1234567");
  EXPECT_EQ(measured(kInfinity), "inf");
  EXPECT_EQ(measured(std::nan("")), "nan");
  EXPECT_EQ(measured_beside(3, 0.25), "0.250");
  EXPECT_EQ(measured_beside(7664.6, 12.5), "12");
}

TEST(NumberFormat, GivesCountsThreeSignificantDigits) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(7), "7");
  EXPECT_EQ(human_count(640.5), "640");
  EXPECT_EQ(human_count(2.5), "2.50");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(999.6), "1.00 k");
  EXPECT_EQ(human_count(12'345), "12.3 k");
  EXPECT_EQ(human_count(999'499), "999 k");
  EXPECT_EQ(human_count(999'500), "1.00 M");
  EXPECT_EQ(human_count(1.5e9), "1.50 G");
  EXPECT_EQ(human_count(9.996e15), "10.0 P");
  EXPECT_EQ(human_count(9e18), "9.00 E");
}

TEST(NumberFormat, GivesBytesThreeSignificantDigits) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(7), "7 B");
  EXPECT_EQ(human_bytes(0.5), "0.500 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "0.977 KiB");
  EXPECT_EQ(human_bytes(1024), "1.00 KiB");
  EXPECT_EQ(human_bytes(9.996 * 1024), "10.0 KiB");
  EXPECT_EQ(human_bytes(99.96 * 1024), "100 KiB");
  EXPECT_EQ(human_bytes(999.4 * 1024), "999 KiB");
  EXPECT_EQ(human_bytes(999.6 * 1024), "0.976 MiB");
  EXPECT_EQ(human_bytes(1.2345e9), "1.15 GiB");
  EXPECT_EQ(human_bytes(5e18), "4547474 TiB");
}

TEST(NumberFormat, GivesSecondsAboutThreeDigits) {
  EXPECT_EQ(human_seconds(0.421), "0.42");
  EXPECT_EQ(human_seconds(12.34), "12.3");
  EXPECT_EQ(human_seconds(1234.4), "1234");
}

TEST(NumberFormat, GivesPercentTwoDecimals) {
  EXPECT_EQ(percent(0.712349), "71.23");
  EXPECT_EQ(percent(1), "100.00");
}

TEST(NumberFormat, NeverRoundsEpsilonDown) {
  EXPECT_EQ(epsilon_text(0.0), "0.00");
  EXPECT_EQ(epsilon_text(3.1), "3.10");
  EXPECT_EQ(epsilon_text(2.79), "2.79");
  EXPECT_EQ(epsilon_text(2.78664), "2.79");
  EXPECT_EQ(epsilon_text(2.7900001), "2.80");
  EXPECT_EQ(epsilon_text(std::nextafter(2.79, 3)), "2.80");
  EXPECT_EQ(epsilon_text(9.999), "10.00");
  EXPECT_EQ(epsilon_text(1e-300), "0.01");
  EXPECT_EQ(epsilon_text(1e15 + 0.125), "1000000000000000.12");  // beyond 2^53 / 100 doubles are sparser
  EXPECT_EQ(epsilon_text(kInfinity), "inf");
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

TEST(NumberFormat, WritesShortExponents) {
  EXPECT_EQ(short_number(1e-5), "1e-5");
  EXPECT_EQ(short_number(1.5e-10), "1.5e-10");
  EXPECT_EQ(short_number(1e300), "1e+300");
  EXPECT_EQ(short_number(0.001), "0.001");
  EXPECT_EQ(short_number(8), "8");
}

TEST(NumberFormat, WritesExactNumbersAsShortAsTheyGo) {
  EXPECT_EQ(exact_number(4096), "4096");
  EXPECT_EQ(exact_number(0.1), "0.1");
  EXPECT_EQ(exact_number(std::nan("")), "nan");
  EXPECT_EQ(exact_number(kInfinity), "inf");
}

TEST(Text, CountsCodePointsNotBytes) {
  EXPECT_EQ(display_width("1 ± 2"), 5U);
  EXPECT_EQ(padded("±", 3, true), "  ±");
  EXPECT_EQ(padded("±", 3, false), "±  ");
  EXPECT_EQ(padded("long", 3, false), "long");
}

TEST(Text, StaysOnOneLine) { EXPECT_EQ(one_line("a\nb\tc\x1b[0m"), "a b c [0m"); }

}  // namespace
}  // namespace fedarena::results
