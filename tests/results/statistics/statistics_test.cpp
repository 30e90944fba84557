#include "results/statistics/statistics.hpp"

#include <cmath>
#include <vector>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

#include "results/write/render.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

TEST(Statistics, OneValueHasAMeanAndNoSpread) {
  const std::vector<double> one = {0.75};
  EXPECT_EQ(mean(one), 0.75);
  EXPECT_EQ(sample_standard_deviation(one), std::nullopt);
}

TEST(Statistics, EqualValuesHaveNoSpreadAtAll) {
  const std::vector<double> values(7, 0.1);
  EXPECT_EQ(mean(values), 0.1);
  EXPECT_EQ(sample_standard_deviation(values), 0.0);
}

// 1, ..., n has mean (n + 1) / 2 and sample variance n (n + 1) / 12.
TEST(Statistics, AgreesWithTheClosedFormOfConsecutiveNumbers) {
  for (const int n : {2, 3, 10, 1001}) {
    std::vector<double> values;
    for (int i = 1; i <= n; ++i) values.push_back(i);
    EXPECT_DOUBLE_EQ(mean(values), (n + 1) / 2.0);
    EXPECT_DOUBLE_EQ(*sample_standard_deviation(values), std::sqrt(n * (n + 1) / 12.0));
  }
}

TEST(Statistics, HasTheMeanOfTheMiddleTwoAsMedian) {
  EXPECT_EQ(median({29, 217, 51, 50, 130, 63}), 57);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4}), 4);
}

// The textbook formula (sum of squares minus square of sum) loses every digit here.
TEST(Statistics, SurvivesALargeCommonOffset) {
  const std::vector<double> values = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  EXPECT_EQ(mean(values), 1e9 + 10);
  EXPECT_DOUBLE_EQ(*sample_standard_deviation(values), std::sqrt(30.0));
}

TEST(Statistics, SumsWhatPlainAdditionWouldLose) {
  EXPECT_EQ(mean(std::vector<double>{1, 1e100, 1, -1e100}), 0.5);
}

TEST(Statistics, ShiftingMovesTheMeanAndScalingScalesBoth) {
  Stream stream({.seed = 1});
  std::vector<double> values(50), changed;
  stream.fill_normal(values);
  for (const double value : values) changed.push_back(3 * value + 8);
  EXPECT_NEAR(mean(changed), 3 * mean(values) + 8, 1e-13);
  EXPECT_NEAR(*sample_standard_deviation(changed), 3 * *sample_standard_deviation(values), 1e-13);
}

TEST(Statistics, PassesOnWhatIsNotFinite) {
  EXPECT_EQ(mean(std::vector<double>{1, kInfinity}), kInfinity);
  EXPECT_TRUE(std::isnan(*sample_standard_deviation(std::vector<double>{1, std::nan("")})));
}

TEST(Statistics, OfNothingIsABug) {
  EXPECT_THROW(mean({}), Bug);
  EXPECT_THROW(sample_standard_deviation({}), Bug);
}

// The two-sided 5 % points that every table of Student's t prints, by the number of values.
const std::vector<std::pair<int, double>> kPrinted = {{2, 12.706}, {3, 4.303},  {4, 3.182},  {5, 2.776},
                                                      {10, 2.262}, {20, 2.093}, {31, 2.042}, {121, 1.980}};

// 1, ..., n has sample variance n (n + 1) / 12, hence a standard error of sqrt((n + 1) / 12).
TEST(Spread, HasTheHalfWidthOfThePrintedQuantiles) {
  for (const auto& [count, quantile] : kPrinted) {
    std::vector<double> values;
    for (int i = 1; i <= count; ++i) values.push_back(i);
    const Spread spread = spread_of(values);
    const double error = std::sqrt((count + 1) / 12.0);
    EXPECT_DOUBLE_EQ(spread.mean, (count + 1) / 2.0);
    EXPECT_NEAR(*spread.half_width / error, quantile, 5e-4) << count;
    EXPECT_DOUBLE_EQ(*spread.std, error * std::sqrt(count));
  }
}

