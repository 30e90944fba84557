// One number of a table as a matrix.
#include "results/table/pivot.hpp"

#include "results/write/render.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

// Two seeds of two algorithms at three alphas; fedprox is better at 0.1 alone, and lacks alpha = 10.
std::vector<FoundRun> pivot_grid() {
  std::vector<FoundRun> runs;
  for (const std::string alpha : {"0.1", "1.0", "10"}) {
    for (const std::string label : {"fedavg", "fedprox"}) {
      if (alpha == "10" && label == "fedprox") continue;
      for (const std::int64_t seed : {1, 2}) {
        const double ahead = label == "fedprox" ? (alpha == "0.1" ? 0.1 : -0.1) : 0;
        Summary summary = finished(label, seed, 0.5 + ahead + 0.01 * static_cast<double>(seed));
        summary.partition = "dirichlet (clients = 10, alpha = " + alpha + ")";
        summary.sweep = {{"partition.alpha", alpha}};
        runs.push_back(found(summary, "alpha-" + alpha));
      }
    }
  }
  return runs;
}

TEST(Pivot, HasALineForEachValueAndAColumnForEachOther) {
  const Table table = make_table(pivot_grid());
  EXPECT_EQ(to_markdown(reader_table(table, make_pivot(table, {.rows = {"alpha"}, .across = "label"}))),
            R"(Experiment quickstart, data set digits, partition dirichlet (clients = 10), model mlp.

| partition.alpha |           fedavg |          fedprox |
|:----------------|-----------------:|-----------------:|
| 0.1             |     51.50 ± 0.71 | **61.50 ± 0.71** |
| 1               | **51.50 ± 0.71** |     41.50 ± 0.71 |
| 10              |     51.50 ± 0.71 |                - |

Accuracy after the last round: mean ± sample standard deviation over seeds. Bold: the best mean of its setting, which is no test of significance. In percent. Columns: label.

Notes:
- partition of digits: iid(clients=10,seed=...): seed 1 index hash 000000000000abc1, seed 2 index hash 000000000000abc2
)");
  const Pivot turned = make_pivot(table, {.rows = {"algorithm"}, .across = "partition.alpha"});
  EXPECT_THAT(turned.columns, ElementsAre("0.1", "1", "10"));
  EXPECT_THAT(to_markdown(reader_table(table, turned)),
              HasSubstr("| fedprox   | **61.50 ± 0.71** |     41.50 ± 0.71 |            - |\n"));
}

TEST(Pivot, HasNamedLabelsInTheirOrder) {
  std::vector<FoundRun> runs = pivot_grid();
  keep_labels(runs, {"fedprox", "fedavg"});
  const Table table = make_table(runs);
  EXPECT_THAT(make_pivot(table, {.rows = {"alpha"}, .across = "label"}).columns,
              ElementsAre("fedprox", "fedavg"));
  std::vector<std::vector<std::string>> lines;
  for (const PivotLine& line : make_pivot(table, {.rows = {"label"}, .across = "alpha"}).lines)
    lines.push_back(line.values);
  EXPECT_THAT(lines, ElementsAre(ElementsAre("fedprox"), ElementsAre("fedavg")));
}

TEST(Pivot, MarksEpsilonsThatRestOnAnAssumption) {
  std::vector<FoundRun> runs;
  for (const double epsilon : {10.0, 2.0, 3.0}) {
    Summary summary = finished_privately(fmt::format("at-{}", epsilon), 1, 0.5);
    summary.privacy->rdp = Claim{.epsilon = epsilon};
    summary.privacy->assumed = epsilon < 3;
    if (summary.privacy->assumed) summary.privacy->settings.assume = "poisson";
    runs.push_back(found(summary));
  }
  EXPECT_THAT(make_pivot(make_table(runs), {.rows = {"label"}, .across = "epsilon"}).columns,
              ElementsAre("2.00†", "3.00", "10.00"));
}

