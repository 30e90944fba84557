#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/app/checks.hpp"
#include "harness/app/commands.hpp"
#include "results/find_runs.hpp"
#include "results/privacy_report.hpp"

namespace fedarena {
namespace {

struct Arguments {
  std::filesystem::path run;
  std::string format = "text";
};

int run(const Arguments& arguments) {
  const std::vector<results::FoundRun> found = results::find_runs(std::vector{arguments.run});
  if (found.size() > 1) {
    throw Error(
        Complaint{.place = {.file = arguments.run.string()},
                  .found = fmt::format("holds {} runs", found.size()),
                  .allowed = "one run",
                  .remedy = fmt::format("Name one of them, such as {}.", found.front().path.string())});
  }
  const results::PrivacyReport report =
      results::privacy_report(results::RunDirectory::open(found.front().path));
  fmt::print("{}", arguments.format == "json" ? render_json(report) : render_text(report));
  return kSuccess;
}

}  // namespace

void add_privacy_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "privacy", "Explain a run's epsilon: what it hides, and which access to whose data costs how much.");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("RUN", arguments->run, "the folder of one run, finished or not")->required();
  command->add_option("--format", arguments->format, "text (the default) or json")
      ->type_name("NAME")
      ->check(one_of({"text", "json"}));
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace fedarena
