#include "results/text/markup.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

using Replacement = std::pair<std::string_view, std::string_view>;

// `text` with what begins with the first of a pair as its second.
std::string replaced(std::string_view text, std::span<const Replacement> replacements) {
  std::string result;
  while (!text.empty()) {
    const auto found = std::ranges::find_if(
        replacements, [&](const Replacement& replacement) { return text.starts_with(replacement.first); });
    result += found == replacements.end() ? text.substr(0, 1) : found->second;
    text.remove_prefix(found == replacements.end() ? 1 : found->first.size());
  }
  return result;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  constexpr std::array<Replacement, 5> kSigns = {
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}}};
  return replaced(printable(text), kSigns);
}

std::string html_element(std::string_view name, std::string_view text, std::string_view attributes) {
  return fmt::format("<{}{}{}>{}</{}>", name, attributes.empty() ? "" : " ", attributes, html_escaped(text),
                     name);
}

std::string json_for_script(std::string_view json) {
  // Inside JSON these stand in texts alone. The first would let a text end the script.
  constexpr std::array<Replacement, 3> kSigns = {{{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}}};
  return replaced(json, kSigns);
}

std::string markdown_escaped(std::string_view text) {
  // Only what would break a table: more would spoil the text for a terminal.
  constexpr std::array<Replacement, 1> kSigns = {{{"|", "\\|"}}};
  return replaced(one_line(text), kSigns);
}

std::string with_paired_quotes(std::string_view text) {
  std::string paired;
  bool opens = true;
  for (const char letter : text) {
    if (letter != '"') {
      paired += letter;
      continue;
    }
    paired += opens ? "“" : "”";
    opens = !opens;
  }
  return paired;
}

std::string latex_escaped(std::string_view text) {
  constexpr std::array<Replacement, 21> kSigns = {{{"&", "\\&"},
                                                   {"%", "\\%"},
                                                   {"$", "\\$"},
                                                   {"#", "\\#"},
                                                   {"_", "\\_"},
                                                   {"{", "\\{"},
                                                   {"}", "\\}"},
                                                   {"\\", "\\textbackslash{}"},
                                                   {"~", "\\textasciitilde{}"},
                                                   {"^", "\\textasciicircum{}"},
                                                   {"<", "\\textless{}"},
                                                   {">", "\\textgreater{}"},
                                                   {"`", "\\textasciigrave{}"},
                                                   {"|", "\\textbar{}"},
                                                   // Signs of ours that are not in every input encoding.
                                                   {"“", "``"},
                                                   {"”", "''"},
                                                   {"±", "$\\pm$"},
                                                   {"†", "$^{\\dagger}$"},
                                                   {"‡", "$^{\\ddagger}$"},
                                                   {"≤", "$\\leq$"},
                                                   {"≥", "$\\geq$"}}};
  std::string escaped = replaced(with_paired_quotes(one_line(text)), kSigns);
  // Or two hyphens would become a dash.
  for (std::size_t at = escaped.find("--"); at != std::string::npos; at = escaped.find("--", at))
    escaped.insert(at + 1, "{}");
  return escaped;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      three = three << 8U | (at + i < bytes.size() ? static_cast<std::uint8_t>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += at + i > bytes.size() ? '=' : kDigits[three >> (18U - 6U * i) & 63U];
    }
  }
  return text;
}

}  // namespace fedarena::results
