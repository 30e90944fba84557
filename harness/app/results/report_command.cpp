#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/report/report.hpp"
#include "results/table/rows.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

struct ReportArguments {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path page = "report.html";
};

int run_report(const ReportArguments& arguments) {
  check_ending("--output", arguments.page, {".html", ".htm"});
  std::vector<results::FoundRun> runs = results::find_runs(arguments.folders);
  results::separate_by_settings(runs);
  const results::Report report = results::make_report(std::move(runs));
  results::replace_file(arguments.page, report.html);
  print("{}: {}, {} of the table, {}\n", arguments.page.string(), counted(report.runs, "run"),
        counted(report.rows, "row"), results::human_bytes(static_cast<double>(report.html.size())));
  for (const results::Problem& problem : report.problems) {
    print(stderr, "note: {}\n", results::one_line(fmt::format("{}: {}", problem.run.string(), problem.what)));
  }
  return kSuccess;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_report, "report",
                  "Write one HTML page of runs: tables, charts, partitions, privacy, images, environment.");
  command.add_option("DIR", arguments.folders, "folders with run directories, finished or not")->required();
  command.add_option("-o,--output", arguments.page, "the page to write; default report.html")
      ->type_name("FILE.html");
}

}  // namespace fedarena
