#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "fedarena/base/print.hpp"

#include "harness/app/accounting/checks.hpp"
#include "harness/app/commands.hpp"
#include "results/audit/privacy_report.hpp"
#include "results/record/find_runs.hpp"

namespace fedarena {
namespace {

struct PrivacyArguments {
  std::filesystem::path run;
  std::string format = "text";
};

int run_privacy(const PrivacyArguments& arguments) {
  const results::PrivacyReport report = results::privacy_report(results::open_one_run(arguments.run));
  print("{}", arguments.format == "json" ? render_json(report) : render_text(report));
  return kSuccess;
}

}  // namespace

void add_privacy_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "privacy", "Explain a run's epsilon: what it hides, and which access to whose data costs how much.");
  const auto arguments = std::make_shared<PrivacyArguments>();
  command->add_option("RUN", arguments->run, "the folder of one run, finished or not")->required();
  command->add_option("--format", arguments->format, "text (the default) or json")
      ->type_name("NAME")
      ->check(one_of({"text", "json"}));
  command->callback([arguments, &action] { action = [arguments] { return run_privacy(*arguments); }; });
}

}  // namespace fedarena
