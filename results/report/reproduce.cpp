// The commands and the resolved experiments that make the same runs again.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "results/plot/curves.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/run_directory.hpp"
#include "results/report/sections.hpp"
#include "results/text/html.hpp"

namespace fedarena::results {
namespace {

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
        experiments.push_back({text, rest, {seed.seed}, seed.path});
      } else {
        same->seeds.push_back(seed.seed);
      }
    } catch (const Error& error) {
      problems.push_back({seed.path, problem_line(error)});
    }
  }
  return experiments;
}

std::string details(const std::string& name, const Experiment& experiment) {
  const std::string title = fmt::format("{}, seed{} {}", name, experiment.seeds.size() == 1 ? "" : "s",
                                        fmt::join(experiment.seeds, ", "));
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

std::string reproduce_body(const Table& table, Problems& problems) {
  if (table.rows.empty()) return "";
  std::string html = fmt::format(
      "<p>Each run directory holds the experiment with every setting, defaults included. With the same "
      "version, data "
      "and device a run comes out the same; the environment above says which they "
      "were.</p>\n<pre>\n{}</pre>\n",
      html_escaped(kCommands));
  const PanelTitles titles(table);
  for (const Row& row : table.rows) {
    for (const Experiment& experiment : experiments_of(row, problems))
      html += details(titles.of(row), experiment);
  }
  return html;
}

}  // namespace fedarena::results
