#include "results/text/markup.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "results/record/json_fields.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// The JSON writer replaces what is not UTF-8, and its reader gives the text back.
std::string as_utf8(std::string_view text) {
  const bool ascii =
      std::ranges::all_of(text, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
  return ascii ? std::string(text) : Json::parse(json_text(Json(text), -1)).get<std::string>();
}

bool is_control(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return (code < 0x20 && byte != '\n' && byte != '\t') || code == 0x7F;
}

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
  std::string utf8 = as_utf8(text);
  std::ranges::replace_if(utf8, is_control, ' ');
  return replaced(utf8, kSigns);
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

std::string latex_escaped(std::string_view text) {
  constexpr std::array<Replacement, 17> kSigns = {{{"&", "\\&"},
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
                                                   // Signs of ours that are not in every input encoding.
                                                   {"±", "$\\pm$"},
                                                   {"†", "$^{\\dagger}$"},
                                                   {"‡", "$^{\\ddagger}$"},
                                                   {"≤", "$\\leq$"},
                                                   {"≥", "$\\geq$"}}};
  return replaced(one_line(text), kSigns);
}

}  // namespace fedarena::results
