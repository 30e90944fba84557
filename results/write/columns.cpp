#include "results/write/columns.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "results/record/claim_text.hpp"
#include "results/table/privacy_notes.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"
#include "results/write/siunitx.hpp"

namespace fedarena::results {
namespace {

// A column whose cells are plain text in both typesettings.
Column plain(const std::string& heading, bool right_aligned,
             const std::function<std::string(const Row&)>& text) {
  return {.markdown_heading = markdown_escaped(heading),
          .latex_heading = latex_escaped(heading),
          .right_aligned = right_aligned,
          .markdown = [text](const Row& row) { return markdown_escaped(text(row)); },
          .latex = [text](const Row& row) { return latex_escaped(text(row)); }};
}

// A column of numbers, of which LaTeX aligns the points.
Column decimal(const std::string& heading, const std::function<std::string(const Row&)>& text) {
  Column column = plain(heading, true, text);
  column.latex_heading = fmt::format("{{{}}}", column.latex_heading);
  column.latex = [text](const Row& row) { return siunitx_cell(text(row)); };
  column.decimal = true;
  return column;
}

// "94.07 ± 0.26", or the mean alone for a single seed.
std::string with_spread(const std::string& mean, const std::optional<std::string>& deviation) {
  return deviation ? fmt::format("{} ± {}", mean, *deviation) : mean;
}

std::string percent_with_spread(double mean, std::optional<double> deviation) {
  return with_spread(percent(mean), deviation ? std::optional(percent(*deviation)) : std::nullopt);
}

// A column in which the best row stands out; `belongs`: whether it is the column of such results.
Column result_column(const std::string& heading, PlusMinus shown,
                     const std::function<bool(const Result&)>& belongs) {
  const auto text_of = [=](const Row& row) -> std::string {
    return row.result && belongs(*row.result) ? result_text(*row.result, shown) : kNothing;
  };
  Column column = decimal(heading, text_of);
  column.markdown = [text_of](const Row& row) {
    return row.best ? fmt::format("**{}**", text_of(row)) : text_of(row);
  };
  column.latex = [text_of](const Row& row) { return siunitx_cell(text_of(row), row.best); };
  return column;
}

// What others published, with the digits of their figures.
Column published_column(const Table& table) {
  const bool shares = std::ranges::all_of(
      table.rows, [](const Row& row) { return !row.published || (row.result && row.result->share); });
  return decimal(shares ? "published (%)" : "published",
                 [](const Row& row) { return row.published ? published_text(*row.published) : kNothing; });
}

void add_measured(const Table& table, std::vector<Column>& columns) {
  const auto add = [&](const std::string& heading, const std::function<bool(const Result&)>& belongs) {
    columns.push_back(result_column(heading, table.plus_minus, belongs));
  };
  if (table.metric) return add(heading(*table.metric), [](const Result&) { return true; });
  if (any_accuracy(table)) add("accuracy (%)", [](const Result& result) { return result.share; });
  if (any_regression(table)) add("RMSE", [](const Result& result) { return !result.share; });
}

void add_results(const Table& table, std::vector<Column>& columns) {
  add_measured(table, columns);
  if (any_published(table)) columns.push_back(published_column(table));
}

// What a row says of its clients in one respect.
Column client_column(const ClientColumn& what, PlusMinus shown) {
  return decimal(what.heading, [what, shown](const Row& row) -> std::string {
    const std::optional<Spread> spread = client_spread(row, what);
    return spread ? result_text({*spread, what.share}, shown) : kNothing;
  });
}

// "2.79", "2.79†", "8.21 (as if 1.20*)": `member` and `as_if` are those of one accountant.
std::string epsilon_cell(const Row& row, std::optional<Claim> PrivacyClaim::*member,
                         std::optional<Claim> PrivacyClaim::*as_if) {
  if (!row.privacy) return "none";
  const PrivacyClaim& claim = *row.privacy;
  const auto text_of = [&](const Claim& value) {
    return claim_text(value) + (claim.assumed && is_finite(value) ? kAssumedMark : "");
  };
  std::string text = text_of(*(claim.*member));
  if (claim.*as_if) text += fmt::format(" (as if {}{})", text_of(*(claim.*as_if)), kAsIfMark);
  return text;
}

// `text` with each `from` as `to`.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Signs of ours that are not in every LaTeX input encoding.
std::string with_latex_signs(std::string text) {
  text = replaced(std::move(text), "±", "$\\pm$");
  text = replaced(std::move(text), kAssumedMark, "$^{\\dagger}$");
  text = replaced(std::move(text), "≤", "$\\leq$");
  text = replaced(std::move(text), "≥", "$\\geq$");
  return replaced(std::move(text), kStoppedMark, "$^{\\ddagger}$");
}

Column epsilon_column(const std::string& accountant, std::optional<Claim> PrivacyClaim::*member,
                      std::optional<Claim> PrivacyClaim::*as_if) {
  Column column = decimal("epsilon (" + accountant + ")",
                          [=](const Row& row) { return epsilon_cell(row, member, as_if); });
  column.latex_heading = "{$\\varepsilon$ (" + accountant + ")}";
  return column;
}

// A column of what rows with a claim state about it.
Column claim_column(const std::string& heading, const std::function<std::string(const PrivacyClaim&)>& text) {
  return plain(heading, false, [text](const Row& row) {
    const std::string known = row.privacy ? text(*row.privacy) : "";
    return known.empty() ? kNothing : known;
  });
}

void add_privacy(const Table& table, std::vector<Column>& columns) {
  if (!any_private(table)) {
    columns.push_back(plain("epsilon", true, [](const Row& row) { return row.policy; }));
    columns.back().latex_heading = "$\\varepsilon$";
    return;
  }
  columns.push_back(epsilon_column("RDP", &PrivacyClaim::rdp, &PrivacyClaim::as_if_rdp));
  columns.push_back(epsilon_column("PLD", &PrivacyClaim::pld, &PrivacyClaim::as_if_pld));
  columns.push_back(
      claim_column("delta", [](const PrivacyClaim& claim) { return short_number(claim.settings.delta); }));
  columns.push_back(claim_column("unit", [](const PrivacyClaim& claim) { return claim.unit; }));
  columns.push_back(claim_column("adjacency", [](const PrivacyClaim& claim) { return claim.adjacency; }));
}

// Whether the sweep of that key concerns all algorithms.
bool is_shared(const Table& table, const std::string& key) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
    return std::any_of(row.setting.sweep.begin(), row.setting.sweep.end(),
                       [&](const auto& pair) { return pair.first == key; });
  });
}