TEST(Pivot, NamesChoicesWithoutWhatAllRowsShare) {
  const Table table = make_table(pivot_grid());
  const Pivot pivot = make_pivot(table, {.rows = {"partition"}, .across = "label"});
  EXPECT_THAT(pivot.lines[0].values, ElementsAre("dirichlet (alpha = 0.1)"));
  EXPECT_EQ(pivot.lines.size(), 3U);
}

TEST(Pivot, IsWrittenForProgramsAndForPapers) {
  const Table table = make_table(pivot_grid());
  const Pivot pivot = make_pivot(table, {.rows = {"alpha"}, .across = "label"});
  const std::string csv = render_pivot_csv(table, pivot), latex = to_latex(reader_table(table, pivot));
  EXPECT_THAT(
      csv, has_all("partition.alpha,fedavg mean,fedavg std,fedavg half_width_95,fedavg seeds,fedprox mean,",
                   "\n10,0.515,0.00707106781186548", ",2,,,,\n"));
  EXPECT_THAT(latex, has_all("\\begin{tabular}{lS[table-format=2.2(3)]S[table-format=2.2(3)]}",
                             "partition.alpha & {fedavg} & {fedprox} \\\\",
                             "    1 & \\bfseries 51.50 \\pm 0.71 & 41.50 \\pm 0.71 \\\\",
                             "10 & 51.50 \\pm 0.71 & {-} \\\\"));
}

TEST(Pivot, ShowsIntervalsAndPublishedFiguresToo) {
  Table table = make_table(pivot_grid(), {}, PlusMinus::kHalfWidth);
  References references{.file = "refs.toml", .sources = {{.text = "Doe", .metric = {.text = "accuracy"}}}};
  references.figures.push_back({.place = {},
                                .keys = {{.name = "alpha", .value = "0.1", .place = {}},
                                         {.name = "label", .value = "fedavg", .place = {}}},
                                .mean = 45.25});
  add_published(table, references);
  const Pivot pivot = make_pivot(table, {.rows = {"alpha"}, .across = "label"});
  EXPECT_THAT(to_markdown(reader_table(table, pivot)),
              has_all("| partition.alpha |           fedavg | fedavg, published |",
                      "|     51.50 ± 6.35 |             45.25 |", "- published: Doe\n"));
  EXPECT_THAT(render_pivot_csv(table, pivot),
              has_all("fedavg seeds,fedavg published,fedprox mean", ",2,0.4525,"));
}

// A cell never stands for several rows, whichever it would be.
TEST(Pivot, RefusesCellsOfSeveralRowsAndUnknownKeys) {
  const Table table = make_table(pivot_grid());
  const auto refused = [&](const PivotKeys& keys) { return message_of([&] { make_pivot(table, keys); }); };
  EXPECT_EQ(refused({.rows = {"dataset"}, .across = "label"}),
            "several rows of the table would stand at digits, fedavg, such as two of fedavg\n  add to "
            "--rows what tells them apart: partition.alpha");
  EXPECT_THAT(refused({.rows = {"alhpa"}, .across = "label"}),
              HasSubstr("--rows: no row has a key \"alhpa\"; allowed: "));
  EXPECT_THAT(refused({.rows = {"alpha"}, .across = "lable"}),
              has_all("--pivot: no row has a key \"lable\"", "did you mean \"label\"?"));
  EXPECT_EQ(refused({.rows = {"alpha", "partition.alpha"}, .across = "label"}),
            "--rows, --pivot: \"partition.alpha\" is named twice");
  EXPECT_EQ(refused({.rows = {"label"}, .across = "label"}), "--rows, --pivot: \"label\" is named twice");
}

