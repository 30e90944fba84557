#include "results/plot/roc_plot.hpp"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "results/plot/curve_plot.hpp"
#include "results/plot/gnuplot.hpp"
#include "tests/message_of.hpp"
#include "tests/results/images/decoded_png.hpp"

namespace fedarena::results {
namespace {

using testing::HasSubstr;
using testing::Not;

RocLine line(const std::string& name, double height) {
  return {.name = name,
          .seeds = {1, 2},
          .area = height,
          .area_std = 0.125,
          .points = {{0, 0, 0}, {0, height, 0.25}, {1, 1, 0}}};
}

RocPlot roc_plot_sample() {
  return {.of_class = std::nullopt,
          .title = "Experiment a_b",
          .panels = {{.title = "", .lines = {line("fedavg", 0.5), line("fedprox", 0.875)}}},
          .notes = {}};
}

TEST(RocPlot, HoldsPointsBandsAndAreas) {
  const std::string script = roc_script(roc_plot_sample(), kSvgTerminal);
  EXPECT_THAT(script, HasSubstr("$curve1 << END\n0 0 0 0\n0 0.5 0.25 0.75\n1 1 1 1\nEND\n"));
  // A band cannot leave what a rate can be.
  EXPECT_THAT(script, HasSubstr("$curve2 << END\n0 0 0 0\n0 0.875 0.625 1\n"));
  EXPECT_THAT(script, HasSubstr("title \"fedavg, AUC 0.5000 ± 0.1250\""));
  EXPECT_THAT(script, HasSubstr("set xlabel \"false positive rate\""));
  EXPECT_THAT(script, HasSubstr("set ylabel \"true positive rate\""));
  EXPECT_THAT(script, HasSubstr("set key below"));
  EXPECT_THAT(script, HasSubstr("Experiment a_b; each class against the rest, macro average"));
  EXPECT_LT(script.find("$chance using"), script.find("with filledcurves"));
  EXPECT_LT(script.rfind("with filledcurves"), script.find("with linespoints"));
}

TEST(RocPlot, OfOneSeedHasNoBand) {
  RocPlot plot = roc_plot_sample();
  plot.panels[0].lines = {line("fedavg", 0.5)};
  plot.panels[0].lines[0].seeds = {1};
  EXPECT_THAT(roc_script(plot, kSvgTerminal), Not(HasSubstr("filledcurves")));
}

TEST(RocPlot, GivesALineTheSameLookInEveryPanel) {
  RocPlot plot = roc_plot_sample();
  plot.panels = {{.title = "model cnn", .lines = {line("fedavg", 0.5), line("scaffold", 0.5)}},
                 {.title = "model mlp", .lines = {line("scaffold", 0.5)}}};
  const std::string script = roc_script(plot, kSvgTerminal);
  EXPECT_THAT(script, HasSubstr("set multiplot layout 1,2\n"));
  const std::string look = "linecolor rgb '#d55e00' linewidth 2.5 dashtype 2 pointtype 5";
  EXPECT_THAT(script, HasSubstr("$curve2 using 1:2 with linespoints " + look));
  EXPECT_THAT(script, HasSubstr("$curve3 using 1:2 with linespoints " + look));
  EXPECT_THAT(script, HasSubstr("model mlp; each class"));
}

TEST(RocPlot, RefusesWhatCannotBeToldApart) {
  RocPlot plot = roc_plot_sample();
  for (std::size_t i = 0; i <= kMostCurves; ++i)
    plot.panels[0].lines.push_back(line(fmt::format("c{}", i), 1));
  EXPECT_THAT(test::message_of([&] { roc_script(plot, kSvgTerminal); }),
              HasSubstr("19 curves cannot be told"));
  plot = roc_plot_sample();
  plot.panels.resize(kMostPanels + 1, plot.panels.front());
  EXPECT_THAT(test::message_of([&] { roc_script(plot, kSvgTerminal); }), HasSubstr("13 panels"));
}

TEST(RocPlot, ComesInEveryKindOfFile) {
  EXPECT_THAT(run_gnuplot(roc_script(roc_plot_sample(), kPdfTerminal)), testing::StartsWith("%PDF"));
  EXPECT_THAT(run_gnuplot(roc_script(roc_plot_sample(), kSvgTerminal)),
              HasSubstr(">fedprox, AUC 0.8750 ± 0.1250</text>"));
  EXPECT_THAT(run_gnuplot(roc_script(roc_plot_sample(), kTikzTerminal)), HasSubstr("a\\_b"));
  const Raster picture = decoded_png(run_gnuplot(roc_script(roc_plot_sample(), kPngTerminal)));
  std::int64_t orange = 0;
  for (std::int64_t y = 0; y < picture.height; ++y) {
    for (std::int64_t x = 0; x < picture.width; ++x) {
      orange += picture.at(y, x, 0) == 0xd5 && picture.at(y, x, 1) == 0x5e && picture.at(y, x, 2) == 0x00;
    }
  }
  EXPECT_GT(orange, 500);
}

}  // namespace
}  // namespace fedarena::results
