#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/nearest.hpp"

#include "harness/app/checks.hpp"
#include "harness/app/commands.hpp"
#include "results/column_selection.hpp"
#include "results/find_runs.hpp"
#include "results/list.hpp"
#include "results/render.hpp"
#include "results/round_metric.hpp"
#include "results/table.hpp"

namespace fedarena {
namespace {

struct Arguments {
  std::vector<std::filesystem::path> folders;
  std::string format = "markdown";
  std::optional<std::string> columns, metric;
};

using Renderer = std::function<std::string(const results::Table&, const results::Selection&)>;

const std::map<std::string, Renderer>& renderers() {
  // What programs read holds every number, whatever people want to see.
  static const std::map<std::string, Renderer> kRenderers{
      {"markdown", results::render_markdown},
      {"csv", [](const auto& table, const auto&) { return results::render_csv(table); }},
      {"latex", results::render_latex},
      {"json", [](const auto& table, const auto&) { return results::render_json(table); }}};
  return kRenderers;
}

int print_table(const Arguments& arguments) {
  results::Selection selection;
  if (arguments.columns) selection = results::parse_selection(*arguments.columns);
  std::optional<results::RoundMetric> metric;
  if (arguments.metric) metric = results::parse_round_metric(*arguments.metric);
  const results::Table table = results::make_table(results::find_runs(arguments.folders), metric);
  fmt::print("{}", renderers().at(arguments.format)(table, selection));
  // CSV has no place for notes, and a reader of the numbers must not miss them.
  if (arguments.format == "csv") {
    for (const std::string& note : table.notes) fmt::print(stderr, "note: {}\n", note);
  }
  return kSuccess;
}

int print_list(const Arguments& arguments) {
  fmt::print("{}", results::render_list(results::find_runs(arguments.folders)));
  return kSuccess;
}

}  // namespace

void add_table_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("table", "Print the table of finished runs.");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("DIR", arguments->folders, "folders with run directories")->required();
  std::vector<std::string> formats;
  for (const auto& [name, renderer] : renderers()) formats.push_back(name);
  command->add_option("--format", arguments->format, "csv, json, latex or markdown (the default)")
      ->type_name("NAME")
      ->check(one_of(formats));
  command
      ->add_option(
          "--columns", arguments->columns,
          fmt::format("columns of markdown and latex tables, in order, from: {}; csv and json always "
                      "hold all numbers",
                      join_names(results::column_names())))
      ->type_name("NAME,...");
  command
      ->add_option(
          "--metric", arguments->metric,
          fmt::format("what stands in the column accuracy: {}; of the last round, or @round=K, or the "
                      "last evaluated round with at most so much: @epsilon=E, @bytes=B",
                      join_names(results::measure_names())))
      ->type_name("NAME[@LIMIT]");
  command->callback([arguments, &action] { action = [arguments] { return print_table(*arguments); }; });
}

void add_list_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("list", "Show runs and their state.");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("DIR", arguments->folders, "folders with run directories; default runs");
  command->callback([arguments, &action] {
    action = [arguments] {
      if (arguments->folders.empty()) arguments->folders.emplace_back("runs");
      return print_list(*arguments);
    };
  });
}

}  // namespace fedarena
