#include "results/plot/roc_curves.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "results/record/roc_file.hpp"
#include "tests/results/roc_samples.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RocCurvesTest : public ::testing::Test {
 protected:
  void record(const Summary& summary, const std::optional<TestRoc>& roc) const {
    const RunDirectory run = RunDirectory::create(
        scratch_ / "runs" / (summary.label + "-" + std::to_string(summary.seed) + summary.model), "", "{}",
        summary);
    if (roc) write_roc(run, *roc);
  }
  RocPlot plot(std::optional<std::int64_t> of_class = {}) const {
    const std::vector<std::filesystem::path> folders = {scratch_ / "runs"};
    return make_roc_plot(find_runs(folders), of_class);
  }

 private:
  Scratch scratch_;
};

TEST_F(RocCurvesTest, AreMeansWithSampleStandardDeviations) {
  record(finished("fedavg", 1, 0.7), two_class_roc(true));
  record(finished("fedavg", 2, 0.7), two_class_roc(false));
  const RocPlot drawn = plot();
  EXPECT_EQ(describe(drawn), "each class against the rest, macro average");
  EXPECT_THAT(drawn.notes, IsEmpty());
  ASSERT_EQ(drawn.panels.size(), 1U);
  ASSERT_EQ(drawn.panels[0].lines.size(), 1U);
  const RocLine& line = drawn.panels[0].lines[0];
  EXPECT_EQ(line.name, "fedavg");
  EXPECT_THAT(line.seeds, ElementsAre(1, 2));
  EXPECT_DOUBLE_EQ(line.area, 0.875);
  EXPECT_DOUBLE_EQ(line.area_std.value(), 0.25 / std::sqrt(2.0));
  EXPECT_EQ(area_text(line), "0.8750 ± 0.1768");
  ASSERT_EQ(line.points.size(), 102U);
  EXPECT_EQ(line.points[0], (RocPoint{.false_positive_rate = 0, .true_positive_rate = 0, .std = 0}));
  EXPECT_EQ(line.points[1].false_positive_rate, 0);
  EXPECT_DOUBLE_EQ(line.points[1].true_positive_rate, 0.75);
  EXPECT_DOUBLE_EQ(line.points[1].std.value(), 0.5 / std::sqrt(2.0));
  EXPECT_EQ(line.points[31].false_positive_rate, 0.3);
  EXPECT_EQ(line.points.back(), (RocPoint{.false_positive_rate = 1, .true_positive_rate = 1, .std = 0}));
}

TEST_F(RocCurvesTest, OfOneClassAreThoseOfThatClass) {
  TestRoc roc = two_class_roc(false);
  roc.classes[1] = two_class_roc(true).classes[1];
  record(finished("fedavg", 1, 0.7), roc);
  const RocPlot first = plot(0), second = plot(1);
  EXPECT_EQ(describe(second), "class 1 against the rest");
  EXPECT_EQ(area_text(first.panels[0].lines[0]), "0.7500");
  EXPECT_EQ(area_text(second.panels[0].lines[0]), "1.0000");
  EXPECT_EQ(second.panels[0].lines[0].points[5].std, std::nullopt);
}

TEST_F(RocCurvesTest, OfOtherSettingsHavePanelsOfTheirOwn) {
  record(finished("fedavg", 1, 0.7), two_class_roc(true));
  Summary other = finished("fedavg", 1, 0.7);
  other.model = "cnn";
  record(other, two_class_roc(false));
  const RocPlot drawn = plot();
  ASSERT_EQ(drawn.panels.size(), 2U);
  EXPECT_EQ(drawn.panels[0].title, "model cnn");
  EXPECT_EQ(drawn.panels[1].title, "model mlp");
}

TEST_F(RocCurvesTest, NoteTheRunsThatHaveNone) {
  TestRoc diverged = two_class_roc(true);
  for (ClassRoc& one : diverged.classes) one.curve.reset();
  TestRoc one_class{.examples = 4, .classes = {{.positives = 4}, {.negatives = 4}}};
  Summary regression = finished("ridge", 1, 0);
  regression.final_test_accuracy.reset();
  record(finished("fedavg", 1, 0.7), two_class_roc(true));
  record(finished("fedavg", 2, 0.7), std::nullopt);
  record(finished("fedprox", 1, 0.7), diverged);
  record(finished("one", 1, 0.7), one_class);
  record(regression, std::nullopt);
  record(unfinished("scaffold", 1, 3), std::nullopt);
  const RocPlot drawn = plot();
  ASSERT_EQ(drawn.panels.size(), 1U);
  ASSERT_EQ(drawn.panels[0].lines.size(), 1U);
  EXPECT_THAT(drawn.panels[0].lines[0].seeds, ElementsAre(1));
  EXPECT_THAT(drawn.notes,
              testing::IsSupersetOf({HasSubstr("fedavg-2mlp: has no roc.json, as older versions wrote none"),
                                     HasSubstr("fedprox-1mlp: its model diverged: scores are not numbers"),
                                     HasSubstr("one-1mlp: all of its test examples are of one class"),
                                     HasSubstr("ridge-1mlp: is of regression data, which has no classes"),
                                     HasSubstr("scaffold: seed 1 is unfinished")}));
  EXPECT_THAT(plot(1).notes,
              testing::IsSupersetOf({HasSubstr("fedprox-1mlp: its model diverged"),
                                     HasSubstr("one-1mlp: none of its test examples is of class 1")}));
  EXPECT_THAT(plot(0).notes,
              testing::Contains(HasSubstr("one-1mlp: all of its test examples are of class 0")));
}

TEST_F(RocCurvesTest, RefuseToDrawNothing) {
  record(unfinished("fedavg", 1, 3), std::nullopt);
  EXPECT_THAT(message_of([&] { plot(); }), HasSubstr("no run is finished"));
  record(finished("fedavg", 2, 0.7), std::nullopt);
  EXPECT_THAT(message_of([&] { plot(); }),
              testing::AllOf(HasSubstr("no run has what --roc draws: "), HasSubstr("has no roc.json")));
  record(finished("fedavg", 3, 0.7), two_class_roc(true));
  EXPECT_THAT(message_of([&] { plot(2); }), HasSubstr("--class: no run has a class 2; allowed: 0 to 1"));
}

TEST_F(RocCurvesTest, AreJsonForOtherPlots) {
  record(finished("fedavg", 1, 0.7), two_class_roc(false));
  const auto json = nlohmann::json::parse(roc_json(plot(1)));
  EXPECT_EQ(json["class"], 1);
  const auto& curve = json["panels"][0]["curves"][0];
  EXPECT_EQ(curve["name"], "fedavg");
  EXPECT_EQ(curve["auc"], 0.75);
  EXPECT_TRUE(curve["auc_std"].is_null());
  EXPECT_EQ(curve["points"].size(), 102U);
  EXPECT_EQ(curve["points"][1]["true_positive_rate"], 0.5);
  EXPECT_TRUE(nlohmann::json::parse(roc_json(plot()))["class"].is_null());
}

}  // namespace
}  // namespace fedarena::results
