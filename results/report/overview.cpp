// The sections that need nothing but summaries: what there is, tables, the frame of the charts.
#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/record/claim_text.hpp"
#include "results/record/record.hpp"
#include "results/record/run_setup.hpp"
#include "results/record/test_metrics.hpp"
#include "results/report/sections.hpp"
#include "results/table/notes.hpp"
#include "results/table/rows.hpp"
#include "results/text/markup.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/number_format.hpp"
#include "results/write/render.hpp"
#include "results/write/writers.hpp"

namespace fedarena::results {
namespace {

// What the runs have in one respect, once each: the first of them, and how many more there are.
std::string listed(std::span<const FoundRun> runs,
                   const std::function<std::string(const Summary&)>& text_of) {
  constexpr std::size_t kMost = 12;
  std::set<std::string, NaturalOrder> names;
  for (const FoundRun& run : runs) {
    if (run.summary) names.insert(text_of(*run.summary));
  }
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

// The best row of each setting that has one.
std::string best_rows(const Table& table) {
  const SettingNames titles = setting_names(table);
  std::string html;
  for (const Row& row : table.rows) {
    if (!row.best) continue;
    const Cell cell = result_cell(*row.result, table.plus_minus);
    std::string result =
        cell.digits + (cell.spread.empty() ? "" : " ± " + cell.spread) + (row.result->share ? " %" : "");
    if (row.privacy) result += ", epsilon " + claims_text(row.privacy);
    html += fmt::format("<li>{}: {}</li>\n", html_element("strong", titles.of(row)), html_escaped(result));
  }
  return html;
}

Cell accuracy_of(const FoundRun& run) {
  const Summary& summary = *run.summary;
  if (summary.state != kFinished) return kNothing;
  if (summary.final_test_accuracy) return number_cell(percent(*summary.final_test_accuracy), "", " %");
  return number_cell(measured(root_mean_squared_error(*summary.final_test_loss)));
}

Cell epsilon_of(const FoundRun& run) {
  const auto& privacy = run.summary->privacy;
  if (!privacy) return "none";
  if (!privacy->rdp) return kNothing;
  if (!privacy->rdp->epsilon) return claim_text(privacy->rdp);
  return number_cell(claim_text(privacy->rdp), "", assumption_mark(*privacy, privacy->rdp));
}

Cell algorithm_of(const FoundRun& run) {
  return row_name(key_of(*run.summary)) + (is_control(*run.summary, run.settings) ? " (control)" : "");
}

Cell rounds_cell(const FoundRun& run) {
  return number_cell(std::to_string(run.summary->rounds_done), "", fmt::format("/{}", run.summary->rounds));
}

Cell seconds_of(const FoundRun& run) {
  const bool secret = is_secret(DrawnSizes::kBatches, run.summary->privacy);
  if (run.summary->state != kFinished || secret) return kNothing;
  return number_cell(human_seconds(run.summary->seconds));
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

std::string facts(const std::vector<std::pair<std::string, std::string>>& names_and_values) {
  std::string html = "<dl class=\"facts\">\n";
  for (const auto& [name, value] : names_and_values) {
    if (value.empty()) continue;
    if (!name.empty()) html += html_element("dt", name);
    html += html_element("dd", value) + "\n";
  }
  return html + "</dl>\n";
}

std::string summary_body(std::span<const FoundRun> runs, const Table& table) {
  std::string html =
      facts({{"Runs", counts(runs)},
             {"Experiments", listed(runs, &Summary::experiment)},
             {"Data sets", listed(runs, &Summary::dataset)},
             {"Models", listed(runs, &Summary::model)},
             {"Algorithms", listed(runs, &Summary::label)},
             {"Seeds", listed(runs, [](const Summary& run) { return std::to_string(run.seed); })},
             {"Privacy policies", listed(runs, &Summary::policy)}});
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
  const ReaderTable shown = reader_table(table);
  std::string html = "<p>No finished run.</p>\n";
  if (!shown.grid.empty()) {
    html = scrolling({.caption = shown.caption.empty() ? "Results over seeds" : shown.caption + ".",
                      .grid = shown.grid,
                      .sortable = true}) +
           html_element("p", shown.legend) + "\n";
  }
  if (shown.notes.empty()) return html;
  html += "<h3>Notes</h3>\n<ul class=\"notes\">\n";
  for (const std::string& note : shown.notes) html += html_element("li", note) + "\n";
  return html + "</ul>\n";
}

std::string runs_body(std::span<const FoundRun> runs) {
  std::vector<FoundRun> readable;
  std::ranges::copy_if(runs, std::back_inserter(readable),
                       [](const FoundRun& run) { return run.summary.has_value(); });
  if (readable.empty()) return "";
  // Regression data have an error in the place of the accuracy.
  const bool regression = std::ranges::any_of(readable, [](const FoundRun& run) {
    return run.summary->state == kFinished && !run.summary->final_test_accuracy;
  });
  std::vector<Column<FoundRun>> columns = {
      {"run", Align::kText, [](const FoundRun& run) { return run.path.generic_string(); }},
      {"experiment", Align::kText, [](const FoundRun& run) { return run.summary->experiment; }},
      {"algorithm", Align::kText, algorithm_of},
      {"seed", Align::kNumber,
       [](const FoundRun& run) { return number_cell(std::to_string(run.summary->seed)); }},
      {"state", Align::kText, [](const FoundRun& run) { return state_text(*run.summary); }},
      {"rounds", Align::kNumber, rounds_cell},
      {regression ? "accuracy or RMSE" : "accuracy", Align::kNumber, accuracy_of},
      {"epsilon (RDP)", Align::kNumber, epsilon_of},
      {"seconds", Align::kNumber, seconds_of}};
  if (std::ranges::any_of(readable, [](const FoundRun& run) { return run.summary->tuning.has_value(); })) {
    columns.push_back(
        {"tuned by", Align::kText, [](const FoundRun& run) { return search_text(run.summary->tuning); }});
  }
  return scrolling(
      {.caption = "Every run that could be read", .grid = cell_grid(columns, readable), .sortable = true});
}

std::string curves_body(const Table& table) {
  if (table.rows.empty()) return "";
  return R"(<noscript><p>Charts need JavaScript; the tables do not. <code>fedarena plot</code> draws pictures.</p></noscript>
<div id="chart" hidden>
<div class="controls" id="chart-controls"></div>
<fieldset id="chart-curves"><legend>Curves</legend></fieldset>
<p id="chart-caption"></p>
<div class="canvas"><canvas id="chart-canvas" role="img" tabindex="0" aria-label="Curves" aria-describedby="chart-help"></canvas></div>
<p id="chart-point" aria-live="polite"></p>
<p id="chart-help" class="hint">A line is the mean over seeds, its band (the bar of a single point) one sample standard deviation to each side. Left and right arrow keys go along a curve, up and down to another one.</p>
<div class="scroll" id="chart-ends" role="region" aria-label="Where the curves end" tabindex="0"></div>
</div>
)";
}

}  // namespace fedarena::results