Column swept_column(const std::string& key) {
  return plain(key, false, [key](const Row& row) { return swept_value(row, key).value_or(kNothing); });
}

std::string rounds_cell(const Row& row) {
  const bool stopped = row.privacy && !row.privacy->stopped.empty();
  return rounds_done(row) + (stopped ? kStoppedMark : "");
}

// A column of numbers that every row has.
Column number_column(const std::string& heading, double Row::*member, std::string (*text_of)(double)) {
  return plain(heading, true, [=](const Row& row) { return text_of(row.*member); });
}

// A column of counts that older records lack.
Column count_column(const std::string& heading, std::optional<double> Row::*member) {
  return plain(heading, true,
               [=](const Row& row) { return row.*member ? human_count(*(row.*member)) : kNothing; });
}

Column operations_column() {
  return plain("operations", true, [](const Row& row) -> std::string {
    if (!row.operations) return kNothing;
    return fmt::format("{}{}", row.operations_at_least ? "≥ " : "", human_count(*row.operations));
  });
}

void add(Shown shown, const Table& table, std::vector<Column>& columns) {
  switch (shown) {
    case Shown::kRounds:
      return columns.push_back(decimal("rounds", rounds_cell));
    case Shown::kSeeds:
      return columns.push_back(
          decimal("seeds", [](const Row& row) { return std::to_string(row.seeds.size()); }));
    case Shown::kResult:
      return add_results(table, columns);
    case Shown::kClients:
      for (const ClientColumn& what : client_columns_of(table))
        columns.push_back(client_column(what, table.plus_minus));
      return;
    case Shown::kEpsilon:
      return add_privacy(table, columns);
    case Shown::kExamples:
      return columns.push_back(count_column("examples", &Row::examples));
    case Shown::kGradients:
      return columns.push_back(count_column("gradients", &Row::gradients));
    case Shown::kOperations:
      return columns.push_back(operations_column());
    case Shown::kUplink:
      return columns.push_back(number_column("uplink", &Row::uplink_bytes, human_bytes));
    case Shown::kDownlink:
      return columns.push_back(number_column("downlink", &Row::downlink_bytes, human_bytes));
    case Shown::kTotalUplink:
      return columns.push_back(number_column("total uplink", &Row::total_uplink_bytes, human_bytes));
    case Shown::kTotalDownlink:
      return columns.push_back(number_column("total downlink", &Row::total_downlink_bytes, human_bytes));
    case Shown::kSeconds:
      return columns.push_back(decimal("seconds", [](const Row& row) { return human_seconds(row.seconds); }));
  }
}

