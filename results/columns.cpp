#include "results/columns.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "results/number_format.hpp"
#include "results/text.hpp"

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

std::string accuracy(const Row& row, std::string_view plus_minus) {
  if (!row.accuracy_std) return percent(row.accuracy_mean);
  return fmt::format("{}{}{}", percent(row.accuracy_mean), plus_minus, percent(*row.accuracy_std));
}

std::string markdown_accuracy(const Row& row) {
  const std::string text = accuracy(row, " ± ");
  return row.best ? fmt::format("**{}**", text) : text;
}

std::string latex_accuracy(const Row& row) {
  const std::string text = accuracy(row, " \\pm ");
  return row.best ? fmt::format("$\\mathbf{{{}}}$", text) : fmt::format("${}$", text);
}

std::string latex_epsilon(const Row& row) {
  if (row.epsilon && std::isinf(*row.epsilon)) return "$\\infty$";
  return epsilon_text(row.epsilon);
}

Column accuracy_column() {
  return {.markdown_heading = "accuracy (%)",
          .latex_heading = "accuracy (\\%)",
          .right_aligned = true,
          .markdown = markdown_accuracy,
          .latex = latex_accuracy};
}

Column epsilon_column() {
  return {.markdown_heading = "epsilon",
          .latex_heading = "$\\varepsilon$",
          .right_aligned = true,
          .markdown = [](const Row& row) { return epsilon_text(row.epsilon); },
          .latex = latex_epsilon};
}

}  // namespace

std::vector<Column> reader_columns(const Table& table) {
  std::vector<Column> columns;
  for (const SettingPart& part : kSettingParts) {
    if (!varies(table, part)) continue;
    columns.push_back(plain(std::string(part.name), false,
                            [member = part.member](const Row& row) { return row.setting.*member; }));
  }
  columns.push_back(plain("algorithm", false, [](const Row& row) { return row.label; }));
  columns.push_back(plain("rounds", true, [](const Row& row) { return std::to_string(row.rounds); }));
  columns.push_back(plain("seeds", true, [](const Row& row) { return std::to_string(row.seeds.size()); }));
  columns.push_back(accuracy_column());
  columns.push_back(epsilon_column());
  columns.push_back(plain("uplink", true, [](const Row& row) { return human_bytes(row.uplink_bytes); }));
  columns.push_back(plain("downlink", true, [](const Row& row) { return human_bytes(row.downlink_bytes); }));
  columns.push_back(plain("seconds", true, [](const Row& row) { return human_seconds(row.seconds); }));
  return columns;
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
  return result;
}

}  // namespace fedarena::results
