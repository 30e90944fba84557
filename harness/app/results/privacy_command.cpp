#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "fedarena/base/print.hpp"

#include "harness/app/options.hpp"
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
  const auto [command, arguments] =
      add_command(app, action, run_privacy, "privacy",
                  "Explain a run's epsilon: what it hides, and which access to whose data costs how much.");
  command.add_option("RUN", arguments.run, "the folder of one run, finished or not")->required();
  add_format(command, arguments.format);
}

}  // namespace fedarena
