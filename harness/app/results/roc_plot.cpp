#include "harness/app/results/roc_plot.hpp"

#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/app/accounting/checks.hpp"
#include "results/plot/gnuplot.hpp"
#include "results/plot/roc_curves.hpp"
#include "results/plot/roc_plot.hpp"
#include "results/record/durable_file.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

std::string render_text(const results::RocPlot& plot, const std::filesystem::path& picture) {
  std::string text = fmt::format("{}: receiver operating characteristic after the last round, {}\n",
                                 picture.string(), describe(plot));
  std::vector<std::vector<std::string>> lines = {{"curve", "seeds", "AUC"}};
  for (const results::RocPanel& panel : plot.panels) {
    for (const results::RocLine& line : panel.lines) {
      lines.push_back({panel.title.empty() ? line.name : fmt::format("{} ({})", line.name, panel.title),
                       std::to_string(line.seeds.size()), area_text(line)});
    }
  }
  text += results::aligned_lines(lines, {false, true, true});
  for (const std::string& note : plot.notes) text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace

void add_roc_options(CLI::App& command, RocOptions& options) {
  command.add_flag("--roc", options.wanted,
                   "the receiver operating characteristic after the last round in place of rounds");
  command
      .add_option_function<std::string>(
          "--class",
          [&options](const std::string& text) { options.of_class = read_count("--class", text, 0); },
          "with --roc: this class against the rest; default the macro average over classes")
      ->type_name("K");
}

void check_roc_options(const CLI::App& command, const RocOptions& options) {
  if (!options.wanted) {
    if (!options.of_class) return;
    throw Error(Complaint{.found = "--class is given without --roc",
                          .remedy = "Add --roc; curves by round are not drawn for single classes."});
  }
  for (const char* const other : {"--x", "--y", "--log-x", "--log-y"}) {
    if (command.count(other) == 0) continue;
    throw Error(Complaint{.found = fmt::format("--roc and {} cannot be given together", other),
                          .remedy = "The axes of --roc are the rates of false and of true positives."});
  }
}

void draw_roc(std::span<const results::FoundRun> runs, const RocOptions& options,
              const std::filesystem::path& picture, const std::string& format) {
  const results::RocPlot plot = results::make_roc_plot(runs, options.of_class);
  results::replace_file(picture,
                        results::run_gnuplot(results::roc_script(plot, results::terminal_of(picture))));
  fmt::print("{}", format == "json" ? results::roc_json(plot) : render_text(plot, picture));
}

}  // namespace fedarena
