// The sections that need nothing but summaries: what there is, tables, the frame of the charts.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/plot/curves.hpp"
#include "results/record/record.hpp"
#include "results/record/test_metrics.hpp"
#include "results/report/sections.hpp"
#include "results/table/row_key.hpp"
#include "results/table/tuning_text.hpp"
#include "results/text/html.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/number_format.hpp"
#include "results/write/columns.hpp"

namespace fedarena::results {
namespace {

using Names = std::set<std::string, NaturalOrder>;

// What the runs have for one of their settings, once each.
Names names_of(std::span<const FoundRun> runs, std::string Summary::*member) {
  Names names;
  for (const FoundRun& run : runs) {
    if (run.summary) names.insert((*run.summary).*member);
  }
  return names;
}

// The first of them, and how many more there are.
std::string listed(const Names& names) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> shown(names.begin(), names.end());
  if (shown.size() > kMost) shown.resize(kMost);
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

std::string counts(std::span<const FoundRun> runs) {
  const auto finished = std::ranges::count_if(
      runs, [](const FoundRun& run) { return run.summary && run.summary->state == kFinished; });
  const auto broken = std::ranges::count_if(runs, [](const FoundRun& run) { return !run.summary; });
  return fmt::format("{}: {} finished, {} unfinished, {} not readable", runs.size(), finished,
                     static_cast<std::ptrdiff_t>(runs.size()) - finished - broken, broken);
}

std::string seeds_of(std::span<const FoundRun> runs) {
  Names seeds;
  for (const FoundRun& run : runs) {
    if (run.summary) seeds.insert(std::to_string(run.summary->seed));
  }
  return listed(seeds);
}

// The best row of each setting that has one.
std::string best_rows(const Table& table) {
  const PanelTitles titles(table);
  std::string html;
  for (const Row& row : table.rows) {
    if (!row.best) continue;
    const double mean = row.result->spread.mean;
    const std::string result = row.result->share ? percent(mean) + " %" : measured(mean);
    html += fmt::format("<li>{}: {}</li>\n", html_element("strong", titles.of(row)), html_escaped(result));
  }
  return html;
}

std::string accuracy_of(const Summary& summary) {
  if (summary.state != kFinished) return "-";
  if (summary.final_test_accuracy) return percent(*summary.final_test_accuracy) + " %";
  return measured(root_mean_squared_error(*summary.final_test_loss));
}

std::string epsilon_of(const Summary& summary) {
  if (!summary.privacy) return "none";
  if (!summary.privacy->rdp) return "-";
  return summary.privacy->rdp->epsilon ? epsilon_text(*summary.privacy->rdp->epsilon) : "unproven";
}

std::vector<HtmlCell> run_cells(const FoundRun& run) {
  const Summary& summary = *run.summary;
  std::vector<HtmlCell> cells;
  for (std::string text :
       {run.path.generic_string(), summary.experiment,
        row_name(summary.label, own_sweep(summary.sweep, summary.label)), std::to_string(summary.seed),
        state_text(summary), fmt::format("{}/{}", summary.rounds_done, summary.rounds), accuracy_of(summary),
        epsilon_of(summary), summary.state == kFinished ? human_seconds(summary.seconds) : "-"}) {
    cells.push_back({.text = std::move(text)});
  }
  return cells;
}

}  // namespace

std::string section(std::string_view id, std::string_view title, std::string_view body) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
      id, html_escaped(title), body);
}

std::string scrolling(const HtmlTable& table, std::string_view more) {
  return fmt::format(
      "<div class=\"scroll{}{}\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n{}</div>\n",
      more.empty() ? "" : " ", more, html_escaped(table.caption), to_html(table));
}

