#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/plot/choice_plot.hpp"
#include "results/plot/curves.hpp"
#include "results/plot/distribution_plots.hpp"
#include "results/plot/gnuplot.hpp"
#include "results/plot/roc_plot.hpp"
#include "tests/matchers.hpp"
#include "tests/scratch.hpp"

namespace fedarena::results {
namespace {

TEST(GnuplotString, HoldsNoSignThatGnuplotActsOn) {
  EXPECT_EQ(gnuplot_string("a `b` $(c) @d 'e' \"f\" \\g", kSvgTerminal),
            R"("a \140b\140 \044(c) \100d \047e\047 \042f\042 \134g")");
  EXPECT_EQ(gnuplot_string("FedAvg (50 %)", kSvgTerminal), "\"FedAvg (50 %)\"");
  EXPECT_EQ(gnuplot_string("a\nb\tc", kSvgTerminal), "\"a b c\"");
  EXPECT_EQ(gnuplot_string("a_b", kTikzTerminal), R"("a\134\137b")");
}

// gnuplot reads up to four digits of a number that begins with 0.
TEST(GnuplotString, HasNoDigitBehindANumber) {
  EXPECT_EQ(gnuplot_string("#12a3", kSvgTerminal), R"("\043\061\062a3")");
}

// Of this one, for private use, there is none.
TEST(GnuplotString, HasNoLetterInPixelsOfWhichNoFontIsHere) {
  constexpr const char* kText = "\u00e9 \u03b5 \U000F8FFD";
  EXPECT_EQ(gnuplot_string(kText, kPngTerminal), "\"\u00e9 \u03b5 \\134uf8ffd\"");
  EXPECT_EQ(gnuplot_string(kText, kPdfTerminal), gnuplot_string(kText, kPngTerminal));
  EXPECT_EQ(gnuplot_string(kText, kSvgTerminal), "\"\u00e9 \u03b5 \U000F8FFD\"");
}

// Texts that would make the file in one of the ways of gnuplot, a shell or TeX, in and out of all quotes.
std::vector<std::string> hostile_texts(const std::filesystem::path& file) {
  const std::string touch = fmt::format("touch {}", file.string());
  const std::string call = fmt::format("system('{}')", touch);
  return {fmt::format("`{}`", touch),
          fmt::format("$({})", touch),
          fmt::format("'`{}`", touch),
          fmt::format("''`{}`''", touch),
          fmt::format("\"`{}`\"", touch),
          fmt::format("\\\"`{}`\\", touch),
          fmt::format("\\'; {}; '", call),
          fmt::format("\".{}.\"", call),
          fmt::format("\n!{}\n", touch),
          fmt::format("\nEND\n!{}\ne\n", touch),
          fmt::format("\r\nset output '{}'\r\nplot x\r\n", file.string()),
          fmt::format("#\" ' \x01\x1b]0;{}\x07\x9b", touch),
          fmt::format("@GPVAL_TERM @x ; {}", call),
          fmt::format("}}^{{a}}_b &{{c}} ~d{{.8-}} {{/Bold e}} @f \\142 \\U+60 %s%n {}", call),
          fmt::format("\\immediate\\write18{{{}}} ^^5cinput $x$ %", touch),
          std::string("\xc3\x28\xff \0 \xe2\x80\xae", 10)};
}

class HostileTexts : public testing::TestWithParam<Terminal> {
 protected:
  // gnuplot takes the script for what it is meant to be, or run_gnuplot() throws.
  void draw(const std::string& script) const {
    static const std::map<Terminal, const char*> kSigns = {{kPngTerminal, "PNG"},
                                                           {kSvgTerminal, "</svg>"},
                                                           {kPdfTerminal, "%PDF"},
                                                           {kTikzTerminal, "\\begin{tikzpicture}"}};
    EXPECT_THAT(script, Not(testing::AnyOf(HasSubstr("`"), HasSubstr("@"))));
    EXPECT_THAT(run_gnuplot(script), HasSubstr(kSigns.at(GetParam())));
    EXPECT_FALSE(std::filesystem::exists(file_)) << script;
  }
  std::string all() const { return fmt::format("{}", fmt::join(texts_, "")); }

  test::Scratch folder_;
  std::filesystem::path file_ = folder_ / "RAN";
  std::vector<std::string> texts_ = hostile_texts(file_);
};

// A curve for each text, and all of them in every other place for a text.
TEST_P(HostileTexts, AreNotRunFromCurves) {
  for (const std::size_t panels : {1U, 2U}) {
    Curves curves{
        .x = curve_axes().front(), .y = observed_quantity(all()), .title = all(), .panels = {}, .notes = {}};
    curves.panels.resize(panels, {.title = all(), .curves = {}});
    for (const std::string& text : texts_) {
      curves.panels.back().curves.push_back(
          {.name = text, .seeds = {1}, .points = {{.round = 1, .x = 1, .y = 2, .std = {}}}});
    }
    curves.panels.front().curves = curves.panels.back().curves;
    draw(curves_script(curves, {}, GetParam()));
  }
}

TEST_P(HostileTexts, AreNotRunFromCharacteristics) {
  std::vector<NamedRoc> curves;
  for (const std::string& text : texts_) {
    curves.push_back({text, roc_curve(std::vector{4.0, 2.0}, std::vector{3.0, 1.0}).value()});
  }
  draw(roc_script(curves, GetParam()));
}

TEST_P(HostileTexts, AreNotRunFromHeatMaps) {
  for (const std::string& text : texts_) draw(heat_map_script({.title = text, .counts = {{1}}}, GetParam()));
}

TEST_P(HostileTexts, AreNotRunFromChoices) {
  RoundRecord round;
  round.round = 1;
  round.choices = {{0, 0}, {1, 1}};
  const Choices choices = choices_of({&round, 1});
  for (const std::string& text : texts_) draw(choices_script({text, choices}, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Terminals, HostileTexts,
                         testing::Values(kPngTerminal, kSvgTerminal, kPdfTerminal, kTikzTerminal),
                         [](const auto& terminal) { return std::string(terminal.param); });

// What gnuplot would read as markup, a macro or a command is printed as it is.
TEST(GnuplotString, IsPrintedAsItIs) {
  const std::string title = "a_b^c @x `d` 'e' \"f\" #1 \\n {/Bold g} ~h{.8-} 100%";
  EXPECT_THAT(run_gnuplot(heat_map_script({.title = title, .counts = {{1}}}, kSvgTerminal)),
              HasSubstr(">" + title + "</text>"));
  EXPECT_THAT(run_gnuplot(heat_map_script({.title = "<script>&amp;", .counts = {{1}}}, kSvgTerminal)),
              HasSubstr(">&lt;script>&amp;amp;</text>"));
}

}  // namespace
}  // namespace fedarena::results
