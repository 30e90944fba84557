#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "results/export/event_file.hpp"
#include "results/export/exported_runs.hpp"
#include "results/record/durable_file.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

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