std::string summary_body(std::span<const FoundRun> runs, const Table& table) {
  std::string html = "<dl class=\"facts\">\n";
  const auto fact = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) html += html_element("dt", name) + html_element("dd", value) + "\n";
  };
  fact("Runs", counts(runs));
  fact("Experiments", listed(names_of(runs, &Summary::experiment)));
  fact("Data sets", listed(names_of(runs, &Summary::dataset)));
  fact("Models", listed(names_of(runs, &Summary::model)));
  fact("Algorithms", listed(names_of(runs, &Summary::label)));
  fact("Seeds", seeds_of(runs));
  fact("Privacy policies", listed(names_of(runs, &Summary::policy)));
  html += "</dl>\n";
  constexpr std::ptrdiff_t kMostShown = 12;
  const std::string best = best_rows(table);
  if (!best.empty() && std::ranges::count_if(table.rows, &Row::best) <= kMostShown) {
    html += "<p>Best of its setting, as the table marks it:</p>\n<ul>\n" + best + "</ul>\n";
  }
  return html;
}

std::string problems_body(const Problems& problems) {
  if (problems.empty()) return "";
  std::string html = "<p>These files could not be shown as they are, or contradict each other.</p>\n<ul>\n";
  for (const Problem& problem : problems) {
    html += fmt::format("<li>{}: {}</li>\n", html_element("code", problem.run.generic_string()),
                        html_escaped(problem.what));
  }
  return html + "</ul>\n";
}

std::string results_body(const Table& table) {
  std::string html;
  if (table.rows.empty()) {
    html = "<p>No finished run.</p>\n";
  } else {
    const Selection shown = default_selection(table);
    HtmlTable element =
        from_markdown(reader_grid(table, shown, &Column::markdown_heading, &Column::markdown));
    element.sortable = true;
    const std::string common = caption(table);
    element.caption = common.empty() ? "Results over seeds" : common + ".";
    html = scrolling(element) + html_element("p", legend(table, shown)) + "\n";
  }
  if (table.notes.empty()) return html;
  html += "<h3>Notes</h3>\n<ul class=\"notes\">\n";
  for (const std::string& note : table.notes) html += html_element("li", note) + "\n";
  return html + "</ul>\n";
}

std::string runs_body(std::span<const FoundRun> runs) {
  HtmlTable table{.caption = "Every run that could be read",
                  .right_aligned = {false, false, false, true, false, true, true, true, true},
                  .headings = {"run", "experiment", "algorithm", "seed", "state", "rounds", "accuracy",
                               "epsilon (RDP)", "seconds"},
                  .sortable = true};
  const bool tuned =
      std::ranges::any_of(runs, [](const FoundRun& run) { return run.summary && run.summary->tuning; });
  if (tuned) {
    table.right_aligned.push_back(false);
    table.headings.emplace_back("tuned by");
  }
  for (const FoundRun& run : runs) {
    if (!run.summary) continue;
    table.rows.push_back(run_cells(run));
    if (tuned) table.rows.back().push_back({.text = search_text(run.summary->tuning)});
  }
  if (table.rows.empty()) return "";
  // Regression data have an error in the place of the accuracy.
  const bool regression = std::ranges::any_of(runs, [](const FoundRun& run) {
    return run.summary && run.summary->state == kFinished && !run.summary->final_test_accuracy;
  });
  if (regression) table.headings[6] = "accuracy or RMSE";
  return scrolling(table);
}

std::string curves_body(const Table& table) {
  if (table.rows.empty()) return "";
  return R"(<noscript><p>Charts need JavaScript; the tables do not. <code>fedarena plot</code> draws pictures.</p></noscript>
<div id="chart" hidden>
<div class="controls" id="chart-controls"></div>
<fieldset id="chart-curves"><legend>Curves</legend></fieldset>
<div class="canvas"><canvas id="chart-canvas" role="img" tabindex="0" aria-label="Curves" aria-describedby="chart-help"></canvas></div>
<p id="chart-point" aria-live="polite"></p>
<p id="chart-help" class="hint">A line is the mean over seeds, its band one sample standard deviation to each side. Left and right arrow keys go along a curve, up and down to another one.</p>
<div class="scroll" id="chart-ends" role="region" aria-label="Where the curves end" tabindex="0"></div>
</div>
)";
}

}  // namespace fedarena::results
