#include "results/plot/distribution_plots.hpp"

#include <cstdlib>
#include <string>

#include "fedarena/base/error.hpp"

#include "results/plot/gnuplot.hpp"
#include "tests/matchers.hpp"
#include "tests/results/images/decoded_png.hpp"
#include "tests/results/samples.hpp"

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

// gnuplot says nothing of a picture that it leaves blank.
TEST(HeatMapPlot, IsDrawnOfOneClientAndOfOneClass) {
  using Counts = std::vector<std::vector<std::int64_t>>;
  for (const Counts& counts : {Counts{{100}}, Counts{{100, 0}}, Counts{{100}, {0}}}) {
    SCOPED_TRACE(counts.size());
    const Raster picture =
        decoded_png(run_gnuplot(heat_map_script({.title = "t", .counts = counts}, kPngTerminal)));
    std::int64_t dark = 0;
    for (std::int64_t y = 0; y < picture.height; ++y) {
      for (std::int64_t x = 0; x < picture.width * 3 / 4; ++x) dark += picture.at(y, x, 0) < 60;
    }
    EXPECT_GT(dark, picture.width * picture.height / 10);
  }
}

// Four bins from -1 to 1.5 with these shares.
const PixelHistogram kHistogram{.edges = {-1, -0.375, 0.25, 0.875, 1.5},
                                .shares = {0.125, 0.5, 0.25, 0.0625}};

TEST(HistogramScript, HasABoxForEveryBinInPercent) {
  const std::string script = histogram_script(kHistogram, kSvgTerminal);
  EXPECT_THAT(script, has_all("\n-0.6875 12.5\n-0.0625 50\n0.5625 25\n1.1875 6.25\ne\n",
                              "set xrange [-1:1.5]\n", "set boxwidth 0.625 absolute\n"));
}

TEST(HistogramScript, MarksTheLimitsOfClippingThatAreInSight) {
  EXPECT_THAT(histogram_script(kHistogram, kPngTerminal),
              has_all("from 0, graph 0 to 0, graph 1", "from 1, graph 0 to 1, graph 1"));
  const PixelHistogram inside{.edges = {0.25, 0.5, 0.75}, .shares = {0.5, 0.5}};
  EXPECT_THAT(histogram_script(inside, kPngTerminal), Not(HasSubstr("arrow")));
  EXPECT_THAT(histogram_script(inside, kPngTerminal), Not(HasSubstr("limits of clipping")));
}

TEST(Gnuplot, DrawsAnSvgWithItsLabels) {
  const std::string picture = run_gnuplot(histogram_script(kHistogram, kSvgTerminal));
  EXPECT_THAT(picture, has_all("<svg", "pixel value before clipping (0: black, 1: white)",
                               "share of pixels in a bin (%)", "limits of clipping", "</svg>"));
}

TEST(Gnuplot, DrawsAPng) {
  const Raster picture = decoded_png(run_gnuplot(histogram_script(kHistogram, kPngTerminal)));
  EXPECT_EQ(picture.width, 1200);
  EXPECT_EQ(picture.height, 720);
  std::size_t blue = 0;
  for (std::size_t i = 0; i + 2 < picture.samples.size(); i += 3) {
    blue +=
        picture.samples[i] == 0 && picture.samples[i + 1] == 0x72 && picture.samples[i + 2] == 0xB2 ? 1 : 0;
  }
  EXPECT_GT(blue, 50'000U) << "the boxes";
}

TEST(Gnuplot, RepeatsWhatGnuplotSaysOfABadScript) {
  expect_refused(has_all("gnuplot failed: ", "nothing_like_this"),
                 [] { run_gnuplot("plot nothing_like_this\n"); });
}

TEST(Gnuplot, IsAskedForWhenItIsNotInstalled) {
  const Scratch folder;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder.path().c_str(), 1);
  const std::string message = message_of([] { run_gnuplot("plot x\n"); });
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(
      message,
      "gnuplot, which draws the plots, is not installed\n"
      "  Install it (Debian and Ubuntu: apt-get install gnuplot-nox), or plot the output of --format json.");
}

}  // namespace
}  // namespace fedarena::results
