#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/print.hpp"

#include "harness/app/options.hpp"
#include "results/measures/quantity.hpp"
#include "results/plot/choice_plot.hpp"
#include "results/plot/curves.hpp"
#include "results/plot/gnuplot.hpp"
#include "results/plot/roc_plot.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/table/rows.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct PlotArguments {
  std::vector<fs::path> folders;
  results::Labels labels;
  std::string x = "round";
  std::optional<std::string> y;
  fs::path picture;  // empty for the points alone
  results::CurveStyle style;
  std::string format = "text";
  bool roc = false, choices = false;
  const CLI::App* command = nullptr;  // that has all these
};

// An upper bound is rounded up.
std::string position_text(const results::CurveAxis& axis, double position) {
  return axis.unit == results::NumberUnit::kEpsilon ? results::epsilon_number(position)
                                                    : fmt::format("{:.6g}", position);
}

// Where each curve ends, for those who cannot see the picture.
std::string render_text(const results::Curves& curves, const fs::path& picture) {
  std::string text = fmt::format("{}: {} over {}\n", picture.string(), curves.y.heading, curves.x.heading);
  std::vector<std::vector<std::string>> lines;
  for (const results::CurvePanel& panel : curves.panels) {
    for (const results::Curve& curve : panel.curves) {
      const results::CurvePoint& last = curve.points.back();
      const std::string spread =
          last.std ? fmt::format(" ± {}", results::measured_beside(last.y, *last.std)) : "";
      lines.push_back({panel.title.empty() ? curve.marked_name()
                                           : fmt::format("{} ({})", curve.marked_name(), panel.title),
                       fmt::format("{} to {}", curve.points.front().round, last.round),
                       std::to_string(curve.seeds.size()),
                       fmt::format("{}{}", results::measured(last.y), spread),
                       position_text(curves.x, last.x)});
    }
  }
  lines.insert(lines.begin(), {"curve", "rounds", "seeds", fmt::format("last {}", curves.y.name),
                               fmt::format("at {}", curves.x.name)});
  return text + results::aligned_lines(lines, {false, true, true, true, true});
}

// A picture of another kind has axes of its own.
void check_kind_of_picture(const CLI::App& command, const char* kind, const char* axes,
                           std::initializer_list<const char*> others) {
  for (const char* const other : others) {
    if (command.count(other) == 0) continue;
    throw Error(Complaint{.found = fmt::format("{} and {} cannot be given together", kind, other),
                          .remedy = fmt::format("The axes of {} are {}.", kind, axes)});
  }
}

// Draws the picture, if one is wanted, and says what is in it. `script_of` refuses what a picture cannot
// show, such as more curves than can be told apart; JSON has the notes itself.
template <typename ScriptOf>
int show(const PlotArguments& arguments, ScriptOf script_of, const std::string& json, const std::string& text,
         const std::vector<std::string>& notes) {
  const fs::path& picture = arguments.picture;
  if (!picture.empty())
    results::replace_file(picture, results::run_gnuplot(script_of(results::terminal_of(picture))));
  const bool as_json = arguments.format == "json";
  print("{}", as_json ? json : text);
  for (const std::string& note : as_json ? std::vector<std::string>() : notes) print("note: {}\n", note);
  return kSuccess;
}

int run_roc_plot(const PlotArguments& arguments, std::span<const results::FoundRun> runs) {
  const results::RocCurves found = results::find_roc_curves(runs, arguments.folders);
  std::vector<std::vector<std::string>> lines = {{"curve", "AUC"}};
  for (const auto& [name, curve] : found.curves) lines.push_back({name, results::area_text(curve)});
  return show(
      arguments, [&](results::Terminal terminal) { return results::roc_script(found.curves, terminal); },
      results::roc_json(found),
      fmt::format("{}: receiver operating characteristics\n{}", arguments.picture.string(),
                  results::aligned_lines(lines, {false, true})),
      found.notes);
}

int run_choices_plot(const PlotArguments& arguments, std::span<const results::FoundRun> runs) {
  const results::RunChoices found = results::find_choices(runs);
  return show(
      arguments, [&](results::Terminal terminal) { return results::choices_script(found, terminal); },
      results::choices_json(found),
      fmt::format("{}: which model each client took, {}\n{}\n", arguments.picture.string(), found.name,
                  results::choices_text(found.choices)),
      found.notes);
}

int run_plot(const PlotArguments& arguments) {
  if (arguments.roc) {
    check_kind_of_picture(*arguments.command, "--roc", "the rates of false and of true positives",
                          {"--x", "--y", "--log-x", "--log-y", "--choices"});
  }
  if (arguments.choices) {
    check_kind_of_picture(*arguments.command, "--choices", "rounds and clients",
                          {"--x", "--y", "--log-x", "--log-y"});
  }
  if (arguments.command->count("--output") > 0) {
    check_output("--output", arguments.picture, {results::kLineEndings.begin(), results::kLineEndings.end()});
  } else if (arguments.format != "json") {
    throw Error(
        Complaint{.found = "--output is missing: there is no picture to write",
                  .remedy = "Give it, such as -o accuracy.svg, or --format json for the points alone."});
  }
  const auto runs = results::find_table_runs(arguments.folders, arguments.labels);
  if (arguments.roc) return run_roc_plot(arguments, runs);
  if (arguments.choices) return run_choices_plot(arguments, runs);
  const results::Quantity y =
      arguments.y ? results::parse_quantity("--y", *arguments.y, runs) : results::default_quantity(runs);
  // The command line lets no other names of axes through.
  const results::Curves curves = results::make_curves(runs, *results::find_entry(arguments.x), y);
  return show(
      arguments,
      [&](results::Terminal terminal) { return results::curves_script(curves, arguments.style, terminal); },
      results::curves_json(curves), render_text(curves, arguments.picture), curves.notes);
}

}  // namespace

void add_plot_command(CLI::App& app, Action& action) {
  const auto [command, arguments] = add_command(
      app, action, run_plot, "plot", "Draw finished runs round by round: mean and spread over seeds.");
  arguments.command = &command;
  const std::vector<std::string> x_names = names_of(results::curve_axes(), &results::CurveAxis::name);
  const std::vector<std::string> y_names = results::quantity_names();
  command.add_option("DIR", arguments.folders, "folders with run directories")->required();
  add_value(command, "-o,--output", "FILE", arguments.picture,
            "the picture to write: .png, .svg, .pdf, or .tex for TikZ; with --format json not required");
  add_choice(command, "--x", arguments.x, x_names,
             fmt::format("{}; default round", fmt::join(x_names, ", ")));
  add_value(command, "--y", "NAME", arguments.y,
            fmt::format("{}, or what the algorithms observe of themselves, such as matching-loss; default "
                        "accuracy, or rmse on regression data",
                        fmt::join(y_names, ", ")));
  add_names(command, "--labels", arguments.labels,
            "algorithm entries to draw, in this order; default all of them")
      ->type_name("A,B,...");
  command.add_flag("--log-x", arguments.style.log_x, "a logarithmic axis");
  command.add_flag("--log-y", arguments.style.log_y, "a logarithmic axis");
  add_format(command, arguments.format, "text (the default), or json with every point");
  command.add_flag("--roc", arguments.roc,
                   "receiver operating characteristics, of runs that hold some, in place of rounds");
  command.add_flag("--choices", arguments.choices,
                   "which of several models each client took in each round of one run, as ifca's, in place "
                   "of curves");
}

}  // namespace fedarena
