#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/app/checks.hpp"
#include "harness/app/commands.hpp"
#include "results/pairs.hpp"
#include "results/render_pairs.hpp"
#include "results/round_metric.hpp"
#include "results/row_differences.hpp"

namespace fedarena {
namespace {

struct Arguments {
  std::vector<std::filesystem::path> folders;
  std::optional<std::string> metric;
  std::vector<std::string> labels;
  std::vector<std::string> across;
  std::string format = "markdown";
};

using Renderer = std::function<std::string(const results::Pairs&)>;

const std::map<std::string, Renderer>& renderers() {
  static const std::map<std::string, Renderer> kRenderers{{"markdown", results::render_pairs_markdown},
                                                          {"csv", results::render_pairs_csv},
                                                          {"latex", results::render_pairs_latex},
                                                          {"json", results::render_pairs_json}};
  return kRenderers;
}

int run(const Arguments& arguments) {
  results::PairOptions options{.labels = arguments.labels,
                               .across = {arguments.across.begin(), arguments.across.end()}};
  if (arguments.metric) options.metric = results::parse_round_metric(*arguments.metric);
  const results::Pairs pairs =
      results::compare_rows(results::find_runs_by_folder(arguments.folders), options);
  fmt::print("{}", renderers().at(arguments.format)(pairs));
  // CSV has no place for notes, and a reader of the numbers must not miss them.
  if (arguments.format == "csv") {
    for (const std::string& note : pairs.notes) fmt::print(stderr, "note: {}\n", note);
  }
  return kSuccess;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "compare",
      "Say which algorithm is better, as far as the seeds show it: paired tests of finished runs.");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("DIR", arguments->folders,
                   "folders with run directories; the same algorithm in two of them is compared, too")
      ->required();
  command->add_option("--labels", arguments->labels, "algorithm entries to compare; default all of them")
      ->type_name("A,B,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option(
          "--metric", arguments->metric,
          fmt::format(
              "what decides: {}; of the last round, or @round=K, @epsilon=E, @bytes=B, @best-validation as "
              "in fedarena table; default accuracy, or rmse on regression data",
              fmt::join(results::quantity_names(), ", ")))
      ->type_name("NAME[@LIMIT]");
  command
      ->add_option(
          "--across", arguments->across,
          fmt::format("compare what differs in {}, and say so", fmt::join(results::across_names(), ", ")))
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of(results::across_names()));
  std::vector<std::string> formats;
  for (const auto& [name, renderer] : renderers()) formats.push_back(name);
  command->add_option("--format", arguments->format, "csv, json, latex or markdown (the default)")
      ->type_name("NAME")
      ->check(one_of(formats));
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace fedarena
