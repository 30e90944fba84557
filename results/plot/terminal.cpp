#include "results/plot/terminal.hpp"

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/text/markup.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
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
    settings = fmt::format("size {}in,{}in font 'sans,9' background '#ffffff'", width / kPixelsPerInch,
                           height / kPixelsPerInch);
  } else {
    settings = fmt::format("size {},{} font 'sans,20' background '#ffffff'", width, height);
  }
  return fmt::format("set encoding utf8\nset terminal {} {}\n", terminal, settings);
}

std::string quoted(std::string_view text, Terminal terminal) {
  std::string result = "\"";
  for (const char letter : terminal == kTikzTerminal ? latex_escaped(text) : one_line(text)) {
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + "\"";
}

}  // namespace fedarena::results
