#include "results/text/text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "accounting/json_text.hpp"
#include "harness/digest/sha256.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {

std::size_t display_width(std::string_view text) {
  const auto starts_code_point = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point));
}

std::string short_hash(const std::string& hash) {
  constexpr std::size_t kShownDigits = 12;
  return hash.substr(0, kShownDigits);
}

std::string value_in_words(const std::string& text) {
  const std::string inside = text.size() > 2 ? text.substr(1, text.size() - 2) : "";  // of quotes
  return is_sha256(inside) ? fmt::format("\"{}\"", short_hash(inside)) : text;
}

std::string padded(std::string_view text, std::size_t width, bool right_aligned) {
  const std::size_t used = display_width(text);
  const std::string spaces(width > used ? width - used : 0, ' ');
  return right_aligned ? spaces + std::string(text) : std::string(text) + spaces;
}

std::string in_one_line(const Error& error) {
  Complaint complaint = error.complaint();
  std::string remedy = one_line(std::exchange(complaint.remedy, {}));
  std::string text = one_line(Error(std::move(complaint)).what());
  if (remedy.empty()) return text;
  if ('a' <= remedy.front() && remedy.front() <= 'z') remedy.front() += 'A' - 'a';
  return text + (text.ends_with('?') ? " " : ". ") + remedy;
}

std::string in_one_line(const Error& error, const std::string& path) {
  const std::string line = in_one_line(error);
  return line.find(path) == std::string::npos ? path + ": " + line : line;
}

std::vector<std::size_t> column_widths(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  return widths;
}

std::string aligned_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                         const std::vector<bool>& right_aligned) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += padded(cells[i], widths[i], i < right_aligned.size() && right_aligned[i]) + "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string aligned_lines(const std::vector<std::vector<std::string>>& lines,
                          const std::vector<bool>& right_aligned) {
  const std::vector<std::size_t> widths = column_widths(lines);
  std::string text;
  for (const auto& cells : lines) text += aligned_line(cells, widths, right_aligned);
  return text;
}

std::string seeds_text(std::span<const std::int64_t> seeds) {
  return fmt::format("{} {}", seeds.size() == 1 ? "seed" : "seeds", fmt::join(seeds, ", "));
}

std::string range_text(std::int64_t first, std::int64_t last) {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(',');
    std::string_view part = text.substr(0, end);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    parts.push_back(part.substr(0, part.find_last_not_of(' ') + 1));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  if (!quoted) return std::string(text);
  try {
    return parse_json<nlohmann::json>(text).get<std::string>();
  } catch (const nlohmann::json::exception&) {  // of a file that was edited
    return std::string(text.substr(1, text.size() - 2));
  }
}

void append_notes(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const std::string& note : more) {
    std::string& line = notes.emplace_back(one_line(note));
    while (line.ends_with('.')) line.pop_back();
  }
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& raw : fields) {
    if (&raw != &fields.front()) text += ',';
    const std::string field = printable(raw);  // names of folders are any bytes
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      text += field;
      continue;
    }
    text += '"';
    for (const char letter : field) text.append(letter == '"' ? 2 : 1, letter);
    text += '"';
  }
  return text + "\n";
}

std::string csv_number(std::optional<double> number) { return number ? exact_number(*number) : ""; }

void check_labels(const Labels& wanted, const std::set<std::string>& known, std::string_view option) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& label : wanted) {
    if (!known.contains(label))
      throw unknown_name(fmt::format("{}: no finished run is labelled \"{}\"", option, label), label, names);
  }
}

bool wants(const Labels& wanted, const std::string& label) {
  return wanted.empty() || contains(wanted, label);
}

}  // namespace fedarena::results
