#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "harness/app/results/references_file.hpp"
#include "harness/app/results/text_output.hpp"
#include "harness/slurm/submission.hpp"
#include "results/audit/privacy_report.hpp"
#include "results/bundle/bundle.hpp"
#include "results/live/folder_locks.hpp"
#include "results/live/live_runs.hpp"
#include "results/live/live_text.hpp"
#include "results/measures/round_metric.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/report/report.hpp"
#include "results/table/column_selection.hpp"
#include "results/table/pivot.hpp"
#include "results/table/published.hpp"
#include "results/table/rows.hpp"
#include "results/table/table.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"
#include "results/write/render.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct TableArguments {
  std::vector<std::filesystem::path> folders;
  TextOutput output;
  std::optional<std::string> columns, metric;
  std::optional<std::filesystem::path> references;
  bool interval = false;
  results::Labels labels;
  std::vector<std::string> rows;
  std::optional<std::string> pivot;
};

// What programs read holds every number, whatever people want to see.
std::string table_text(const std::string& format, const results::Table& table,
                       const results::Selection& selection) {
  if (format == "csv") return render_csv(table);
  if (format == "json") return render_json(table);
  return results::reader_writers().at(format)(reader_table(table, selection));
}

// A matrix needs keys for both of its sides, and has no other columns.
void check_pivot(const TableArguments& arguments) {
  const auto reject = [](const std::string& found, const std::string& remedy) {
    throw Error(Complaint{.found = found, .remedy = remedy});
  };
  if (arguments.rows.empty() && !arguments.pivot) return;
  if (!arguments.pivot) reject("--rows stands alone", "name the key of the columns with --pivot KEY");
  if (arguments.rows.empty()) reject("--pivot stands alone", "name the keys of the rows with --rows KEY,...");
  if (arguments.columns)
    reject("--columns: a matrix has none but those of --pivot", "leave out --columns, or --rows and --pivot");
}

std::string matrix_text(const TableArguments& arguments, const std::string& format, results::Table& table) {
  const results::Pivot pivot =
      results::make_pivot(table, {.rows = arguments.rows, .across = *arguments.pivot});
  if (!pivot.hidden.empty())
    table.notes.push_back("its numbers also differ in what neither --rows nor --pivot names: " +
                          pivot.hidden);
  if (format == "csv") return render_pivot_csv(table, pivot);
  return results::reader_writers().at(format)(reader_table(table, pivot));
}

int print_table(const TableArguments& arguments) {
  check_pivot(arguments);
  const std::string format = format_of(arguments.output);
  if (arguments.pivot && format == "json") {
    throw Error(Complaint{.found = "--pivot: no matrix is written as JSON",
                          .allowed = "csv, html, latex, markdown",
                          .remedy = "without --pivot, it holds the same numbers row by row"});
  }
  results::Selection selection;
  if (arguments.columns) selection = results::parse_selection(*arguments.columns);
  // Before the runs are read, which may take long.
  std::optional<results::References> references;
  if (arguments.references) references = read_references(*arguments.references);
  const std::vector<results::FoundRun> runs = results::find_table_runs(arguments.folders, arguments.labels);
  std::optional<results::RoundMetric> metric;
  if (arguments.metric) metric = results::parse_round_metric(*arguments.metric, runs);
  results::Table table = results::make_table(
      runs, metric, arguments.interval ? results::PlusMinus::kHalfWidth : results::PlusMinus::kDeviation);
  if (references) results::add_published(table, *references);
  const std::string text =
      arguments.pivot ? matrix_text(arguments, format, table) : table_text(format, table, selection);
  write_text(arguments.output, format, text, table.notes);
  return kSuccess;
}

struct ListArguments {
  std::vector<std::filesystem::path> folders = {"runs"};
};

int print_list(const ListArguments& arguments) {
  const auto tasks = slurm::cell_tasks(arguments.folders);
  if (!tasks) print(stderr, "note: Slurm does not answer, so nothing is told of cells that are queued\n");
  const bool any_task = tasks && !tasks->empty();
  // Where all cells are queued, there is no run yet.
  auto runs = any_task ? results::runs_below(arguments.folders) : results::find_runs(arguments.folders);
  results::set_aside_unreadable_rounds(runs);
  std::vector<results::LiveCell> cells = results::cells_of(runs, results::FolderLocks::read());
  if (any_task) add_tasks(cells, *tasks);
  print("{}", results::render_list(cells));
  if (find_named(cells, results::Work::kLeft, &results::LiveCell::work) != nullptr)
    print("{}\n", results::kLeftNote);
  return kSuccess;
}

