#include "harness/config/syntax/lexing.hpp"

#include <algorithm>

#include "fedarena/base/text.hpp"

#include "harness/config/syntax/document.hpp"

namespace fedarena::config {
namespace {

// toml++ destroys nested tables by recursion, and bounds the nesting of values but not that of dotted keys.
constexpr int kDeepestKey = 64;

Place place_of(std::string_view text, std::size_t offset, const std::string& file) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  // Columns count characters, so that they agree with toml++ and with editors.
  const auto column =
      std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_start), before.end(),
                    [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; });
  return {file, static_cast<int>(line), static_cast<int>(column) + 1};
}

// Begins a key part: a bare one or a quoted one.
bool begins_key(char letter) {
  return is_letter_or_digit(letter) || std::string_view("-_\"'").find(letter) != std::string_view::npos;
}

// Walks over the text outside strings and comments. It follows a valid text exactly; of an invalid one it may
// lose track only beyond the first mistake, which the parser does not pass.
class Walk {
 public:
  Walk(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void run() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      if (static_cast<unsigned char>(letter) >= 0x80) {
        refuse("a letter beyond ASCII outside quotes", "such letters within quotes and comments");
      }
      if (letter == '"' || letter == '\'') {
        skip_string(letter);
        fresh_line_ = false;
      } else if (letter == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        step(letter);
        ++at_;
      }
    }
  }

 private:
  void step(char letter) {
    if (letter == '\n') {
      dots_ = 0;
      in_header_ = false;
      fresh_line_ = open_.empty();
    } else if (letter == '[' && fresh_line_) {
      check_header();
      in_header_ = true;
    } else if (!in_header_ && (letter == '[' || letter == '{')) {
      open_ += letter;
    } else if (!in_header_ && (letter == ']' || letter == '}')) {
      close(letter);
    } else if (letter == ',' || letter == '=') {
      dots_ = 0;
    } else if (letter == '.' && ++dots_ > kDeepestKey) {
      refuse(fmt::format("more than {} dots in one key", kDeepestKey), "keys of one or two parts");
    }
    if (letter != '\n' && letter != ' ' && letter != '\t' && letter != '\r') fresh_line_ = false;
  }

  // toml++ takes for granted that a name follows.
  void check_header() const {
    std::size_t name = at_ + (text_.substr(at_).starts_with("[[") ? 2 : 1);
    name = std::min(text_.find_first_not_of(" \t", name), text_.size());
    if (name == text_.size() || !begins_key(text_[name]))
      refuse("a header without a name", "[section] or [[section]]");
  }

  // toml++ takes for granted that no brace stands where a list ends.
  void close(char letter) {
    if (open_.empty()) return;
    const char opened = open_.back();
    const char expected = opened == '[' ? ']' : '}';
    if (letter != expected) {
      refuse(fmt::format("'{}' closes '{}'", letter, opened), fmt::format("'{}'", expected));
    }
    open_.pop_back();
  }

  // Moves beyond the string; beyond the line's end where a string of one line is not closed.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool long_form = text_.substr(at_).starts_with(three);
    at_ += long_form ? 3 : 1;
    while (at_ < text_.size()) {
      if (text_[at_] == '\\' && quote == '"') {
        at_ += 2;
      } else if (long_form && text_.substr(at_).starts_with(three)) {
        at_ += 3;
        // Up to two quotes may stand before the closing three.
        for (int more = 0; more < 2 && at_ < text_.size() && text_[at_] == quote; ++more) ++at_;
        return;
      } else if (!long_form && (text_[at_] == quote || text_[at_] == '\n')) {
        ++at_;
        return;
      } else {
        ++at_;
      }
    }
  }

  [[noreturn]] void refuse(std::string found, std::string allowed) const {
    complain(
        {.place = place_of(text_, at_, file_), .found = std::move(found), .allowed = std::move(allowed)});
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::string open_;        // brackets of lists and inline tables
  int dots_ = 0;            // in this key
  bool fresh_line_ = true;  // nothing but blanks since the line began, outside lists
  bool in_header_ = false;
};

}  // namespace

void check_text(std::string_view text, const std::string& file) {
  const std::size_t invalid = first_invalid_utf8(text);
  if (invalid < text.size()) {
    complain({.place = place_of(text, invalid, file),
              .found = fmt::format("byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(text[invalid])),
              .allowed = "text in UTF-8"});
  }
  Walk(text, file).run();
}

}  // namespace fedarena::config
