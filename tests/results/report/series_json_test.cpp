#include "results/report/series_json.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace fedarena::results {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(SeriesJson, RoundsNumbersAndNamesWhatIsMissing) {
  EXPECT_EQ(numbers_json(std::vector{1.23456, kNone, 2e-7, 1234567.0}, 4), "[1.235,null,2e-7,1.235e6]");
  EXPECT_EQ(numbers_json(std::vector<double>{}, 4), "[]");
}

TEST(SeriesJson, TellsALineByItsStep) {
  EXPECT_EQ(numbers_json(std::vector{0.5, 0.75, 1.0, 1.25}, 5), R"({"from":0.5,"step":0.25,"count":4})");
  EXPECT_EQ(numbers_json(std::vector{3.0, 3.0, 3.0}, 5), R"({"from":3,"step":0,"count":3})");
  EXPECT_EQ(numbers_json(std::vector{1.0, 2.0}, 5), "[1,2]");
  EXPECT_EQ(numbers_json(std::vector{1.0, 2.0, 3.001}, 5), "[1,2,3.001]");
  EXPECT_EQ(numbers_json(std::vector{1.0, 2.0, kNone}, 5), "[1,2,null]");
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
                         .x = {{3, 4}, {kNone, kNone}},
                         .y = {{.mean = {kNone, kNone}, .std = {}}, {.mean = {50, 60}, .std = {1, kNone}}}};
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
      .observed = {{"radius", {.mean = {1.5, kNone}, .std = {}}}, {"a\"b", {.mean = {1, 2}, .std = {}}}}};
  const auto json = nlohmann::json::parse(series_json(series));
  EXPECT_EQ(json["lists"], nlohmann::json::parse("[[1,2],[1.5,null]]"));
  EXPECT_EQ(json["positions"]["observed"],
            nlohmann::json::parse(R"({"radius":{"mean":1},"a\"b":{"mean":0}})"));
}

}  // namespace
}  // namespace fedarena::results