std::vector<Column> reader_columns(const Table& table, const Selection& selection) {
  std::vector<Column> columns;
  for (const SettingPart& part : kSettingParts) {
    if (!varies(table, part)) continue;
    columns.push_back(plain(std::string(part.name), false,
                            [member = part.member](const Row& row) { return row.setting.*member; }));
  }
  for (const std::string& key : swept_keys(table)) {
    if (is_shared(table, key)) columns.push_back(swept_column(key));
  }
  columns.push_back(plain("algorithm", false, [](const Row& row) { return row.label; }));
  // What concerns one algorithm stands beside it.
  for (const std::string& key : swept_keys(table)) {
    if (!is_shared(table, key)) columns.push_back(swept_column(key));
  }
  for (const Shown shown : selection) add(shown, table, columns);
  return columns;
}

}  // namespace

CellGrid reader_grid(const Table& table, const Selection& selection, std::string Column::*heading,
                     std::function<std::string(const Row&)> Column::*cell) {
  CellGrid grid{.right_aligned = {}, .lines = std::vector<std::vector<std::string>>(table.rows.size() + 1)};
  for (const Column& column : reader_columns(table, selection)) {
    grid.right_aligned.push_back(column.right_aligned);
    grid.lines.front().push_back(column.*heading);
    std::vector<std::string> cells;
    for (const Row& row : table.rows) cells.push_back((column.*cell)(row));
    if (cell == &Column::latex)
      grid.latex_columns.emplace_back(column.decimal         ? siunitx_column(cells)
                                      : column.right_aligned ? "r"
                                                             : "l");
    for (std::size_t i = 0; i < cells.size(); ++i) grid.lines[i + 1].push_back(std::move(cells[i]));
  }
  return grid;
}

std::string result_text(const Result& result, PlusMinus shown) {
  const double mean = result.spread.mean;
  const std::optional<double> spread = behind(shown, result.spread);
  if (result.share) return percent_with_spread(mean, spread);
  return with_spread(measured(mean), spread ? std::optional(measured_beside(mean, *spread)) : std::nullopt);
}

std::string published_text(const Published& published) {
  const std::string text =
      with_spread(exact_number(published.mean),
                  published.std ? std::optional(exact_number(*published.std)) : std::nullopt);
  return published.mark.empty() ? text : fmt::format("{} {}", text, published.mark);
}

std::string markdown_escaped(std::string_view text) {
  std::string result;
  for (const char letter : one_line(text)) {
    // Only what would break a table: more would spoil the text for a terminal.
    if (letter == '|') result += '\\';
    result += letter;
  }
  return result;
}

std::string latex_escaped(std::string_view text) {
  std::string result;
  for (const char letter : one_line(text)) {
    switch (letter) {
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        result += '\\';
        result += letter;
        break;
      case '\\':
        result += "\\textbackslash{}";
        break;
      case '~':
        result += "\\textasciitilde{}";
        break;
      case '^':
        result += "\\textasciicircum{}";
        break;
      case '<':
        result += "\\textless{}";
        break;
      case '>':
        result += "\\textgreater{}";
        break;
      default:
        result += letter;
    }
  }
  return with_latex_signs(std::move(result));
}

}  // namespace fedarena::results
