#include "results/write/html_table.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/text/number_format.hpp"
#include "results/write/render_html.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using testing::HasSubstr;
using testing::Not;

Table sample(const std::string& label = "fedavg") {
  return make_table(std::vector{found(finished(label, 1, 0.5)), found(finished("scaffold", 1, 0.75))});
}

TEST(HtmlTable, UndoesTheEscapesOfMarkdown) {
  const HtmlTable table = from_markdown(
      {.right_aligned = {false, true}, .lines = {{"a\\|b", "accuracy (%)"}, {"**x** a\\\\|b", "**75.00**"}}});
  EXPECT_EQ(table.headings.front(), "a|b");
  // Only numbers are marked by us; a label with stars is a label with stars.
  EXPECT_EQ(table.rows[0][0].text, "**x** a\\|b");
  EXPECT_FALSE(table.rows[0][0].strong);
  EXPECT_EQ(table.rows[0][1].text, "75.00");
  EXPECT_TRUE(table.rows[0][1].strong);
}

TEST(HtmlTable, NamesRowsAndColumnsForThoseWhoHearIt) {
  const std::string html = to_html({.caption = "a < b",
                                    .right_aligned = {false, true},
                                    .headings = {"algorithm", "bytes"},
                                    .rows = {{{.text = "<i>"}, {.text = "1.50 KiB", .strong = true}}},
                                    .sortable = true});
  EXPECT_EQ(html,
            "<table class=\"sortable\">\n<caption>a &lt; b</caption>\n<thead>\n"
            "<tr><th scope=\"col\">algorithm</th><th scope=\"col\" "
            "class=\"number\">bytes</th></tr>\n</thead>\n<tbody>\n"
            "<tr><th scope=\"row\">&lt;i&gt;</th><td class=\"number\" data-key=\"1536\"><strong>1.50 "
            "KiB</strong></td></tr>\n</tbody>\n</table>\n");
}

TEST(HtmlTable, SortsByTheNumberThatACellBeginsWith) {
  EXPECT_EQ(sort_number("94.07 ± 0.26"), 94.07);
  EXPECT_EQ(sort_number("≥ 2.00 M"), 2e6);
  EXPECT_EQ(sort_number("20/30"), 20);
  EXPECT_EQ(sort_number("2.79†"), 2.79);
  EXPECT_EQ(sort_number("inf"), std::numeric_limits<double>::infinity());
  for (const char* word : {"-", "none", "unproven", "", "≥ "}) EXPECT_FALSE(sort_number(word)) << word;
}

// Whatever number_format.hpp writes comes back within the digits that it shows.
TEST(HtmlTable, ReadsBackHumanNumbers) {
  for (double number = 1; number < 1e18; number *= 7.3) {
    EXPECT_NEAR(*sort_number(human_count(number)), number, 0.005 * number) << number;
    if (number < 1e15) {
      EXPECT_NEAR(*sort_number(human_bytes(number)), number, 0.005 * number) << number;
    }
  }
}

TEST(RenderHtml, IsAPageThatLoadsNothing) {
  const std::string html = render_html(sample());
  EXPECT_THAT(html, HasSubstr("<meta charset=\"utf-8\">"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(
      html,
      HasSubstr("<caption>Experiment quickstart, data set digits, partition iid, model mlp.</caption>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">scaffold</th>"));
  EXPECT_THAT(html, HasSubstr("<strong>75.00</strong>"));
  EXPECT_THAT(html, HasSubstr("sample standard deviation over seeds"));
  for (const char* outside : {"http:", "https:", "<script", "src=", "href=", "data-key"})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(RenderHtml, EscapesLabelsAndNotes) {
  Summary summary = finished("<img src=x onerror=alert(1)>", 1, 0.5);
  summary.dataset_note = "</ul><script>alert(1)</script>";
  const std::string html = render_html(make_table(std::vector{found(summary)}));
  EXPECT_THAT(html, HasSubstr("&lt;img src=x onerror=alert(1)&gt;"));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)"));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST(RenderHtml, ShowsTheColumnsThatAreAskedFor) {
  const std::string html = render_html(sample(), parse_selection("seeds"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\" class=\"number\">seeds</th></tr>"));
  EXPECT_THAT(html, Not(HasSubstr("accuracy (%)")));
}

TEST(RenderHtml, SaysThatNoRunIsFinished) {
  const std::string html = render_html(make_table(std::vector{found(unfinished("fedavg", 1, 3))}));
  EXPECT_THAT(html, HasSubstr("<p>No finished run.</p>"));
  EXPECT_THAT(html, HasSubstr("seed 1 is unfinished (3 of 20 rounds)"));
}

}  // namespace
}  // namespace fedarena::results
