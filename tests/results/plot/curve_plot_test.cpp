#include <string>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/plot/curve_script.hpp"
#include "results/plot/curves.hpp"
#include "results/plot/gnuplot.hpp"
#include "tests/matchers.hpp"
#include "tests/results/images/decoded_png.hpp"

namespace fedarena::results {
namespace {

Curve line(const std::string& name, double first, double last, std::optional<double> std = 2.0) {
  return {
      .name = name,
      .seeds = std ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1},
      .points = {{.round = 1, .x = 1, .y = first, .std = std}, {.round = 2, .x = 2, .y = last, .std = std}}};
}

Curves curve_plot_sample() {
  return {.x = curve_axes().front(),
          .y = known_quantity("accuracy"),
          .title = "Experiment \"a_b\"",
          .panels = {{.title = "", .curves = {line("fedavg", 40, 60), line("fedprox", 50, 55)}}},
          .notes = {}};
}

std::string svg_script(const Curves& curves, const CurveStyle& style = {}) {
  return curves_script(curves, style, kSvgTerminal);
}

TEST(CurvePlot, HoldsPointsAndBands) {
  const std::string script = svg_script(curve_plot_sample());
  EXPECT_THAT(script, HasSubstr("$curve1 << END\n1 40 38 42\n2 60 58 62\nEND\n"));
  EXPECT_THAT(script, HasSubstr(R"(set title "Experiment \042a\137b\042" font)"));
  EXPECT_THAT(script, has_all("$curve1 using 1:3:4 with filledcurves", "title \"fedprox\"",
                              "set yrange [0<*:*<100]"));
  EXPECT_THAT(script, Not(HasSubstr("multiplot")));
}

TEST(CurvePlot, MarksNothingBetweenTwoRounds) {
  EXPECT_THAT(svg_script(curve_plot_sample()), HasSubstr("set xtics 1\n"));
  EXPECT_THAT(svg_script(curve_plot_sample(), {.log_x = true}), Not(HasSubstr("set xtics 1\n")));
  Curves curves = curve_plot_sample();
  curves.panels[0].curves[0].points.back().x = 1.5;
  EXPECT_THAT(svg_script(curves), HasSubstr("set xtics autofreq\n"));
  curves.panels[0].curves[0].points.back().x = 50;
  EXPECT_THAT(svg_script(curves), HasSubstr("set xtics autofreq\n"));
}

TEST(CurvePlot, DrawsTheSpreadOfASinglePointAsABar) {
  Curves curves = curve_plot_sample();
  for (Curve& curve : curves.panels[0].curves) curve.points.resize(1);
  EXPECT_THAT(svg_script(curves), AllOf(has_all("$curve1 using 1:2:3:4 with yerrorbars", "set xtics (1)\n"),
                                        Not(HasSubstr("filledcurves"))));
}

// A band that is drawn later would dim the lines below it; one seed has none.
TEST(CurvePlot, DrawsBandsBelowAllLines) {
  Curves curves = curve_plot_sample();
  const std::string script = svg_script(curves);
  EXPECT_LT(script.rfind("with filledcurves"), script.find("with linespoints"));
  curves.panels[0].curves = {line("fedavg", 40, 60, std::nullopt)};
  EXPECT_THAT(svg_script(curves), Not(HasSubstr("filledcurves")));
}

TEST(CurvePlot, BreaksLongTitlesBetweenWords) {
  Curves curves = curve_plot_sample();
  curves.title = std::string(60, 'a') + " " + std::string(30, 'b') + " " + std::string(10, 'c') + " d";
  EXPECT_THAT(svg_script(curves),
              HasSubstr(std::string(30, 'b') + R"("."\n".")" + std::string(10, 'c') + " d\" font"));
  // Panels beside each other have three quarters of that width.
  curves.panels = {{.title = curves.title, .curves = {line("fedavg", 1, 2)}}, {.title = "", .curves = {}}};
  EXPECT_THAT(svg_script(curves), HasSubstr(std::string(60, 'a') + R"("."\n".")" + std::string(30, 'b')));
  // TeX's quotation marks are those of the whole title.
  curves.panels[0].title = std::string(60, 'a') + " \"x " + std::string(60, 'b') + "\"";
  EXPECT_THAT(curves_script(curves, {}, kTikzTerminal),
              HasSubstr(R"( \140\140x"."\n".")" + std::string(60, 'b') + R"(\047\047" font)"));
}

// It lies below them.
TEST(CurvePlot, IsHigherByTheLinesOfALongLegend) {
  Curves curves = curve_plot_sample();
  EXPECT_THAT(svg_script(curves), HasSubstr("size 1200,800 "));
  for (int number = 1; number <= 10; ++number)
    curves.panels[0].curves.push_back(line(fmt::format("{}{}", std::string(80, 'n'), number), 1, 2));
  EXPECT_THAT(svg_script(curves), HasSubstr("size 1200,1008 "));
}

// gnuplot alone would number 1 and 10, or nothing.
TEST(CurvePlot, NumbersLogarithmicAxesWithinADecade) {
  const auto with_y = [](double first, double last) {
    Curves curves = curve_plot_sample();
    curves.panels[0].curves = {line("fedavg", first, last, std::nullopt)};
    return svg_script(curves, {.log_y = true});
  };
  EXPECT_THAT(with_y(1.12, 1.5), HasSubstr("noextend\nset ytics (1.2, 1.3, 1.4, 1.5)\n"));
  EXPECT_THAT(with_y(0.4, 1.5),
              HasSubstr("set ytics (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 2, 3, "));
  EXPECT_THAT(with_y(3, 80), HasSubstr("set ytics (1, 2, 5, 10, 20, 50)\n"));
  EXPECT_THAT(with_y(3, 8000), HasSubstr("set logscale y\nset ytics autofreq\n"));
  EXPECT_THAT(with_y(3, 3), HasSubstr("set logscale y\nset ytics (3)\n"));
  EXPECT_THAT(run_gnuplot(with_y(1.12, 1.5)), has_all("> 1.2</text>", "> 1.5</text>"));
}

// Whoever compares panels takes a colour for an algorithm.
TEST(CurvePlot, GivesACurveTheSameLookInEveryPanel) {
  Curves curves = curve_plot_sample();
  curves.panels = {{.title = "model cnn", .curves = {line("fedavg", 1, 2), line("scaffold", 1, 2)}},
                   {.title = "model mlp", .curves = {line("scaffold", 1, 2)}}};
  const std::string script = svg_script(curves);
  EXPECT_THAT(script, HasSubstr("set multiplot layout 1,2\n"));
  const std::string look = "linecolor rgb '#d55e00' linewidth 2.5 dashtype 2 pointtype 5";
  EXPECT_THAT(script, has_all("$curve2 using 1:2 with linespoints " + look,
                              "$curve3 using 1:2 with linespoints " + look));
}

TEST(CurvePlot, RefusesWhatCannotBeToldApart) {
  Curves curves = curve_plot_sample();
  for (std::size_t i = 0; i <= kMostCurves; ++i) {
    curves.panels[0].curves.push_back(line(fmt::format("c{}", i), 1, 2));
  }
  expect_refused("19 curves cannot be told apart in one picture", [&] { svg_script(curves); });
  curves = curve_plot_sample();
  curves.panels.resize(kMostPanels + 1, curves.panels.front());
  expect_refused("13 panels", [&] { svg_script(curves); });
}

TEST(CurvePlot, OnALogarithmicAxisHasPositiveNumbersAlone) {
  Curves curves = curve_plot_sample();
  curves.panels[0].curves = {line("fedavg", 1, 2, 4)};
  // 1 - 4 and 2 - 4 are below zero: 1 / (1 + 4) and 2 * 2 / (2 + 4) as far below as the upper ends are above.
  EXPECT_THAT(svg_script(curves, {.log_y = true}), HasSubstr("1 1 0.2 5\n2 2 0.66666"));
  curves.panels[0].curves = {line("fedavg", 0, 2)};
  curves.panels[0].curves[0].points[0].x = 0;  // which has its place
  expect_refused("no place for accuracy 0", [&] { svg_script(curves, {.log_y = true}); });
  expect_refused("no place for round 0", [&] { svg_script(curves, {.log_x = true, .log_y = true}); });
}

TEST(CurvePlot, IsDrawnInItsColours) {
  const Raster picture = decoded_png(run_gnuplot(curves_script(curve_plot_sample(), {}, kPngTerminal)));
  std::int64_t blue = 0, orange = 0;
  for (std::int64_t y = 0; y < picture.height; ++y) {
    for (std::int64_t x = 0; x < picture.width; ++x) {
      blue += picture.at(y, x, 0) == 0x00 && picture.at(y, x, 1) == 0x72 && picture.at(y, x, 2) == 0xb2;
      orange += picture.at(y, x, 0) == 0xd5 && picture.at(y, x, 1) == 0x5e && picture.at(y, x, 2) == 0x00;
    }
  }
  EXPECT_GT(blue, 500);
  EXPECT_GT(orange, 500);
}

TEST(CurvePlot, NamesItsCurvesAsTheReaderOfTheFileReads) {
  EXPECT_THAT(run_gnuplot(svg_script(curve_plot_sample())), HasSubstr(">fedprox</text>"));
  const std::string tikz = run_gnuplot(curves_script(curve_plot_sample(), {}, kTikzTerminal));
  EXPECT_THAT(tikz, has_all("accuracy (\\%)", "a\\_b"));
}

}  // namespace
}  // namespace fedarena::results
