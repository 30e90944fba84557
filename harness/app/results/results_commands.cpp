#include <filesystem>
#include <set>
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
#include "harness/slurm/submission.hpp"
#include "results/audit/privacy_report.hpp"
#include "results/bundle/bundle.hpp"
#include "results/export/event_file.hpp"
#include "results/export/exported_runs.hpp"
#include "results/live/folder_locks.hpp"
#include "results/live/live_runs.hpp"
#include "results/live/live_text.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/report/report.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct ListArguments {
  std::vector<fs::path> folders = {"runs"};
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
  fs::path run;
  std::string format = "text";
};

int run_privacy(const PrivacyArguments& arguments) {
  const results::PrivacyReport report = results::privacy_report(results::open_one_run(arguments.run));
  print("{}", arguments.format == "json" ? render_json(report) : render_text(report));
  return kSuccess;
}

struct ReportArguments {
  std::vector<fs::path> folders;
  fs::path page = "report.html";
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

struct ExportArguments {
  std::vector<fs::path> folders;
  std::string format;
  fs::path output;
  results::Measures measures;
};

std::vector<results::FileContent> outputs(const ExportArguments& arguments,
                                          const std::vector<results::ExportedRun>& runs) {
  if (arguments.format == "csv") return {{arguments.output, results::long_csv(runs, arguments.measures)}};
  if (arguments.format == "jsonl") {
    return {{arguments.output, results::long_json_lines(runs, arguments.measures)}};
  }
  std::vector<results::FileContent> files;
  for (const results::ExportedRun& run : runs) {
    files.emplace_back(arguments.output / run.name / results::kEventFile,
                       results::event_file(run, arguments.measures));
  }
  return files;
}

// The distinct names among the values of all rounds: those of classes, too.
std::set<std::string> names_of_values(const ExportArguments& arguments,
                                      const std::vector<results::ExportedRun>& runs) {
  std::set<std::string> names;
  for (const results::ExportedRun& run : runs) {
    for (const results::RoundRecord& round : run.rounds) {
      for (results::RoundValue& value : results::round_values(run, round, arguments.measures)) {
        names.insert(std::move(value.name));
      }
    }
  }
  if (names.empty()) throw Error::of("--measures: no run has a value of {}", join_names(arguments.measures));
  return names;
}

int run_export(const ExportArguments& arguments) {
  const bool is_folder = arguments.format == "tensorboard";
  if (!is_folder) check_output("--output", arguments.output, {"." + arguments.format});
  const results::ExportedRuns exported = results::read_exported_runs(arguments.folders);
  const std::set<std::string> names = names_of_values(arguments, exported.runs);
  // Files are written when all of them are made.
  const std::vector<results::FileContent> files = outputs(arguments, exported.runs);
  for (const auto& [file, content] : files) check_outside_runs("--output", file);
  std::size_t rounds = 0;
  for (const results::ExportedRun& run : exported.runs) rounds += run.rounds.size();
  if (is_folder) {
    results::replace_files(files);
  } else {
    results::replace_file(files.front().first, files.front().second);
  }
  print("{}: {}, {} rounds in all, {}\n", arguments.output.string(), counted(exported.runs.size(), "run"),
        rounds, counted(names.size(), "measure"));
  for (const std::string& note : exported.notes) print(stderr, "note: {}\n", note);
  return kSuccess;
}

}  // namespace

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

void add_export_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_export, "export",
                  "Write every number of every round, for pandas, R, TensorBoard and other programs.");
  const std::vector<std::string> measures = results::exported_measures();
  command.add_option("DIR", arguments.folders, "folders with run directories, finished or not")->required();
  add_choice(
      command, "--format", arguments.format, {"csv", "jsonl", "tensorboard"},
      "csv or jsonl: one file, a line a run, round and measure; tensorboard: a folder, an event file a run")
      ->required();
  add_value(command, "-o,--output", "PATH", arguments.output,
            "the file to write, or the folder of event files")
      ->required();
  add_names(command, "--measures", arguments.measures,
            fmt::format("what to write; default all of {}", join_names(measures)))
      ->check(one_of(measures));
}

}  // namespace fedarena
