// On what the runs were computed, every field of their environment.json once; and the commands and the
// resolved experiments that make the same runs again.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "results/record/durable_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"
#include "results/report/sections.hpp"
#include "results/text/markup.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// How many runs have a value, by field.
using Values = std::map<std::string, std::size_t, NaturalOrder>;
using Fields = std::map<std::string, Values, NaturalOrder>;

std::string plugin_text(const Json& plugin) {
  if (!plugin.is_object() || !plugin.contains("name") || !plugin["name"].is_string())
    return json_text(plugin, -1);
  std::string text = plugin["name"].get<std::string>();
  if (plugin.contains("version") && plugin["version"].is_string())
    text += " " + plugin["version"].get<std::string>();
  return text;
}

std::string value_text(const std::string& field, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (field != "plugins" || !value.is_array()) return json_text(value, -1);
  return joined(value, ", ", plugin_text);
}

void add_run(const FoundRun& run, Fields& fields) {
  const Json environment = read_environment(run.path);
  for (const auto& [field, value] : environment.items()) ++fields[field][value_text(field, value)];
}

// The commonest values, and how many runs have them where not all have the same.
std::string values_text(const Values& values, std::size_t runs) {
  constexpr std::size_t kMost = 8;
  std::vector<std::pair<std::string, std::size_t>> ordered(values.begin(), values.end());
  std::ranges::stable_sort(ordered,
                           [](const auto& left, const auto& right) { return left.second > right.second; });
  if (ordered.size() == 1 && ordered.front().second == runs) return ordered.front().first;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(ordered.size(), kMost); ++i) {
    texts.push_back(fmt::format("{} ({})", ordered[i].first, counted(ordered[i].second, "run")));
  }
  if (ordered.size() > kMost) texts.push_back(fmt::format("and {} other values", ordered.size() - kMost));
  return fmt::format("{}", fmt::join(texts, "; "));
}

constexpr const char* kCommands =
    "fedarena run RUN/experiment.toml --out again   # the run once more, with the same seed\n"
    "fedarena verify RUN                            # every number from the run's own records\n"
    "fedarena bundle DIR -o runs.tar.gz             # one file to publish, which `fedarena replay` runs "
    "again\n"
    "fedarena table DIR                             # the table, also as LaTeX, CSV and JSON\n"
    "fedarena plot DIR -o curves.svg                # curves for a paper\n";

// A resolved experiment, and the seeds of the row that ran it.
struct Experiment {
  std::string text;  // of the first seed
  std::string rest;  // without the line of the seeds
  std::vector<std::int64_t> seeds;
  std::filesystem::path first;
};

std::string without_seeds(const std::string& toml) {
  constexpr std::string_view kLine = "\nseeds = [";
  const std::size_t begin = toml.find(kLine);
  if (begin == std::string::npos) return toml;
  const std::size_t end = toml.find('\n', begin + 1);
  return toml.substr(0, begin) + (end == std::string::npos ? "" : toml.substr(end));
}

std::vector<Experiment> experiments_of(const Row& row, Problems& problems) {
  std::vector<Experiment> experiments;
  for (const SeedResult& seed : row.seeds) {
    try {
      const std::string text = read_whole_file(seed.path / kExperimentFile);
      const std::string rest = without_seeds(text);
      const auto same = std::ranges::find(experiments, rest, &Experiment::rest);
      if (same == experiments.end()) {
        experiments.push_back({text, rest, {seed.seed()}, seed.path});
      } else {
        same->seeds.push_back(seed.seed());
      }
    } catch (const Error& error) {
      problems.push_back({seed.path, problem_line(error)});
    }
  }
  return experiments;
}

std::string details(const std::string& name, const Experiment& experiment) {
  const std::string title = fmt::format("{}, {}", name, seeds_text(experiment.seeds));
  std::string html = fmt::format("<details>\n{}\n", html_element("summary", title));
  if (experiment.seeds.size() > 1) {
    html +=
        html_element("p", fmt::format("This is the file of seed {}; the others differ in their seeds alone.",
                                      experiment.seeds.front())) +
        "\n";
  }
  html +=
      fmt::format("<p>{}</p>\n", html_element("code", (experiment.first / kExperimentFile).generic_string()));
  // HTML drops the first line feed of a <pre>.
  return html + fmt::format("<pre>\n{}</pre>\n</details>\n", html_escaped(experiment.text));
}

}  // namespace

std::string environment_body(std::span<const FoundRun> runs, Problems& problems) {
  Fields fields;
  std::size_t read = 0;
  for (const FoundRun& run : runs) {
    if (!run.summary) continue;
    try {
      add_run(run, fields);
      ++read;
    } catch (const Error& error) {
      problems.push_back({run.path, problem_line(error)});
    }
  }
  if (fields.empty()) return "";
  const std::vector<Column<Fields::value_type>> columns = {
      {"field", Align::kText, [](const auto& field) { return field.first; }},
      {"value", Align::kText, [&](const auto& field) { return values_text(field.second, read); }}};
  return scrolling(
      {.caption = fmt::format("As {} recorded it", counted(read, "run")), .grid = cell_grid(columns, fields)},
      "wide");
}

std::string reproduce_body(const Table& table, Problems& problems) {
  if (table.rows.empty()) return "";
  std::string html = fmt::format(
      "<p>Each run directory holds the experiment with every setting, defaults included. With the same "
      "version, data and device a run comes out the same; the environment above says which they were.</p>\n"
      "<pre>\n{}</pre>\n",
      html_escaped(kCommands));
  const SettingNames titles = setting_names(table);
  for (const Row& row : table.rows) {
    for (const Experiment& experiment : experiments_of(row, problems))
      html += details(titles.of(row), experiment);
  }
  return html;
}

}  // namespace fedarena::results
