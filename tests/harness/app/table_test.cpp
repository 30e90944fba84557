// fedarena table and compare, through the program:
// tests/golden/{compare,bad_compare,bad_references,bad_tables}.txt.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/results/compare/pair_samples.hpp"

namespace fedarena::test {
namespace {

using nlohmann::json;
using results::FoundRun;
using results::RoundRecord;
using results::Summary;

using Table = ScratchTest;

// Two folders in which one label has two learning rates.
TEST_F(Table, TellsFoldersApartByWhatTheirAlgorithmsDifferIn) {
  run_small(scratch, {}, "--out a");
  succeed("run small.toml --out b --set training.rate=0.5");
  EXPECT_THAT(call("table a b").out,
              has_all("| algorithm | rate | rounds |", "| fedavg    | 0.05 |", "| fedavg    | 0.5  |"));
  EXPECT_THAT(call("table a b --rows label --pivot rate").out, HasSubstr("0.05"));
  EXPECT_THAT(call("report a b -o page.html").out, HasSubstr("2 runs, 2 rows of the table"));
  EXPECT_THAT(call("plot a b -o curves.svg").out, has_all("fedavg, rate=0.05", "fedavg, rate=0.5"));
  // Rounds have one column, also where they are what differs.
  succeed("run small.toml --out c --set experiment.rounds=2");
  EXPECT_THAT(call("table a c").out,
              has_all("| experiment.rounds | algorithm | seeds |", "| 2                 | fedavg    |",
                      "| 3                 | fedavg    |"));
  EXPECT_THAT(refused("compare a c"), HasSubstr("differ in planned rounds: \"3\" and \"2\""));
}

TEST_F(Table, HasTheRowsThatAreAskedFor) {
  run_small(scratch, {.algorithms = {"fedavg", "fedprox", "scaffold"}});
  EXPECT_THAT(succeed("table out --labels fedavg,scaffold").out,
              AllOf(HasSubstr("| fedavg "), HasSubstr("| scaffold "), Not(HasSubstr("fedprox"))));
  EXPECT_THAT(refused("table out --labels scafold"), HasSubstr("did you mean \"scaffold\"?"));
}

TEST_F(Table, ReadsAMetricWhereItIsAskedFor) {
  run_small(scratch, {.rounds = 4, .evaluate_every = 2, .more = "\n[privacy]\npolicy = \"record\"\n"});
  const std::vector<results::RoundRecord> rounds = rounds_of(scratch / "out/fedavg-seed-1");
  const auto value_of = [&](const std::string& metric) {
    const Outcome outcome = succeed("table out --format json --metric " + metric);
    return json::parse(outcome.out)["rows"][0]["metric_mean"];
  };
  EXPECT_EQ(value_of("accuracy@round=2"), *rounds[1].test_accuracy);
  EXPECT_EQ(value_of("loss"), *rounds[3].test_loss);
  EXPECT_EQ(value_of(fmt::format("macro-f1@epsilon={}", *rounds[2].epsilon)), rounds[1].classes->macro_f1);
  EXPECT_EQ(value_of(fmt::format("accuracy@epsilon={}", *rounds[3].epsilon)), *rounds[3].test_accuracy);
  EXPECT_EQ(
      value_of(fmt::format("accuracy@bytes={}", 3 * (rounds[0].uplink_bytes + rounds[0].downlink_bytes))),
      *rounds[1].test_accuracy);
  EXPECT_TRUE(value_of("accuracy@round=3").is_null());
  EXPECT_THAT(succeed("table out --metric accuracy@round=2").out,
              HasSubstr("the largest over seeds, of the whole run and not of the round that is read."));
  EXPECT_EQ(value_of("class:2@round=2"), *rounds[1].classes->accuracy[2]);
  EXPECT_TRUE(value_of("examples@round=3").is_null()) << "the sizes of samples are secret";
  EXPECT_THAT(call("table out --metric worst-client@round=2").out,
              HasSubstr("- fedavg: worst-client@round=2 has no value, because seed 1 has no "
                        "worst-client in the rounds, which record it with [evaluation] "
                        "per_client = true"));
}

TEST_F(Table, ShowsIntervalsPublishedFiguresAndMatrices) {
  run_small(scratch, {.seeds = "[1, 2]", .algorithms = {"fedavg", "scaffold"}});
  scratch.write(
      "refs.toml",
      "[published]\nsource = \"Doe\"\nfigures = [{ label = \"scaffold\", mean = 45.25, std = 6.9 }]\n");
  const json row = json::parse(call("table out --format json").out)["rows"][0];
  // Student's t of one degree of freedom is 12.706 at 97.5 %.
  EXPECT_NEAR(row["accuracy_half_width_95"].get<double>(),
              12.7062047 * row["accuracy_std"].get<double>() / std::sqrt(2), 1e-9);

  const std::string table = call("table out --interval --references refs.toml").out;
  EXPECT_THAT(table, has_all("half-width of its 95 % interval", "|   45.25 ± 6.9 |", "- published: Doe\n",
                             fmt::format(" ± {:.2f}", 100 * row["accuracy_half_width_95"].get<double>())));

  const CommandLine matrix = "table out --rows 'data set' --pivot label";
  EXPECT_THAT(call(matrix).out, HasSubstr("| dataset |"));
  EXPECT_THAT(call(matrix).out, HasSubstr("| glyphs "));
  EXPECT_THAT(call(matrix + "--format csv").out,
              StartsWith("dataset,fedavg mean,fedavg std,fedavg half_width_95,fedavg seeds,scaffold mean,"));
  succeed("verify out");
}

TEST_F(Table, RefusesReferencesAndMatricesThatCannotBe) {
  run_small(scratch, {.algorithms = {"fedavg", "scaffold"}});
  const auto references = [&](const std::string& name, const std::string& figures) {
    scratch.write(name, "[published]\nsource = \"Doe\"\nfigures = [" + figures + "]\n");
  };
  references("none.toml", "{ label = \"fedagv\", mean = 71 }");
  references("several.toml", "{ dataset = \"glyphs\", mean = 71 }");
  references("twice.toml", "{ label = \"fedavg\", mean = 71 }, { label = \"fedavg\", mean = 72 }");
  scratch.write("broken.toml", "[published\n");
  expect_refusals(scratch, "bad_references.txt");
}

TEST_F(Table, RefusesColumnsAndMetricsThatThereAreNot) {
  run_small(scratch, {.rounds = 1});
  expect_refusals(scratch, "bad_tables.txt");
}

TEST_F(Table, IsWrittenToAFileAsItsEndingSays) {
  run_small(scratch, {.rounds = 1});
  for (const auto& [file, format] :
       {std::pair("table.md", "markdown"), std::pair("table.tex", "latex"), std::pair("table.csv", "csv"),
        std::pair("table.json", "json"), std::pair("table.html", "html")}) {
    EXPECT_THAT(call(CommandLine("table out -o ") + file).out, StartsWith(std::string(file) + ": "));
    EXPECT_EQ(content_of(scratch / file), call(CommandLine("table out --format ") + format).out);
  }
}

const std::vector<double> kWorse = {0.60, 0.55, 0.65, 0.58, 0.62};
const std::vector<double> kBetter = {0.64, 0.58, 0.69, 0.61, 0.65};

// Each with rounds in which the algorithm observed a radius.
void write_row(const Scratch& scratch, const std::string& folder, const std::vector<FoundRun>& row) {
  for (const FoundRun& run : row) {
    std::string lines;
    for (std::int64_t number = 1; number <= run.summary->rounds_done; ++number) {
      const bool last = number == run.summary->rounds_done;
      RoundRecord round = last ? results::round_of(*run.summary, number) : results::round_record(number);
      round.observed = {{"radius", 0.5}};
      lines += results::to_json_line(round) + "\n";
    }
    const std::string path = fmt::format("{}/{}", folder, run.path.filename().string());
    scratch.write(path + "/summary.json", results::to_json_text(*run.summary));
    scratch.write(path + "/experiment.toml", "");
    scratch.write(path + "/rounds.jsonl", lines);
  }
}

// Two experiments: one of three algorithms, and one with a private algorithm on another partition.
void write_runs(const Scratch& scratch) {
  write_row(scratch, "runs/a", results::row_of("fedavg", kWorse));
  write_row(scratch, "runs/a", results::row_of("fedprox", {0.61, 0.55, 0.64, 0.59}));
  write_row(scratch, "runs/a", results::row_of("scaffold", kBetter));
  write_row(scratch, "runs/private", results::row_of("dp-fedavg", kWorse, [](Summary& summary) {
              results::with_privacy(2)(summary);
              summary.partition_hash = "other";
            }));
  write_row(scratch, "runs/faster", results::row_of("fedavg", kBetter, [](Summary& summary) {
              summary.algorithm_parameters = {{"rate", "0.5"}};
            }));
}

using Compare = ScratchTest;

TEST_F(Compare, PrintsWhatSeedsShow) {
  write_runs(scratch);
  expect_answers(scratch, "compare.txt");
}

TEST_F(Compare, TellsItsNotesBesideCsv) {
  write_runs(scratch);
  const Outcome outcome = succeed("compare runs/a --labels fedavg --labels scaffold --format csv");
  EXPECT_THAT(outcome.out, ContainsRegex("^sweep,a,b,metric,seeds,[^\n]*,verdict\n"
                                         ",fedavg,scaffold,accuracy,5,[^\n]*,scaffold is better\n$"));
  EXPECT_THAT(outcome.err, StartsWith("note: with 5 seeds Wilcoxon's p is at least 0.0625"));
}

TEST_F(Compare, RefusesWhatIsNoComparison) {
  write_runs(scratch);
  scratch.write("runs/empty/a-file", "");
  expect_refusals(scratch, "bad_compare.txt");
}

// The verdict over real runs; their accuracies differ in the last bits from machine to machine.
TEST_F(Compare, ReadsWhatRunWrote) {
  run_small(scratch, {.seeds = "[1, 2, 3]", .algorithms = {"fedavg", "scaffold"}}, "--out runs/small");
  const Outcome same = succeed("compare runs/small");
  EXPECT_THAT(same.out, has_all("\n| fedavg | scaffold |     3 | ", "3 rounds, no privacy.\n",
                                "seed 1 index hash 71210e180ad342a1"));
  EXPECT_THAT(succeed("compare runs/small --metric macro-f1@round=1").out,
              HasSubstr("Macro F1 after round 1: more is better."));
  EXPECT_THAT(refused("compare runs/small --metric rmse"),
              HasSubstr("runs/small/fedavg-seed-1 has no rmse in the rounds"));

  succeed("run small.toml --out runs/other --set partition.clients=3");
  EXPECT_THAT(refused("compare runs/small runs/other"),
              has_all("differ in partition of seed 1: \"iid(clients=3,",
                      "\n  --across partition compares them anyway"));
}

}  // namespace
}  // namespace fedarena::test
