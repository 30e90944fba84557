#include "results/plot/heat_map_plot.hpp"

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
    data += fmt::format("{}\n", fmt::join(row, " "));
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

}  // namespace fedarena::results
