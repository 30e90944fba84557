#include "results/write/render_pairs.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "results/text/csv_line.hpp"
#include "tests/results/compare/pair_samples.hpp"

namespace fedarena::results {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Differences of 4, 3, 4, 3, 3 points: t(4) reaches 2.776 x sqrt(0.06) = 0.680 to both sides of 3.4.
Pairs render_pairs_sample() {
  return compare_rows(
      std::vector{folder_of({row_of("a_b", {0.64, 0.58, 0.69, 0.61, 0.65}),
                             row_of("b|c", {0.60, 0.55, 0.65, 0.58, 0.62}), row_of("single", {0.5})})},
      {});
}

TEST(RenderPairs, PrintsMarkdown) {
  const std::string text = render_pairs_markdown(render_pairs_sample());
  EXPECT_THAT(text,
              StartsWith("Experiment quickstart, data set digits, partition iid, model mlp, 20 rounds, no "
                         "privacy.\n\n| A    | B      | seeds | A - B (points) | 95 % interval (t) |"));
  EXPECT_THAT(
      text, HasSubstr("\n| a_b  | b\\|c   |     5 |   +3.40 ± 0.55 |    [+2.72, +4.08] | [+3.00, +4.00] | "));
  EXPECT_THAT(text, HasSubstr(" | 0.0625 (least) |   0.0005 | a_b is better          |\n"));
  EXPECT_THAT(text,
              HasSubstr("\n| a_b  | single |     1 |         +14.00 |                 - |              - |"
                        "      - |              - |        - | one seed: no statement |\n"));
  EXPECT_THAT(text, HasSubstr("\nAccuracy after the last round: more is better. A - B: the difference in "
                              "percentage points, paired by seed"));
  EXPECT_THAT(text,
              HasSubstr("adjusted by Holm over the 3 pairs of this table. Verdict: a difference is shown "
                        "where p (Holm) is at most 0.05 with at least 3 seeds; nothing else decides."));
  EXPECT_THAT(text, HasSubstr("\n\nNotes:\n- a_b and single: not compared"));
}

TEST(RenderPairs, MarksNoLeastOfNothing) {
  const Pairs equal =
      compare_rows(std::vector{folder_of({row_of("a", {0.5, 0.6, 0.7}), row_of("b", {0.5, 0.6, 0.7})})}, {});
  EXPECT_THAT(render_pairs_markdown(equal),
              HasSubstr("| a | b |     3 |    0.00 ± 0.00 |                 - |         "
                        "- |     - |       1.0000 |   1.0000 | no difference shown |"));
}

TEST(RenderPairs, PrintsLatex) {
  const std::string text = render_pairs_latex(render_pairs_sample());
  EXPECT_THAT(text, StartsWith("\\begin{table}\n  \\centering\n  \\caption{Experiment quickstart"));
  EXPECT_THAT(text,
              HasSubstr("  \\begin{tabular}{llrrrrrrrl}\n    \\toprule\n    A & B & seeds & A - B (points) & "
                        "95 \\% interval (t) & bootstrap & p (t) & p (Wilcoxon) & p (Holm) & verdict \\\\\n"
                        "    \\midrule\n    a\\_b & b|c & 5 & $+3.40 \\pm 0.55$ & $[+2.72, +4.08]$ & "));
  EXPECT_THAT(text, HasSubstr(" & $+14.00$ & - & - & - & - & - & one seed: no statement \\\\\n"));
}

TEST(RenderPairs, PrintsRawNumbersAsCsv) {
  const std::string text = render_pairs_csv(render_pairs_sample());
  EXPECT_THAT(text,
              StartsWith("sweep,a,b,metric,seeds,a_mean,b_mean,difference_mean,difference_std,t_low,t_high,"
                         "bootstrap_low,bootstrap_high,t,p_t,p_wilcoxon,p_wilcoxon_least,p_holm,verdict\n"
                         ",a_b,b|c,accuracy,5,0.634,0.6,0.0339999999"));
  EXPECT_THAT(text, HasSubstr(",0.0625,0.0625,0.000"));
  EXPECT_THAT(text, HasSubstr(",,,,,,,,,one seed: no statement\n"));
}

TEST(RenderPairs, PrintsRawNumbersAsJson) {
  const auto json = nlohmann::json::parse(render_pairs_json(render_pairs_sample()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["metric"], "accuracy");
  EXPECT_EQ(json["higher_is_better"], true);
  const auto& pair = json["pairs"][0];
  EXPECT_EQ(pair["a"], "a_b");
  EXPECT_NEAR(pair["difference_mean"].get<double>(), 0.034, 1e-11);
  EXPECT_EQ(pair["seeds"][1]["seed"], 2);
  EXPECT_EQ(pair["seeds"][1]["b"], 0.55);
  EXPECT_EQ(pair["verdict"], "a_b is better");
  EXPECT_TRUE(json["pairs"][1]["p_holm"].is_null());
  EXPECT_GE(json["notes"].size(), 2U);
}

TEST(RenderPairs, HasAColumnForWhatAGridVaries) {
  std::vector<std::vector<FoundRun>> rows;
  for (const char* rate : {"0.1", "0.2"}) {
    for (const char* label : {"a", "b"})
      rows.push_back(row_of(label, {0.5, 0.6, 0.7}, [rate](Summary& summary) {
        summary.sweep = {{"training.rate", rate}};
      }));
  }
  const Pairs pairs = compare_rows(std::vector{folder_of(rows)}, {});
  EXPECT_THAT(render_pairs_markdown(pairs), HasSubstr("\n| training.rate | A | B | seeds |"));
  EXPECT_THAT(render_pairs_markdown(pairs), HasSubstr("\n| 0.2           | a | b |     3 |"));
  EXPECT_THAT(render_pairs_csv(pairs), HasSubstr("\ntraining.rate=0.1,a,b,accuracy,3,"));
  EXPECT_THAT(render_pairs_json(pairs),
              HasSubstr("\"sweep\": {\n        \"training.rate\": \"0.1\"\n      }"));
}

TEST(CsvLine, QuotesWhatWouldBreakIt) {
  EXPECT_EQ(csv_line({"a", "b,c", "d\"e", "", "f\ng"}), "a,\"b,c\",\"d\"\"e\",,\"f\ng\"\n");
}

}  // namespace
}  // namespace fedarena::results