TEST(Pivot, HeadingsHaveNoQuotesAndNoEscapes) {
  Summary summary = finished("fedavg", 1, 0.5);
  summary.algorithm_parameters = {{"note", R"("a \"b\" \\ c")"}};
  const Pivot pivot =
      make_pivot(make_table(std::vector{found(summary)}), {.rows = {"note"}, .across = "label"});
  EXPECT_THAT(pivot.lines.at(0).values, ElementsAre(R"(a "b" \ c)"));
}

// What a list of tables gives together, and what differs between settings, is no heading; of parameters of
// other algorithms `row_notes` speak.
TEST(Pivot, KnowsWhatItsHeadingsHide) {
  std::vector<FoundRun> runs;
  for (const std::string rate : {"0.1", "0.2"}) {
    for (const std::string label : {"fedavg", "fedprox"}) {
      Summary summary = finished(label, 1, 0.5);
      summary.sweep = {{"training.batch_size", rate == "0.1" ? "32" : "64"}, {"training.rate", rate}};
      summary.algorithm_parameters = {{label == "fedavg" ? "momentum" : "mu", "0.5"}};
      runs.push_back(found(summary));
    }
  }
  const Table table = make_table(runs);
  EXPECT_EQ(make_pivot(table, {.rows = {"label"}, .across = "rate"}).hidden, "batch_size (32, 64)");
  EXPECT_EQ(make_pivot(table, {.rows = {"label", "batch_size"}, .across = "rate"}).hidden, "");
}

TEST(Pivot, OfNothingFinishedSaysSo) {
  const Table table = make_table({});
  const Pivot pivot = make_pivot(table, {.rows = {"alpha"}, .across = "label"});
  EXPECT_EQ(to_markdown(reader_table(table, pivot)), "No finished run.\n");
  EXPECT_EQ(to_latex(reader_table(table, pivot)), "% No finished run.\n");
  EXPECT_EQ(render_pivot_csv(table, pivot), "");
}

TEST(Pivot, SaysWhereEpsilonsAre) {
  const Table table = make_table(std::vector{found(finished_privately("dp-fedavg", 1, 0.5))});
  const Pivot pivot = make_pivot(table, {.rows = {"dataset", "epsilon"}, .across = "label"});
  EXPECT_THAT(to_markdown(reader_table(table, pivot)),
              has_all("| digits  | 2.79    |     50.00 |",
                      " Epsilon (delta 1e-5, unit record, adjacency zero-out): 2.79 by RDP, 2.50 by "
                      "PLD.\n"));
  EXPECT_THAT(to_markdown(reader_table(table, pivot)), Not(HasSubstr("Bold")));
}

TEST(Pivot, MarksWhatHasNoFiniteEpsilonAndComparesItWithNone) {
  std::vector<FoundRun> runs;
  for (const double epsilon : {1.0, 4.0}) {
    for (const std::string label : {"bounded", "exact", "open"}) {
      Summary summary = label == "open" ? finished(label, 1, 0.7)
                                        : finished_privately(label, 1, label == "exact" ? 0.6 : 0.5);
      summary.sweep = {{"privacy.noise_for_epsilon", fmt::format("{}", epsilon)}};
      if (label == "bounded") summary.privacy->rdp = summary.privacy->pld = Claim{.epsilon = epsilon};
      if (label == "exact") summary.privacy->rdp = summary.privacy->pld = Claim{.epsilon = kInfinity};
      runs.push_back(found(summary));
    }
  }
  const Table table = make_table(runs);
  const std::string text =
      to_markdown(reader_table(table, make_pivot(table, {.rows = {"label"}, .across = "noise_for_epsilon"})));
  EXPECT_THAT(
      text,
      has_all("| bounded |        50.00 |        50.00 |\n", "| exact   |  60.00 (inf) |  60.00 (inf) |\n",
              "| open    | 70.00 (none) | 70.00 (none) |\n",
              ": 1.00 to 4.00 by RDP, 1.00 to 4.00 by PLD. In parentheses: epsilon where it is not finite.\n",
              "- privacy.noise_for_epsilon=4: only some rows have a finite epsilon, so none is "
              "marked as the best\n"));
  EXPECT_THAT(text, Not(HasSubstr("**")));
}

}  // namespace
}  // namespace fedarena::results
