// Tables that LaTeX compiles. Without pdflatex or a package one line says that they were not
// compiled.
#include <cmath>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "results/table/pivot.hpp"
#include "results/table/table.hpp"
#include "results/write/render.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

bool succeeds(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Whether this machine can compile; else says so, once.
bool can_compile() {
  static const bool kCan = [] {
    const bool found = succeeds(
        "pdflatex --version >/dev/null 2>&1 && kpsewhich booktabs.sty graphicx.sty siunitx.sty >/dev/null "
        "2>&1");
    if (!found)
      std::puts("pdflatex with booktabs, graphicx and siunitx is not installed: no table was compiled");
    return found;
  }();
  return kCan;
}

// Whether LaTeX succeeded, and its log. Without a PDF, which would only need fonts that not every machine
// has.
std::pair<bool, std::string> compile(const std::string& body) {
  const Scratch folder;
  folder.write("paper.tex",
               "\\documentclass{article}\n\\usepackage{booktabs, graphicx, siunitx}\n\\begin{document}\n" +
                   body + "\\end{document}\n");
  // TeX wraps its log at 79 letters unless told otherwise.
  const bool succeeded = succeeds(fmt::format(
      "cd '{}' && max_print_line=1000 pdflatex -draftmode -interaction=nonstopmode -halt-on-error "
      "paper.tex >/dev/null 2>&1",
      folder.path().string()));
  return {succeeded, test::content_of(folder / "paper.log")};
}

void expect_clean(const std::string& table) {
  if (!can_compile()) return;
  const auto [succeeded, log] = compile(table);
  EXPECT_TRUE(succeeded) << table << log;
  // The last: a cell that is wider than its column, or a table wider than the page.
  for (const char* complaint : {"\n!", "Missing character", "Package siunitx Warning", "Overfull \\hbox"})
    EXPECT_EQ(log.find(complaint), std::string::npos) << complaint << "\n" << table << log;
}

// Three seeds each, with marks, infinity, as-if values, dashes and names that LaTeX would read as commands.
Table hard_table(PlusMinus plus_minus = PlusMinus::kDeviation) {
  std::vector<FoundRun> runs;
  for (const std::int64_t seed : {1, 2, 3}) {
    const double step = 0.0982 * static_cast<double>(seed - 2);
    runs.push_back(found(finished("plain_10%", seed, 0.8 + step)));
    runs.push_back(found(stopped_by_budget("b&{}", seed, 0.4 + step)));
    Summary infinite = finished_privately("c^~#$", seed, 0.6 + step);
    infinite.privacy->rdp->epsilon = infinite.privacy->pld->epsilon = HUGE_VAL;
    runs.push_back(found(infinite));
    Summary rescaled = finished_privately("d\\<>", seed, 0.5 + step);
    rescaled.privacy->as_if_rdp = Claim{.epsilon = 1.1};
    rescaled.privacy->as_if_pld = Claim{.epsilon = 1.0};
    runs.push_back(found(rescaled));
  }
  return make_table(runs, {}, plus_minus);
}

TEST(LatexTable, Compiles) {
  Table table = hard_table();
  expect_clean(to_latex(reader_table(table, parse_selection("rounds,accuracy,epsilon"))));
  expect_clean(to_latex(reader_table(hard_table(PlusMinus::kHalfWidth),
                                     parse_selection("seeds,accuracy,clients,operations,uplink,seconds"))));
  expect_clean(to_latex(reader_table(table, make_pivot(table, {.rows = {"epsilon"}, .across = "label"}))));
  const RoundMetric accuracy{.text = "accuracy"};
  const auto keys = [](const char* label) {
    return std::vector<FigureKey>{{.name = "label", .value = label, .place = {}}};
  };
  add_published(table, {.file = "refs.toml",
                        .sources = {{.text = "Doe & Roe 2022, 100% #1_a", .metric = accuracy},
                                    {.text = "Poe", .metric = accuracy}},
                        .figures = {{.place = {}, .keys = keys("b&{}"), .mean = 45.25, .std = 6.9},
                                    {.source = 1, .place = {}, .keys = keys("c^~#$"), .mean = 72}}});
  const std::string latex = to_latex(reader_table(table, parse_selection("accuracy,rounds")));
  EXPECT_THAT(latex, HasSubstr("45.25 \\pm 6.9{ [1]}"));
  expect_clean(latex);
}

TEST(LatexTable, CompilesWithLossesThatAreNoNumbers) {
  std::vector<FoundRun> runs;
  for (const double loss : {0.5, HUGE_VAL, std::nan(""), 1234.5}) {
    runs.push_back(found(finished(fmt::format("{}", loss), 1, 0)));
    runs.back().summary->final_test_accuracy = std::nullopt;
    runs.back().summary->final_test_loss = loss;
  }
  expect_clean(to_latex(reader_table(make_table(runs))));
}

TEST(LatexTable, CompilesWithCellsThatBeginAsOptionsDo) {
  std::vector<FoundRun> runs;
  for (const char* value : {"[16]", "[2pt]", "*"}) {
    runs.push_back(found(finished("fedavg", 1, 0.5)));
    runs.back().summary->sweep = {{"model.hidden", value}};
  }
  const std::string latex = to_latex(reader_table(make_table(runs)));
  EXPECT_THAT(latex, has_all(" {}[16] & ", " {}[2pt] & ", " {}* & "));
  expect_clean(latex);
}

// The tests above must be able to fail.
TEST(LatexTable, IsRefusedWhereItIsWrong) {
  if (!can_compile()) return;
  EXPECT_FALSE(compile("\\begin{tabular}{S[table-format=2.2]} 1.0 & 2.0 \\\\ \\end{tabular}\n").first);
  EXPECT_FALSE(compile("\\begin{tabular}{S[table-format=2.2]} none \\\\ \\end{tabular}\n").first);
  EXPECT_THAT(
      compile("\\begin{tabular}{S[table-format=1.2]} 100.00{$^{\\dagger}$} \\\\ \\end{tabular}\n").second,
      HasSubstr("too wide) detected at line"));
}

}  // namespace
}  // namespace fedarena::results
