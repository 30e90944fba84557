// On what the runs were computed: every field of their environment.json, once.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "results/record/environment_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/report/sections.hpp"
#include "results/text/natural_order.hpp"
#include "results/write/html_table.hpp"

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
  std::vector<std::string> plugins;
  for (const Json& plugin : value) plugins.push_back(plugin_text(plugin));
  return fmt::format("{}", fmt::join(plugins, ", "));
}

void add_run(const FoundRun& run, Fields& fields) {
  const Json environment = read_environment(run.path);
  for (const auto& [field, value] : environment.items()) ++fields[field][value_text(field, value)];
}

std::string runs_text(std::size_t runs) { return fmt::format("{} run{}", runs, runs == 1 ? "" : "s"); }

// The commonest values, and how many runs have them where not all have the same.
std::string values_text(const Values& values, std::size_t runs) {
  constexpr std::size_t kMost = 8;
  std::vector<std::pair<std::string, std::size_t>> ordered(values.begin(), values.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& left, const auto& right) { return left.second > right.second; });
  if (ordered.size() == 1 && ordered.front().second == runs) return ordered.front().first;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(ordered.size(), kMost); ++i) {
    texts.push_back(fmt::format("{} ({})", ordered[i].first, runs_text(ordered[i].second)));
  }
  if (ordered.size() > kMost) texts.push_back(fmt::format("and {} other values", ordered.size() - kMost));
  return fmt::format("{}", fmt::join(texts, "; "));
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
  HtmlTable table{.caption = fmt::format("As {} recorded it", runs_text(read)),
                  .right_aligned = {false, false},
                  .headings = {"field", "value"}};
  for (const auto& [field, values] : fields) {
    table.rows.push_back({{.text = field}, {.text = values_text(values, read)}});
  }
  return table.rows.empty() ? "" : scrolling(table, "wide");
}

}  // namespace fedarena::results
