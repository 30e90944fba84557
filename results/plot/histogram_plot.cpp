#include "results/plot/histogram_plot.hpp"

#include <fmt/format.h>

namespace fedarena::results {

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
