// Columns that LaTeX aligns by their points.
#include "results/write/siunitx.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "results/write/render.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string column_of(const std::vector<std::string>& texts) {
  std::vector<std::string> cells;
  for (const std::string& text : texts) cells.push_back(siunitx_cell(text));
  return siunitx_column(cells);
}

TEST(Siunitx, LeavesNumbersBareAndBracesAllElse) {
  EXPECT_EQ(siunitx_cell("20"), "20");
  EXPECT_EQ(siunitx_cell("72.00"), "72.00");
  EXPECT_EQ(siunitx_cell("72.00 ± 1.00"), "72.00 \\pm 1.00");
  EXPECT_EQ(siunitx_cell("45.25 ± 6.9 [1]"), "45.25 \\pm 6.9{ [1]}");
  EXPECT_EQ(siunitx_cell("2.79†"), "2.79{$^{\\dagger}$}");
  EXPECT_EQ(siunitx_cell("15‡"), "15{$^{\\ddagger}$}");
  EXPECT_EQ(siunitx_cell("8.21 (as if 1.20*)"), "8.21{ (as if 1.20*)}");
  for (const auto& [text, cell] :
       std::vector<std::pair<std::string, std::string>>{{"-", "{-}"},
                                                        {"", "{}"},
                                                        {"none", "{none}"},
                                                        {"unproven", "{unproven}"},
                                                        {"inf", "{$\\infty$}"},
                                                        {"inf (as if inf*)", "{$\\infty$ (as if inf*)}"},
                                                        {"nan ± nan", "{nan $\\pm$ nan}"},
                                                        {"14-15", "{14-15}"},
                                                        {"1e-5", "{1e-5}"},
                                                        {".5", "{.5}"},
                                                        {"5.", "{5.}"},
                                                        {"50%", "{50\\%}"}}) {
    EXPECT_EQ(siunitx_cell(text), cell);
  }
}

TEST(Siunitx, SetsTheBestInBold) {
  EXPECT_EQ(siunitx_cell("72.00 ± 1.00", true), "\\bfseries 72.00 \\pm 1.00");
  EXPECT_EQ(siunitx_cell("inf", true), "{\\bfseries $\\infty$}");
}

TEST(Siunitx, HasRoomForTheLongestNumber) {
  EXPECT_EQ(column_of({"20", "5"}), "S[table-format=2]");
  EXPECT_EQ(column_of({"72.00", "-", "100.00"}), "S[table-format=3.2]");
  EXPECT_EQ(column_of({"72.00 ± 1.00", "7.00 ± 11.20"}), "S[table-format=2.2(4)]");
  EXPECT_EQ(column_of({"0.2188 ± 0.0442"}), "S[table-format=1.4(5)]");
  EXPECT_EQ(column_of({"45.25 ± 6.9", "45 ± 7"}), "S[table-format=2.2(3)]");
  EXPECT_EQ(column_of({"2.79†", "inf"}), "S[table-format=1.2, table-space-text-post={$^{\\dagger}$}]");
  EXPECT_EQ(column_of({"none", "-"}), "r") << "no numbers";
  EXPECT_EQ(siunitx_column(std::vector{siunitx_cell("72.00 ± 1.00", true)}), "S[table-format=2.2(3)]");
}

TEST(Siunitx, IsOfColumnsOfNumbersAlone) {
  const Table table =
      make_table(std::vector{found(finished("fedavg", 1, 0.5)), found(finished("x", 1, 0.7))});
  const std::string latex = render_latex(table, parse_selection("accuracy,uplink,seconds"));
  EXPECT_THAT(latex, StartsWith("% Needs \\usepackage{booktabs, siunitx}.\n\\begin{table}\n"));
  EXPECT_THAT(latex, HasSubstr("\\begin{tabular}{lS[table-format=2.2]rS[table-format=2.1]}"));
  EXPECT_THAT(latex, HasSubstr("algorithm & {accuracy (\\%)} & uplink & {seconds} \\\\"));
  EXPECT_THAT(latex, HasSubstr("x & \\bfseries 70.00 & 4.00 KiB & 12.5 \\\\"));
  const std::string bare = render_latex(table, parse_selection("uplink"));
  EXPECT_THAT(bare, StartsWith("% Needs \\usepackage{booktabs}.\n"));
  EXPECT_THAT(bare, Not(HasSubstr("sisetup")));
}

}  // namespace
}  // namespace fedarena::results
