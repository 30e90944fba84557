// Cells of tables for readers, and how Markdown, LaTeX and HTML write them.
#include "results/write/writers.hpp"

#include <string>
#include <vector>

#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena::results {
namespace {

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from) + from.size();
  return text.substr(begin, text.find(to, begin) - begin);
}

ReaderTable column_of(const std::vector<Cell>& cells, Align align = Align::kPoint) {
  return {.grid = {{"heading", align, cells}}};
}

std::string latex_cell_of(const Cell& cell, Align align = Align::kPoint) {
  return between(to_latex(column_of({cell}, align)), "\\midrule\n    ", " \\\\\n");
}

std::string latex_column_of(const std::vector<Cell>& cells) {
  return between(to_latex(column_of(cells)), "\\begin{tabular}{", "}\n");
}

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

Cell best(Cell cell) {
  cell.best = true;
  return cell;
}

TEST(Cells, AreSortedByTheNumberAsPrinted) {
  EXPECT_EQ(number_cell("94.07", "0.26").value, 94.07);
  EXPECT_EQ(number_cell("20", "", "/30").value, 20);
  EXPECT_EQ(number_cell("inf", "", "†").value, kInfinity);
  EXPECT_EQ(Cell(scaled_count(2e6), "≥ ").value, 2e6);
  EXPECT_EQ(Cell("20 words").value, std::nullopt);
}

TEST(Cells, AreBareNumbersInLatexOrStandInBraces) {
  const auto expect = [](const Cell& cell, const char* text) { EXPECT_EQ(latex_cell_of(cell), text); };
  expect(number_cell("20"), "20");
  expect(number_cell("72.00", "1.00"), "72.00 \\pm 1.00");
  expect(number_cell("45.25", "6.9", " [1]"), "45.25 \\pm 6.9{ [1]}");
  expect(number_cell("2.79", "", "†"), "2.79{$^{\\dagger}$}");
  expect(number_cell("8.21", "", " (as if 1.20*)"), "8.21{ (as if 1.20*)}");
  expect(number_cell("72.00", "nan"), "72.00{ $\\pm$ nan}");
  expect("-", "{-}");
  expect("", "{}");
  expect("50%", "{50\\%}");
  expect(number_cell("inf"), "{$\\infty$}");
  expect(number_cell("inf", "", " (as if inf*)"), "{$\\infty$ (as if inf*)}");
  expect(number_cell("nan", "nan"), "{nan $\\pm$ nan}");
  expect(number_cell("14-15"), "{14-15}");
  expect(number_cell("1e-5"), "{1e-5}");
  expect(best(number_cell("72.00", "1.00")), "\\bfseries 72.00 \\pm 1.00");
  expect(best(number_cell("inf")), "{\\bfseries $\\infty$}");
  EXPECT_EQ(latex_cell_of(number_cell("+3.40", "0.55"), Align::kFormula), "$+3.40 \\pm 0.55$");
  EXPECT_EQ(latex_cell_of(number_cell("+14.00"), Align::kFormula), "$+14.00$");
  EXPECT_EQ(latex_cell_of("-", Align::kFormula), "-");
}

TEST(Cells, HaveRoomForTheLongestNumberOfTheirColumn) {
  EXPECT_EQ(latex_column_of({number_cell("20"), number_cell("5")}), "S[table-format=2]");
  EXPECT_EQ(latex_column_of({number_cell("72.00"), "-", number_cell("100.00")}), "S[table-format=3.2]");
  EXPECT_EQ(latex_column_of({number_cell("72.00", "1.00"), best(number_cell("7.00", "11.20"))}),
            "S[table-format=2.2(4)]");
  EXPECT_EQ(latex_column_of({number_cell("0.2188", "0.0442")}), "S[table-format=1.4(5)]");
  EXPECT_EQ(latex_column_of({number_cell("0.2188", "0.0442"), number_cell("870782", "123456")}),
            "S[table-format=6.4(6.4)]");
  EXPECT_EQ(latex_column_of({number_cell("45.25", "6.9"), number_cell("45", "7")}), "S[table-format=2.2(3)]");
  EXPECT_EQ(latex_column_of({number_cell("2.79", "", "†"), number_cell("inf")}),
            "S[table-format=1.2, table-space-text-post={$^{\\dagger}$}]");
  EXPECT_EQ(latex_column_of({"none", "-"}), "r") << "no numbers";
}

