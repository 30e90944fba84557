#include "results/plot/gnuplot.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/child_program.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "results/text/markup.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

[[noreturn]] void fail(std::string found, std::string remedy) {
  throw Error(Complaint{.found = std::move(found), .remedy = std::move(remedy)});
}

bool has_font(char32_t code) {
  constexpr char32_t kLastOfLatin = 0x24f;
  if (code <= kLastOfLatin) return true;
  const auto fonts =
      call_program({"fc-list", fmt::format(":charset={:x}", static_cast<std::uint32_t>(code))});
  return !fonts || !fonts->out.empty();  // without fontconfig's own program nobody knows
}

}  // namespace

Terminal terminal_of(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".png") return kPngTerminal;
  if (ending == ".svg") return kSvgTerminal;
  if (ending == ".pdf") return kPdfTerminal;
  if (ending == ".tex") return kTikzTerminal;
  throw Bug(fmt::format("no plot is written to a file that ends in \"{}\"", ending));
}

std::string terminal_lines(Terminal terminal, int width, int height) {
  constexpr double kPixelsPerInch = 200;
  std::string settings;
  if (terminal == kTikzTerminal) {
    settings = fmt::format("size {}in,{}in", width / kPixelsPerInch, height / kPixelsPerInch);
  } else if (terminal == kPdfTerminal) {
    settings = fmt::format("noenhanced size {}in,{}in font 'sans,9' background '#ffffff'",
                           width / kPixelsPerInch, height / kPixelsPerInch);
  } else {
    settings = fmt::format("noenhanced size {},{} font 'sans,20' background '#ffffff'", width, height);
  }
  return fmt::format("set encoding utf8\nset terminal {} {}\n", terminal, settings);
}

std::string with_fonts_here(std::string_view text, Terminal terminal) {
  // TeX and viewers of SVG bring fonts of their own.
  if (terminal == kTikzTerminal || terminal == kSvgTerminal) return std::string(text);
  std::string result;
  while (!text.empty()) {
    std::size_t length = 1;
    while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) ++length;
    const std::string_view letter = text.substr(0, length);
    const char32_t code = code_point(letter);
    result +=
        has_font(code) ? std::string(letter) : fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
    text.remove_prefix(length);
  }
  return result;
}

std::string gnuplot_string(std::string_view text, Terminal terminal) {
  constexpr std::string_view kHarmless = " .,:;=+-/()%<>";
  std::string result = "\"";
  bool after_number = false;  // gnuplot would count a digit that follows as part of the number
  const std::string letters =
      terminal == kTikzTerminal ? latex_escaped(text) : with_fonts_here(one_line(text), terminal);
  for (const char letter : letters) {
    const auto code = static_cast<unsigned char>(letter);
    const bool digit = '0' <= letter && letter <= '9';
    const bool plain = (digit && !after_number) || ('a' <= letter && letter <= 'z') ||
                       ('A' <= letter && letter <= 'Z') || code >= 0x80 ||
                       kHarmless.find(letter) != std::string_view::npos;
    result += plain ? std::string(1, letter) : fmt::format("\\{:03o}", code);
    after_number = !plain;
  }
  return result + "\"";
}

std::string run_gnuplot(std::string_view script) {
  // The user's own settings must not change a figure.
  const auto gnuplot = call_program({"gnuplot", "--default-settings"}, {.input = script});
  if (!gnuplot) {
    fail("gnuplot, which draws the plots, is not installed",
         "Install it (Debian and Ubuntu: apt-get install gnuplot-nox), or plot the output of --format json.");
  }
  if (gnuplot->exit_code != 0 || gnuplot->out.empty()) {
    fail(fmt::format("gnuplot failed: {}", one_line(gnuplot->err)),
         "It must know the terminals pngcairo and svg; `gnuplot --version` should say 5.2 or newer.");
  }
  return gnuplot->out;
}

}  // namespace fedarena::results
