#include "results/plot/heat_map_plot.hpp"

#include "fedarena/base/error.hpp"

#include "results/plot/gnuplot.hpp"
#include "tests/matchers.hpp"
#include "tests/results/images/decoded_png.hpp"

namespace fedarena::results {
namespace {

TEST(HeatMapPlot, HoldsEveryCountAndTheLargestAsItsScale) {
  const std::string script =
      heat_map_script({.title = "a \"b\\c\"", .counts = {{10, 0, 3}, {0, 7, 12}}}, kSvgTerminal);
  EXPECT_THAT(script, has_all("set title \"a \\042b\\134c\\042\"\n", "$counts << END\n10 0 3\n0 7 12\nEND\n",
                              "set cbrange [0:12]\n", "set xrange [-0.5:2.5]\nset yrange [1.5:-0.5]\n",
                              "with labels"));
}

TEST(HeatMapPlot, OfManyClientsHasNoLabelsAndFewerMarks) {
  const HeatMap map{.title = "",
                    .counts = std::vector<std::vector<std::int64_t>>(100, std::vector<std::int64_t>(62, 1))};
  const std::string script = heat_map_script(map, kPngTerminal);
  EXPECT_THAT(script, Not(HasSubstr("with labels")));
  EXPECT_THAT(script, HasSubstr("set xtics 5 out nomirror\nset ytics 5 out nomirror\n"));
}

TEST(HeatMapPlot, RefusesRowsOfOtherLengths) {
  EXPECT_THROW(heat_map_script({.title = "", .counts = {{1, 2}, {3}}}, kPngTerminal), Bug);
  EXPECT_THROW(heat_map_script({.title = "", .counts = {}}, kPngTerminal), Bug);
}

// Dark where examples are, white where none are, the first client on top: gnuplot's own margins are found by
// looking.
TEST(HeatMapPlot, IsDrawnWithTheFirstClientOnTop) {
  const Raster picture =
      decoded_png(run_gnuplot(heat_map_script({.title = "t", .counts = {{100, 0}, {0, 0}}}, kPngTerminal)));
  const auto dark = [&](std::int64_t x, std::int64_t y) { return picture.at(y, x, 0) < 60; };
  std::int64_t in_top_left = 0, elsewhere = 0;
  for (std::int64_t y = 0; y < picture.height; ++y) {
    for (std::int64_t x = 0; x < picture.width * 3 / 4; ++x) {
      (x < picture.width / 2 && y < picture.height / 2 ? in_top_left : elsewhere) += dark(x, y);
    }
  }
  EXPECT_GT(in_top_left, picture.width * picture.height / 10);
  EXPECT_LT(elsewhere, in_top_left / 10);
}

}  // namespace
}  // namespace fedarena::results
