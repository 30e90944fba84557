#include "results/report/curve_data.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fedarena/base/error.hpp"

#include "results/plot/curves.hpp"
#include "tests/infinity.hpp"
#include "tests/results/report/sample_runs.hpp"

namespace fedarena::results {
namespace {

// The points that a page draws for this axis and measure.
std::vector<CurvePoint> points_of(const RowSeries& series, std::size_t x, const RowSeries::Values& y) {
  std::vector<CurvePoint> points;
  for (std::size_t i = 0; i < series.rounds.size(); ++i) {
    const double over = series.x[x][i], mean = y.mean[i];
    if (std::isnan(over) || std::isnan(mean)) continue;
    points.push_back({.round = series.rounds[i],
                      .x = over,
                      .y = mean,
                      .std = y.std.empty() ? std::nullopt : std::optional(y.std[i])});
  }
  return points;
}

// What a page draws is what `fedarena plot` draws, whatever is chosen.
void expect_same_curves(const std::vector<std::filesystem::path>& folders) {
  const std::vector<FoundRun> runs = find_runs(folders);
  std::vector<RowSeries> rows;
  readable_runs(runs, [&](const RowRuns& row, const RowRounds& rounds) {
    rows.push_back(row_series(rounds, claims_of(row)));
    return RowParts();
  });
  ASSERT_EQ(rows.size(), 1U);
  std::size_t compared = 0;
  const auto drawn = [&](std::size_t x, const Quantity& y) -> std::vector<CurvePoint> {
    try {
      return make_curves(runs, curve_axes()[x], y).panels[0].curves[0].points;
    } catch (const Error&) {  // nothing to draw
      return {};
    }
  };
  for (std::size_t x = 0; x < curve_axes().size(); ++x) {
    for (std::size_t y = 0; y < measure_names().size(); ++y) {
      const std::string what = fmt::format("{} over {}", measure_names()[y], curve_axes()[x].name);
      const std::vector<CurvePoint> expected = drawn(x, *find_quantity(measure_names()[y]));
      EXPECT_EQ(points_of(rows[0], x, rows[0].y[y]), expected) << what;
      compared += expected.size();
    }
    for (const auto& [name, values] : rows[0].observed)
      EXPECT_EQ(points_of(rows[0], x, values), drawn(x, observed_quantity(name)));
  }
  EXPECT_GT(compared, 50U);
}

TEST(RowSeries, HoldsTheCurvesOfPlotOverSeeds) {
  const Scratch folder;
  // Seeds differ in the rounds that were tested, in epsilons and in what algorithms observed.
  const RunChanges patchy{.round = [](RoundRecord& round) {
    if (round.round == 4) round.test_loss = kInfinity;
    if (round.round % 2 == 0) round.validation_accuracy = 0.25;
    if (round.round < 7) round.epsilon = 0.5 * static_cast<double>(round.round);
    if (round.round == 6) round.epsilon = kInfinity;
    round.observed = {{"radius", 0.25 * static_cast<double>(round.round)}};
  }};
  const RunChanges other{.round = [](RoundRecord& round) {
    round.epsilon = 0.75;
    round.validation_accuracy = 0.5;
    if (round.round != 3) round.observed = {{"radius", 2}, {"walk", 1}};
  }};
  write_run(folder / "a", "fedavg", 1, 0.8, patchy);
  write_run(folder / "b", "fedavg", 2, 0.6, other);
  expect_same_curves({folder.path()});
}

// The end of a seed is at its own claim, not at the largest one of the row.
TEST(RowSeries, HoldsTheCurvesOfPlotWhereABudgetEndedASeed) {
  const Scratch folder;
  const auto charged = [](double epsilon, std::int64_t rounds_done) {
    return RunChanges{
        .summary =
            [=](Summary& summary) {
              const Summary like = stopped_by_budget("dp-fedavg", 1, 0.5);
              summary.policy = like.policy;
              summary.privacy = like.privacy;
              summary.privacy->rdp = summary.privacy->pld = Claim{.epsilon = epsilon};
              summary.rounds = 16;
              summary.rounds_done = rounds_done;
              if (rounds_done == 16) summary.privacy->stopped.clear();
            },
        .round = [](RoundRecord& round) { round.epsilon = 0.125 * static_cast<double>(round.round); }};
  };
  write_run(folder / "a", "dp-fedavg", 1, 0.8, charged(2.75, 16), 16);
  write_run(folder / "b", "dp-fedavg", 2, 0.6, charged(1.5, 8), 8);
  expect_same_curves({folder.path()});
}

TEST(RowSeries, HoldsWhatTheFirstSeedObserves) {
  RowRounds seeds(2, {round_record(1), round_record(2)});
  seeds[0][0].observed = {{"radius", 1}};
  seeds[0][1].observed = {{"radius", 2}};
  seeds[1][1].observed = {{"radius", 4}, {"walk", 1}};
  const RowSeries series = row_series(seeds, SeedClaims(seeds.size()));
  ASSERT_EQ(series.observed.size(), 1U);
  EXPECT_EQ(series.observed[0].first, "radius");
  EXPECT_TRUE(std::isnan(series.observed[0].second.mean[0]));
  EXPECT_EQ(series.observed[0].second.mean[1], 3);
}

TEST(RowSeries, HoldsTheCurvesOfPlotForOneSeed) {
  const Scratch folder;
  write_run(folder / "a", "fedavg", 1, 0.8);
  expect_same_curves({folder.path()});
}

TEST(RowSeries, KeepsEvenlyChosenRoundsOfALongRun) {
  RowRounds seeds(1);
  for (std::int64_t i = 1; i <= 1000; ++i) seeds[0].push_back(round_record(i));
  const RowSeries series = row_series(seeds, SeedClaims(seeds.size()));
  ASSERT_EQ(series.rounds.size(), kMostRounds);
  EXPECT_EQ(series.rounds.back(), 1000);
  for (std::size_t i = 1; i < series.rounds.size(); ++i) {
    const std::int64_t gap = series.rounds[i] - series.rounds[i - 1];
    EXPECT_TRUE(gap == 2 || gap == 3) << gap;
  }
  // What is summed counts the rounds between, too.
  EXPECT_EQ(series.x[5].back(), 640.0 * 1000);
}

TEST(SeriesJson, RoundsNumbersAndNamesWhatIsMissing) {
  EXPECT_EQ(numbers_json(std::vector{1.23456, kNan, 2e-7, 1234567.0}, 4), "[1.235,null,2e-7,1.235e6]");
  EXPECT_EQ(numbers_json(std::vector<double>{}, 4), "[]");
}

// A bound is not printed below itself, nor drawn there: neither alone nor as a line.
TEST(SeriesJson, RoundsEpsilonsUp) {
  const auto epsilon = static_cast<std::size_t>(
      std::ranges::find(curve_axes(), std::string_view("epsilon"), &CurveAxis::name) - curve_axes().begin());
  const auto shown = [&](const std::vector<double>& epsilons) {
    RowSeries series{.rounds = {1, 2, 3}, .x = std::vector<std::vector<double>>(epsilon + 1), .y = {}};
    for (std::vector<double>& axis : series.x) axis = {kNan, kNan, kNan};
    series.x[epsilon] = epsilons;
    const auto json = nlohmann::json::parse(series_json(series));
    return json.at("lists").at(json.at("positions").at("x").at(std::to_string(epsilon)).get<std::size_t>());
  };
  EXPECT_EQ(shown({4.541248, 5.099515, 5.604825}), nlohmann::json({4.5413, 5.0996, 5.6049}));
  EXPECT_EQ(shown({0.999991, 2, 123456.2}), nlohmann::json({1.0, 2.0, 123460.0}));
  EXPECT_EQ(shown({1.00001, 2.00001, 3.00001}),
            nlohmann::json({{"from", 1.0001}, {"step", 2.0001 - 1.0001}, {"count", 3}}));
}

TEST(SeriesJson, TellsALineByItsStep) {
  EXPECT_EQ(numbers_json(std::vector{0.5, 0.75, 1.0, 1.25}, 5), R"({"from":0.5,"step":0.25,"count":4})");
  EXPECT_EQ(numbers_json(std::vector{3.0, 3.0, 3.0}, 5), R"({"from":3,"step":0,"count":3})");
  EXPECT_EQ(numbers_json(std::vector{1.0, 2.0}, 5), "[1,2]");
  EXPECT_EQ(numbers_json(std::vector{1.0, 2.0, 3.001}, 5), "[1,2,3.001]");
  EXPECT_EQ(numbers_json(std::vector{1.0, 2.0, kNan}, 5), "[1,2,null]");
}

// A step that is rounded must not run away from the numbers.
TEST(SeriesJson, KeepsALineWithinTheDigitsThatItShows) {
  std::vector<double> numbers;
  for (int i = 1; i <= 400; ++i) numbers.push_back(i / 3.0);
  const auto json = nlohmann::json::parse(numbers_json(numbers, 7));
  ASSERT_TRUE(json.is_object());
  const double last = json["from"].get<double>() + 399 * json["step"].get<double>();
  EXPECT_NEAR(last, numbers.back(), 1e-7 * numbers.back());
}

TEST(SeriesJson, LeavesOutWhatHasNoNumber) {
  const RowSeries series{.rounds = {1, 2},
                         .x = {{3, 4}, {kNan, kNan}},
                         .y = {{.mean = {kNan, kNan}, .std = {}}, {.mean = {50, 60}, .std = {1, kNan}}}};
  EXPECT_EQ(series_json(series), R"({"lists":[[1,2],[3,4],[50,60],[1,null]],)"
                                 R"("positions":{"rounds":0,"x":{"0":1},"y":{"1":{"mean":2,"std":3}}}})");
}

TEST(SeriesJson, HoldsEqualListsOnce) {
  const RowSeries series{.rounds = {1, 2},
                         .x = {{1, 2}, {5, 9}},
                         .y = {{.mean = {5, 9}, .std = {0, 0}}, {.mean = {5, 8}, .std = {0, 0}}}};
  EXPECT_EQ(series_json(series), R"({"lists":[[1,2],[5,9],[0,0],[5,8]],)"
                                 R"("positions":{"rounds":0,"x":{"0":0,"1":1},)"
                                 R"("y":{"0":{"mean":1,"std":2},"1":{"mean":3,"std":2}}}})");
}

TEST(SeriesJson, NamesWhatAlgorithmsObserve) {
  const RowSeries series{
      .rounds = {1, 2},
      .x = {},
      .y = {},
      .observed = {{"radius", {.mean = {1.5, kNan}, .std = {}}}, {"a\"b", {.mean = {1, 2}, .std = {}}}}};
  const auto json = nlohmann::json::parse(series_json(series));
  EXPECT_EQ(json["lists"], nlohmann::json::parse("[[1,2],[1.5,null]]"));
  EXPECT_EQ(json["positions"]["observed"],
            nlohmann::json::parse(R"({"radius":{"mean":1},"a\"b":{"mean":0}})"));
}

}  // namespace
}  // namespace fedarena::results
