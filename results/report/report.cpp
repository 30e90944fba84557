#include "results/report/report.hpp"

#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "results/report/asset.hpp"
#include "results/report/curve_data.hpp"
#include "results/report/readable_runs.hpp"
#include "results/report/sections.hpp"
#include "results/text/markup.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

struct Section {
  std::string_view id;
  std::string_view title;
  std::string body;
};

// The name by which a page allows an element of its own: 'sha256-...'.
std::string source_of(const Asset& asset) {
  std::string bytes;
  for (std::size_t i = 0; i < asset.sha256.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(asset.sha256.substr(i, 2)), nullptr, 16));
  }
  return fmt::format("'sha256-{}'", base64(bytes));
}

// Nothing is loaded, and what somebody slips into the page does not run.
std::string security_policy() {
  return fmt::format(
      "default-src 'none'; script-src {} {} {}; style-src {}; img-src data:; base-uri 'none'; form-action "
      "'none'",
      source_of(chart_asset()), source_of(tables_asset()), source_of(curves_asset()),
      source_of(style_asset()));
}

std::string title_of(std::span<const FoundRun> runs) {
  constexpr std::size_t kMost = 3;
  std::set<std::string> experiments;
  for (const FoundRun& run : runs) {
    if (run.summary) experiments.insert(one_line(run.summary->experiment));
  }
  std::vector<std::string> shown(experiments.begin(), experiments.end());
  if (shown.size() > kMost) {
    shown.resize(kMost);
    shown.emplace_back("...");
  }
  return shown.empty() ? "fedarena report" : fmt::format("fedarena report: {}", fmt::join(shown, ", "));
}

std::string head(const std::string& title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n{}\n<style>{}</style>\n</head>\n",
      security_policy(), html_element("title", title), style_asset().text);
}

std::string navigation(const std::vector<Section>& sections) {
  std::string html = "<nav aria-label=\"Sections\">\n<ul>\n";
  for (const Section& section : sections) {
    html += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, html_escaped(section.title));
  }
  return html + "</ul>\n</nav>\n";
}

std::string footer() {
  return fmt::format(
      "<footer>\n<p>Made by <code>fedarena report</code>. The charts are drawn by Chart.js, which is part of "
      "this file.</p>\n<details>\n<summary>Licence of Chart.js</summary>\n<pre>\n{}</pre>\n</details>\n"
      "</footer>\n",
      html_escaped(chart_licence_asset().text));
}

Problems problems_of(std::span<const FoundRun> runs) {
  Problems problems;
  for (const FoundRun& run : runs) {
    if (!run.summary) problems.push_back({run.path, run.problem + "; the run is not shown"});
  }
  return problems;
}

// Several sections may look at one file.
void drop_repeated(Problems& problems) {
  std::set<std::pair<std::filesystem::path, std::string>> told;
  std::erase_if(problems,
                [&](const Problem& problem) { return !told.emplace(problem.run, problem.what).second; });
}

}  // namespace

Report make_report(std::vector<FoundRun> runs) {
  auto [readable, parts] = readable_runs(std::move(runs), [](const RowRuns& row, const RowRounds& rounds) {
    return RowParts{.series = series_json(row_series(rounds, claims_of(row))),
                    .choices = choices_figure(row, rounds)};
  });
  runs = std::move(readable);
  const Table table = make_table(runs);
  Report report{.html = {}, .runs = 0, .rows = table.rows.size(), .problems = problems_of(runs)};
  report.runs = runs.size() - report.problems.size();
  std::vector<Section> sections = {{"summary", "Summary", summary_body(runs, table)},
                                   {"problems", "Problems", ""},
                                   {"results", "Results", results_body(table)},
                                   {"curves", "Curves", curves_body(table)},
                                   {"runs", "Runs", runs_body(runs)},
                                   {"partitions", "Partitions", partitions_body(runs, report.problems)},
                                   {"choices", "Choices of clients", choices_body(parts)},
                                   {"privacy", "Privacy", privacy_body(runs, table, report.problems)},
                                   {"images", "Synthetic images", images_body(table, report.problems)},
                                   {"environment", "Environment", environment_body(runs, report.problems)},
                                   {"reproduce", "How to reproduce", reproduce_body(table, report.problems)}};
  drop_repeated(report.problems);
  sections[1].body = problems_body(report.problems);
  std::erase_if(sections, [](const Section& section) { return section.body.empty(); });

  const std::string title = title_of(runs);
  std::string& html = report.html;
  html = head(title);
  html += "<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n<header>\n" +
          html_element("h1", title) + "\n" + navigation(sections) + "</header>\n<main id=\"content\">\n";
  for (const Section& part : sections) html += section(part.id, part.title, part.body);
  html += "</main>\n" + footer();
  if (!table.rows.empty()) {
    html +=
        fmt::format("<script type=\"application/json\" id=\"curve-data\">{}</script>\n<script>{}</script>\n",
                    json_for_script(curve_data(table, parts)), chart_asset().text);
  }
  html += fmt::format("<script>{}</script>\n<script>{}</script>\n</body>\n</html>\n", tables_asset().text,
                      curves_asset().text);
  return report;
}

}  // namespace fedarena::results