// Student, "The probable error of a mean" (1908), hours of sleep gained with the first drug; R's t.test
// prints the interval -0.5297804 to 2.0297804.
TEST(Spread, AgreesWithStudentsSleepData) {
  const Spread spread = spread_of(std::vector{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0});
  EXPECT_NEAR(spread.mean - *spread.half_width, -0.5297804, 5e-8);
  EXPECT_NEAR(spread.mean + *spread.half_width, 2.0297804, 5e-8);
}

TEST(Spread, OfOneValueIsUnknown) {
  const Spread spread = spread_of(std::vector{0.5});
  EXPECT_EQ(spread.std, std::nullopt);
  EXPECT_EQ(spread.half_width, std::nullopt);
  EXPECT_EQ(behind(PlusMinus::kHalfWidth, spread), std::nullopt);
}

std::vector<FoundRun> runs_of(const std::string& label, int seeds) {
  std::vector<FoundRun> runs;
  for (int seed = 1; seed <= seeds; ++seed) runs.push_back(found(finished(label, seed, 0.70 + 0.01 * seed)));
  return runs;
}

// Of three seeds with a standard deviation of 1.00: 4.303 / sqrt(3) = 2.484.
TEST(IntervalTable, ShowsHalfWidthsAndSaysSo) {
  const std::vector<FoundRun> runs = runs_of("fedavg", 3);
  const Table table = make_table(runs, {}, PlusMinus::kHalfWidth);
  const std::string markdown = to_markdown(reader_table(table));
  EXPECT_THAT(markdown,
              has_all("72.00 ± 2.48 |", "mean ± half-width of its 95 % interval (Student's t) over seeds."));
  EXPECT_THAT(markdown, Not(HasSubstr("standard deviation")));
  EXPECT_THAT(to_latex(reader_table(table)), HasSubstr("72.00 \\pm 2.48"));
  const std::string deviations = to_markdown(reader_table(make_table(runs)));
  EXPECT_THAT(deviations, has_all("72.00 ± 1.00 |", "mean ± sample standard deviation over seeds."));
  EXPECT_THAT(deviations, Not(HasSubstr("interval")));
}

TEST(IntervalTable, SaysWhereThereIsNone) {
  std::vector<FoundRun> runs = runs_of("fedavg", 3);
  runs.push_back(found(finished("fedprox", 1, 0.5)));
  const Table some = make_table(runs, {}, PlusMinus::kHalfWidth);
  EXPECT_THAT(some.notes, Contains("one seed has no interval: fedprox"));
  EXPECT_THAT(to_markdown(reader_table(some)), HasSubstr("|        50.00 |"));
  EXPECT_THAT(make_table(runs).notes, Not(Contains(HasSubstr("interval"))));
  EXPECT_THAT(make_table(runs_of("fedavg", 1), {}, PlusMinus::kHalfWidth).notes,
              Contains("one seed has no interval: every row shows its value alone"));
}

TEST(IntervalTable, IsAlwaysInWhatProgramsRead) {
  const Table table = make_table(runs_of("fedavg", 3));
  EXPECT_THAT(render_json(table), HasSubstr("\"accuracy_half_width_95\": 0.0248413"));
  EXPECT_THAT(render_csv(table),
              has_all(",metric_std,accuracy_half_width_95,rmse_half_width_95,", ",,,,0.0248413"));
}

// Two seeds of clients: 12.706 / sqrt(2) = 8.985 standard deviations.
TEST(IntervalTable, ShowsThemOfClientsToo) {
  std::vector<FoundRun> runs = runs_of("fedavg", 2);
  for (FoundRun& run : runs) {
    const double accuracy = 0.5 + 0.01 * static_cast<double>(run.summary->seed);
    run.summary->per_client = ClientMetrics{.tested = 3, .accuracy_mean = accuracy, .accuracy_worst = 0.25};
    run.summary->best_round = BestOverRounds{.accuracy_mean = accuracy, .macro_f1_mean = accuracy};
  }
  EXPECT_THAT(to_markdown(reader_table(make_table(runs))), HasSubstr("51.50 ± 0.71"));
  EXPECT_THAT(to_markdown(reader_table(make_table(runs, {}, PlusMinus::kHalfWidth))),
              HasSubstr("51.50 ± 6.35"));
}

}  // namespace
}  // namespace fedarena::results
