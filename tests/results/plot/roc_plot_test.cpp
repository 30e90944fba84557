#include "results/plot/roc_plot.hpp"

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/matchers.hpp"
#include "tests/results/record/attack_sample.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using testing::Field;

NamedRoc named_roc(const std::string& name) {
  return {name, roc_curve(std::vector{4.0, 2.0}, std::vector{3.0, 1.0}).value()};
}

class RocPlotTest : public ::testing::Test {
 protected:
  void record(const Summary& summary, bool attacked) const {
    const RunDirectory run = RunDirectory::create(
        scratch_ / fmt::format("runs/{}-{}", summary.label, summary.seed), "", "{}", summary);
    if (attacked) write_attacks(run, sample_attacks(run));
  }
  RocCurves found() const {
    const std::vector<std::filesystem::path> folders = {scratch_ / "runs"};
    return find_roc_curves(find_runs(folders), folders);
  }
  void damage(const std::string& run) const { put(scratch_ / "runs" / run / kAttackFile, "{"); }

 private:
  Scratch scratch_;
};

TEST_F(RocPlotTest, TakesTheAttacksOnFinishedRuns) {
  record(finished("fedavg", 1, 0.7), false);
  record(unfinished("fedavg", 2, 3), true);
  expect_refused("no finished run holds an attack.json, which --roc draws", [&] { found(); });
  record(finished("fedprox", 1, 0.7), true);
  EXPECT_THAT(found().curves, ElementsAre(Field(&NamedRoc::name, "loss"), Field(&NamedRoc::name, "rmia")));
  EXPECT_EQ(found().curves[1].curve.area, 0.75);
  record(finished("fedprox", 2, 0.7), true);
  EXPECT_THAT(
      found().curves,
      ElementsAre(Field(&NamedRoc::name, "fedprox-1: loss"), Field(&NamedRoc::name, "fedprox-1: rmia"),
                  Field(&NamedRoc::name, "fedprox-2: loss"), Field(&NamedRoc::name, "fedprox-2: rmia")));
}

TEST_F(RocPlotTest, NamesRunsThatCannotBeReadAndDrawsTheOthers) {
  record(finished("fedavg", 1, 0.7), true);
  record(finished("fedavg", 2, 0.7), true);
  damage("fedavg-2");
  const RocCurves drawn = found();
  EXPECT_THAT(drawn.curves, ElementsAre(Field(&NamedRoc::name, "loss"), Field(&NamedRoc::name, "rmia")));
  EXPECT_THAT(drawn.notes, ElementsAre(has_all("fedavg-2: attack.json", "not counted")));
  EXPECT_THAT(roc_json(drawn), HasSubstr("not counted"));
  damage("fedavg-1");
  expect_refused(has_all("no finished run", "fedavg-1: attack.json"), [&] { found(); });
}

TEST(RocPlot, HoldsPointsAndAreas) {
  const std::string script = roc_script(std::vector{named_roc("loss"), named_roc("a_b")}, kSvgTerminal);
  EXPECT_THAT(script, has_all("$curve1 << END\n0 0\n0 0.5\n0.01 0.5\n", "\n1 1\nEND\n$curve2 << END\n",
                              "title \"loss, AUC 0.7500\"", "set xlabel \"false positive rate\"",
                              "set ylabel \"true positive rate\""));
  EXPECT_LT(script.find("$chance using"), script.find("with linespoints"));
}

TEST(RocPlot, RefusesWhatCannotBeToldApart) {
  const std::vector<NamedRoc> many(17, named_roc("loss"));
  expect_refused("17 curves cannot be told", [&] { roc_script(many, kSvgTerminal); });
}

TEST(RocPlot, NamesItsCurvesAsTheReaderOfTheFileReads) {
  const std::vector<NamedRoc> curves = {named_roc("a_b")};
  EXPECT_THAT(run_gnuplot(roc_script(curves, kSvgTerminal)), HasSubstr(">a_b, AUC 0.7500</text>"));
  EXPECT_THAT(run_gnuplot(roc_script(curves, kTikzTerminal)), HasSubstr("a\\_b"));
}

TEST(RocPlot, IsJsonForOtherPlots) {
  const auto json = nlohmann::json::parse(roc_json({.curves = {named_roc("loss")}}));
  const auto& curve = json["curves"][0];
  EXPECT_EQ(curve["name"], "loss");
  EXPECT_EQ(curve["auc"], 0.75);
  EXPECT_EQ(curve["points"].size(), 102U);
  EXPECT_EQ(curve["points"][1]["true_positive_rate"], 0.5);
}

}  // namespace
}  // namespace fedarena::results