struct PrivacyArguments {
  std::filesystem::path run;
  std::string format = "text";
};

int run_privacy(const PrivacyArguments& arguments) {
  const results::PrivacyReport report = results::privacy_report(results::open_one_run(arguments.run));
  print("{}", arguments.format == "json" ? render_json(report) : render_text(report));
  return kSuccess;
}

struct ReportArguments {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path page = "report.html";
};

int run_report(const ReportArguments& arguments) {
  check_output("--output", arguments.page, {".html", ".htm"});
  const results::Report report = results::make_report(results::find_table_runs(arguments.folders));
  results::replace_file(arguments.page, report.html);
  print("{}: {}, {} of the table, {}\n", arguments.page.string(), counted(report.runs, "run"),
        counted(report.rows, "row"), results::human_bytes(static_cast<double>(report.html.size())));
  for (const results::Problem& problem : report.problems) {
    print(stderr, "note: {}\n", results::one_line(fmt::format("{}: {}", problem.run.string(), problem.what)));
  }
  return kSuccess;
}

struct BundleArguments {
  std::vector<fs::path> folders;
  fs::path output;
};

int run_bundle(const BundleArguments& arguments) {
  check_output("--output", arguments.output, {".tar.gz", ".tgz"});
  std::vector<results::FoundRun> runs = results::find_runs(arguments.folders);
  results::set_aside_unreadable_rounds(runs);
  const results::BundleSize size =
      results::write_bundle(runs, results::run_names(runs, arguments.folders), arguments.output);
  print("{}: {}, {} files, {}\n", arguments.output.string(), counted(runs.size(), "run"), size.files,
        results::human_bytes(static_cast<double>(size.bytes)));
  return kSuccess;
}

}  // namespace

void add_table_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, print_table, "table", "Print the table of finished runs.");
  command.add_option("DIR", arguments.folders, "folders with run directories")->required();
  add_text_output(command, arguments.output);
  add_value(command, "--columns", "NAME,...", arguments.columns,
            fmt::format("columns of html, latex and markdown tables, in order, from: {}; csv and json "
                        "always hold all numbers",
                        join_names(results::column_names())));
  add_value(command, "--metric", "NAME[@LIMIT]", arguments.metric,
            fmt::format(
                "what stands in the column accuracy: {}, or what the algorithms observe of themselves, such "
                "as matching-loss; of the last round, or @round=K, or the last evaluated round with at "
                "most so much: @epsilon=E, @bytes=B, or the first one with that validation accuracy: "
                "@validation-accuracy=A, or @best-validation",
                join_names(results::metric_names())));
  add_value(command, "--references", "FILE", arguments.references,
            "a TOML file of published figures, which stand beside those of the runs (docs/tables.md)");
  command.add_flag("--interval", arguments.interval,
                   "behind ±, the half-width of the 95 % interval of Student's t over seeds in place of the "
                   "standard deviation");
  add_names(command, "--labels", arguments.labels,
            "algorithm entries to show, in this order; default all of them")
      ->type_name("A,B,...");
  add_names(command, "--rows", arguments.rows,
            "print one number as a matrix whose lines are the values of these keys, such as partition, "
            "alpha or label")
      ->type_name("KEY,...");
  add_value(command, "--pivot", "KEY", arguments.pivot,
            "and whose columns are the values of this one, such as label");
}

void add_list_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, print_list, "list", "Show runs and their state.");
  command.add_option("DIR", arguments.folders, "folders with run directories; default runs");
}

void add_privacy_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_privacy, "privacy",
                  "Explain a run's epsilon: what it hides, and which access to whose data costs how much.");
  command.add_option("RUN", arguments.run, "the folder of one run, finished or not")->required();
  add_format(command, arguments.format);
}

void add_report_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_report, "report",
                  "Write one HTML page of runs: tables, charts, partitions, privacy, images, environment.");
  command.add_option("DIR", arguments.folders, "folders with run directories, finished or not")->required();
  add_value(command, "-o,--output", "FILE.html", arguments.page, "the page to write; default report.html");
}

void add_bundle_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_bundle, "bundle",
                  "Pack finished runs into one file that can be verified and replayed elsewhere.");
  command.add_option("RUN", arguments.folders, "folders with run directories")->required();
  add_value(command, "-o,--output", "FILE", arguments.output,
            "the file to write, such as paper.fedarena.tar.gz")
      ->required();
}

}  // namespace fedarena
