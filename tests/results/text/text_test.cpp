// Lines, orders and escapes of text.
#include "results/text/text.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "results/text/markup.hpp"
#include "results/text/natural_order.hpp"
#include "tests/matchers.hpp"

namespace fedarena::results {
namespace {

TEST(Text, CountsCodePointsNotBytes) {
  EXPECT_EQ(display_width("1 ± 2"), 5U);
  EXPECT_EQ(padded("±", 3, true), "  ±");
  EXPECT_EQ(padded("±", 3, false), "±  ");
  EXPECT_EQ(padded("long", 3, false), "long");
}

TEST(Text, AlignsLinesByTheWidestCellOfEachColumn) {
  EXPECT_EQ(
      aligned_lines({{"name", "bytes", "note"}, {"μ", "12"}, {"fedavg", "1024", "large"}}, {false, true}),
      "name    bytes  note\n"
      "μ          12\n"
      "fedavg   1024  large\n");
  EXPECT_EQ(aligned_lines({}, {true}), "");
  EXPECT_EQ(aligned_line({"a", ""}, {3, 5}, {}), "a\n") << "no spaces at its end";
  EXPECT_EQ(aligned_line({"", "b"}, {3, 2}, {false, true}), "      b\n");
}

TEST(Text, MakesNotesOfSentences) {
  std::vector<std::string> notes = {"first"};
  append_notes(notes, {"one. Two.", "over\ntwo lines", "said"});
  EXPECT_THAT(notes, ElementsAre("first", "one. Two", "over two lines", "said"));
}

TEST(CsvLine, QuotesWhatWouldBreakIt) {
  EXPECT_EQ(csv_line({"a", "b,c", "d\"e", "", "f\ng"}), "a,\"b,c\",\"d\"\"e\",,\"f\ng\"\n");
}

TEST(InOneLine, MakesASentenceOfTheRemedy) {
  EXPECT_EQ(in_one_line(Error(Complaint{.found = "a\nand b", .allowed = "c", .remedy = "name only one"})),
            "a and b; allowed: c. Name only one");
  EXPECT_EQ(in_one_line(Error(Complaint{.found = "d", .nearest = "e", .remedy = "`f` lists them:\ng"})),
            "d; did you mean \"e\"? `f` lists them: g");
  EXPECT_EQ(in_one_line(Error(Complaint{.found = "h"})), "h");
}

// In order; every pair is checked both ways.
TEST(NaturalOrder, CountsAsPeopleDo) {
  std::vector<std::string> ordered = {""};
  std::istringstream names(
      "0 0.05 0.1 1 1.25 1.5 1.5.2 2 10 99999999999999999999 100000000000000000000 a a/x a-b/x fedavg "
      "fedavg-seed-2 fedavg-seed-10 "
      "fedavg-seed-10b fedprox z01 z1 z2 \xC3\xA9");
  for (std::string name; names >> name;) ordered.push_back(name);
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j)
      EXPECT_EQ(natural_less(ordered[i], ordered[j]), i < j) << ordered[i] << " and " << ordered[j];
  }
}

TEST(NaturalOrder, SortsAnyPermutationAlike) {
  const std::vector<std::string> expected = {"x1y", "x01y2", "x1y02", "x1y2", "x01y10"};
  std::vector<std::string> names = expected;
  std::ranges::sort(names);
  do {
    std::vector<std::string> sorted = names;
    std::ranges::sort(sorted, natural_less);
    EXPECT_EQ(sorted, expected);
  } while (std::ranges::next_permutation(names).found);
}

TEST(NaturalOrder, ComparesNumbersAsNumbers) {
  EXPECT_LT(compare_values("0.02", "0.1"), 0);
  EXPECT_GT(compare_values("1e-1", "0.02"), 0);
  EXPECT_LT(compare_values("seed-2", "seed-10"), 0);
  EXPECT_EQ(compare_values("nan", "nan"), 0);
  // Whatever is not a number is behind those, so that there is one order.
  EXPECT_LT(compare_values("1e-05", "0.01"), 0);
  EXPECT_LT(compare_values("0.01", "0.5x"), 0);
  EXPECT_LT(compare_values("1e-05", "0.5x"), 0);
  EXPECT_EQ(as_number("0.1 s"), std::nullopt);
}

TEST(Html, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(html_escaped("<b a=\"1\" c='2'>&amp;</b>"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(html_escaped("94.07 ± 0.26†"), "94.07 ± 0.26†");
  EXPECT_EQ(html_element("p", "1 < 2"), "<p>1 &lt; 2</p>");
  EXPECT_EQ(html_element("p", "x", "class=\"note\""), "<p class=\"note\">x</p>");
}

TEST(Html, KeepsLinesDropsOtherControlsAndReplacesWhatIsNotUtf8) {
  EXPECT_EQ(html_escaped("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(html_escaped(std::string("a\0b\x1B[31m\x7F", 9)), "a b [31m ");
  // A lone byte of a longer code, and an overlong "<".
  EXPECT_EQ(html_escaped("a\xC3"), "a\xEF\xBF\xBD");
  EXPECT_THAT(html_escaped("\xC0\xBCscript"), Not(HasSubstr("\xC0")));
}

TEST(Html, JsonCannotEndItsScript) {
  const nlohmann::json json = {{"name", "</script><!--<script>&amp;\u2028"}};
  const std::string text = json_for_script(json.dump());
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_THAT(text, Not(HasSubstr("&")));
  EXPECT_EQ(nlohmann::json::parse(text), json);
}

TEST(LatexText, EscapesItsSpecialCharactersAndOurSigns) {
  EXPECT_EQ(latex_escaped("&%$#_{}~^\\<>\n±†‡≤≥"),
            "\\&\\%\\$\\#\\_\\{\\}\\textasciitilde{}\\textasciicircum{}\\textbackslash{}\\textless{}"
            "\\textgreater{} $\\pm$$^{\\dagger}$$^{\\ddagger}$$\\leq$$\\geq$");
  EXPECT_EQ(latex_escaped("a--b---c|-"), "a-{}-b-{}-{}-c\\textbar{}-") << "no dashes";
  EXPECT_EQ(latex_escaped(R"("a", "b")"), "``a'', ``b''");
}

TEST(SplitAtCommas, LeavesOutSpacesAroundTheParts) {
  EXPECT_THAT(split_at_commas(" a, b c ,,d"), ElementsAre("a", "b c", "", "d"));
  EXPECT_THAT(split_at_commas(""), ElementsAre(""));
}

}  // namespace
}  // namespace fedarena::results
