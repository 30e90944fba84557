#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace fedarena::results {

/// gnuplot's name for a kind of picture.
using Terminal = std::string_view;
inline constexpr Terminal kPngTerminal = "pngcairo";
inline constexpr Terminal kSvgTerminal = "svg";
inline constexpr Terminal kPdfTerminal = "pdfcairo";
inline constexpr Terminal kTikzTerminal = "tikz";

/// What the ending of a file may be, for maps of pixels and for plots of lines (.tex: TikZ, which has no
/// pixels).
inline constexpr std::initializer_list<const char*> kMapEndings = {".png", ".svg", ".pdf"};
inline constexpr std::initializer_list<const char*> kLineEndings = {".png", ".svg", ".pdf", ".tex"};

/// The kind of a plot by its file's ending, which is one of `kLineEndings`.
Terminal terminal_of(const std::filesystem::path& file);

/// The lines that open a script: white background, one font, texts as they are (no markup), `width` x
/// `height` pixels on a screen and six inches a 1,200 pixels in print.
std::string terminal_lines(Terminal terminal, int width, int height);

/// The text, of one line, with every letter that no font of this machine has as its number, such as \u6570,
/// in pictures of pixels and in PDF: Pango draws a box in its place, and scaled as gnuplot does it covers
/// half of the plot.
std::string with_fonts_here(std::string_view text, Terminal terminal);

/// A text as gnuplot's string, with_fonts_here(), for TikZ as TeX reads it. Every text of a script that is
/// not a constant of the code goes through here: gnuplot runs what stands between backticks and replaces what
/// follows an @, so the string holds letters, digits and a few harmless signs, and everything else as octal
/// numbers.
std::string gnuplot_string(std::string_view text, Terminal terminal);

/// What gnuplot, as a child process, writes to its standard output for a script. An Error when it is not
/// installed, with the package to install, and when it fails, with its own words.
std::string run_gnuplot(std::string_view script);

}  // namespace fedarena::results