TEST(Writers, NeedSiunitxForAlignedPointsAlone) {
  const std::string latex = to_latex(column_of({number_cell("1.5")}));
  EXPECT_THAT(
      latex,
      StartsWith("% Needs \\usepackage{booktabs, graphicx, siunitx}.\n\\begin{table}\n  \\centering\n  "
                 "\\sisetup{"));
  EXPECT_THAT(latex, HasSubstr("    {heading} \\\\\n"));
  const std::string bare = to_latex(column_of({number_cell("1.5")}, Align::kNumber));
  EXPECT_THAT(bare, StartsWith("% Needs \\usepackage{booktabs, graphicx}.\n"));
  EXPECT_THAT(bare, Not(HasSubstr("sisetup")));
  EXPECT_THAT(bare, HasSubstr("    heading \\\\\n"));
}

TEST(Writers, EscapeEveryText) {
  const std::string special = "a|b & **x** <i>";
  const ReaderTable table{.caption = special,
                          .grid = {{special, Align::kText, {special}},
                                   {{"epsilon (RDP)", true}, Align::kPoint, {best(number_cell("2.79"))}}},
                          .legend = special,
                          .notes = {special}};
  EXPECT_EQ(to_markdown(table), R"(a|b & **x** <i>.

| a\|b & **x** <i> | epsilon (RDP) |
|:-----------------|--------------:|
| a\|b & **x** <i> |      **2.79** |

a|b & **x** <i>

Notes:
- a|b & **x** <i>
)");
  std::string latex = to_latex(table), html = to_html_page(table);
  EXPECT_THAT(latex, has_all("$\\varepsilon$ (RDP)", " & \\bfseries 2.79 \\\\\n"));
  EXPECT_THAT(html, HasSubstr("<td class=\"number\"><strong>2.79</strong></td></tr>"));
  // Caption, legend, heading, cell and note.
  EXPECT_EQ(times(latex, R"(a\textbar{}b \& **x** \textless{}i\textgreater{})"), 5);
  EXPECT_EQ(times(html, "a|b &amp; **x** &lt;i&gt;"), 5);
}

TEST(Writers, NameRowsAndColumnsForThoseWhoHearIt) {
  EXPECT_EQ(to_html({.caption = "a < b",
                     .grid = {{"name", Align::kText, {std::string(31, 'x'), "<i>"}},
                              {"bytes", Align::kNumber, {Cell(scaled_bytes(1536)), "-"}}},
                     .sortable = true}),
            R"(<table class="sortable">
<caption>a &lt; b</caption>
<thead>
<tr><th scope="col">name</th><th scope="col" class="number">bytes</th></tr>
</thead>
<tbody>
<tr><th scope="row" class="long">xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx</th><td class="number" data-key="1536">1.50 KiB</td></tr>
<tr><th scope="row">&lt;i&gt;</th><td class="number">-</td></tr>
</tbody>
</table>
)");
}

TEST(Writers, MakeAPageThatLoadsNothing) {
  const std::string html = to_html_page(column_of({number_cell("1.5")}));
  EXPECT_THAT(html, has_all("<meta charset=\"utf-8\">", "default-src 'none'"));
  for (const char* outside : {"http:", "https:", "<script", "src=", "href=", "data-key"})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(Writers, SayThatNothingIsFinished) {
  const ReaderTable table{.notes = {"seed 3 is unfinished"}};
  EXPECT_EQ(to_markdown(table), "No finished run.\n\nNotes:\n- seed 3 is unfinished\n");
  EXPECT_EQ(to_latex(table), "% No finished run.\n% seed 3 is unfinished\n");
  EXPECT_THAT(to_html_page(table), HasSubstr("<p>No finished run.</p>\n<p>Notes:</p>\n<ul>\n<li>seed 3 is"));
}

}  // namespace
}  // namespace fedarena::results
