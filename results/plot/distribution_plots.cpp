#include "results/plot/distribution_plots.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

namespace fedarena::results {
namespace {

// Counts stand in their cells where they can be read there.
constexpr std::size_t kMostLabelledClients = 30;
constexpr std::size_t kMostLabelledClasses = 12;

// So that rows are neither lines nor bars.
int height_for(std::size_t clients) {
  return static_cast<int>(std::clamp<std::size_t>(220 + 36 * clients, 480, 1600));
}

// Whole clients and classes alone, not 2.5; a mark for each where they have room.
std::size_t step_for(std::size_t count) {
  std::size_t step = 1;
  for (const std::size_t factor : {2, 5, 10, 20, 50, 100, 200, 500, 1000, 10'000, 100'000}) {
    if (count / step > 25) step = factor;
  }
  return step;
}

}  // namespace

std::string heat_map_script(const HeatMap& map, Terminal terminal) {
  FEDARENA_CHECK(map.counts.size(), >=, 1U);
  const std::size_t clients = map.counts.size(), classes = map.counts.front().size();
  FEDARENA_CHECK(classes, >=, 1U);
  std::int64_t largest = 1;
  std::string data = "$counts << END\n";
  for (const auto& row : map.counts) {
    FEDARENA_CHECK(row.size(), ==, classes);
    largest = std::max(largest, *std::ranges::max_element(row));
    // gnuplot draws no image of a single row or column: a second one stands outside the ranges.
    const std::string line = fmt::format("{}{}\n", fmt::join(row, " "), classes == 1 ? " 0" : "");
    data += clients == 1 ? line + line : line;
  }
  data += "END\n";
  std::string script = terminal_lines(terminal, 1200, height_for(clients));
  script += fmt::format(
      "set title {}\n"
      "set xlabel 'class'\n"
      "set ylabel 'client'\n"
      "set cblabel 'examples'\n"
      "set xrange [-0.5:{}]\n"
      "set yrange [{}:-0.5]\n"
      "set cbrange [0:{}]\n"
      "set xtics {} out nomirror\n"
      "set ytics {} out nomirror\n"
      "set palette defined (0 '#ffffff', 0.02 '#e3eef9', 0.25 '#b7d4ea', 0.5 '#6aaed6', 0.75 '#2e7ebc', 1 "
      "'#08306b')\n"
      "unset key\n",
      gnuplot_string(map.title, terminal), static_cast<double>(classes) - 0.5,
      static_cast<double>(clients) - 0.5, largest, step_for(classes), step_for(clients));
  script += data;
  script += "plot $counts matrix using 1:2:3 with image pixels";
  if (clients <= kMostLabelledClients && classes <= kMostLabelledClasses) {
    // White on dark cells, black on light ones; nothing in empty ones.
    script += fmt::format(
        ", $counts matrix using 1:2:($3 > 0 ? sprintf('%d', $3) : ''):($3 > {} ? 0xffffff : 0x000000) with "
        "labels font ',14' textcolor rgb variable",
        largest / 2);
  }
  return script + "\n";
}

std::string histogram_script(const PixelHistogram& histogram, Terminal terminal) {
  const double low = histogram.edges.front();
  const double high = histogram.edges.back();
  std::string script = terminal_lines(terminal, 1200, 720);
  script += fmt::format(
      "set xlabel 'pixel value before clipping (0: black, 1: white)'\n"
      "set ylabel 'share of pixels in a bin (%)'\n"
      "set xrange [{}:{}]\n"
      "set yrange [0:*]\n"
      "set border 3\n"
      "set tics nomirror out\n"
      "set grid ytics lt 1 lc rgb '#d0d0d0'\n"
      "set key above\n"
      "set style fill solid 1.0 border lc rgb '#0072b2'\n"
      "set boxwidth {} absolute\n",
      low, high, (high - low) / static_cast<double>(histogram.shares.size()));
  bool limits = false;
  for (const int limit : {0, 1}) {
    if (limit < low || limit > high) continue;
    limits = true;
    script += fmt::format(
        "set arrow from {0}, graph 0 to {0}, graph 1 nohead front dashtype 2 lw 3 lc rgb '#000000'\n", limit);
  }
  script += "plot '-' using 1:2 with boxes lc rgb '#0072b2' notitle";
  if (limits) script += ", NaN with lines dashtype 2 lw 3 lc rgb '#000000' title 'limits of clipping'";
  script += '\n';
  for (std::size_t bin = 0; bin < histogram.shares.size(); ++bin) {
    script += fmt::format("{} {}\n", (histogram.edges[bin] + histogram.edges[bin + 1]) / 2,
                          100 * histogram.shares[bin]);
  }
  return script + "e\n";
}

}  // namespace fedarena::results
