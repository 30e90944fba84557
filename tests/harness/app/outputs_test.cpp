// fedarena export, plot and report, from run directories alone.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fedarena/base/text.hpp"

#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/attack_sample.hpp"
#include "tests/results/report/sample_runs.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::test {
namespace {

using results::RunDirectory;
using results::write_run;

using EscapeSequences = ScratchTest;

// A terminal that gets such names would be cleared, get another title, or be typed into.
TEST_F(EscapeSequences, OfARecordAreNotPrinted) {
  const std::string name =
      "a\x1b[2J\x1b]0;b\x07\xc2\x9b"
      "2J\x9b\r\u202eb\u2028c\u200f\u200b\ufeff";
  for (const std::int64_t seed : {1, 2}) {
    results::Summary summary = results::finished(name, seed, 0.75);
    summary.experiment = summary.dataset = summary.partition = summary.model = name;
    summary.rounds = summary.rounds_done = 1;
    RunDirectory::create(scratch / "runs" / name / std::to_string(seed), "[experiment]\n", "{}\n", summary)
        .append(results::round_of(summary, 1));
  }
  scratch.write("runs/" + name + "c/summary.json",
                "{\""
                "\\u001b[2J\": 1}");
  const CommandLine run(std::vector<std::string>{(scratch / "runs" / name / "1").string()});
  std::vector<CommandLine> commands = {"list runs",
                                       "compare runs",
                                       "verify runs",
                                       "watch --once runs",
                                       "report runs -o r.html",
                                       "plot runs -o p.svg",
                                       "plot runs -o p.svg --format json",
                                       "export runs --format csv -o e.csv",
                                       CommandLine("privacy") + run};
  for (const char* format : {"csv", "html", "json", "latex", "markdown"}) {
    commands.emplace_back(fmt::format("table runs --format {}", format));
  }
  for (const CommandLine& command : commands) {
    const Outcome outcome = call(command);
    const std::string printed = outcome.out + outcome.err;
    EXPECT_FALSE(printed.empty());
    EXPECT_EQ(printed, printable(printed)) << command.words().front();
    for (const char* mark : {"\u202e", "\u2028", "\u200f", "\u200b", "\ufeff"})
      EXPECT_THAT(printed, Not(HasSubstr(mark)));
  }
}

using Export = ScratchTest;

TEST_F(Export, WritesOneLineARunRoundAndMeasure) {
  record_run(scratch / "runs", 1, 2, 2);
  record_run(scratch / "runs", 2, 1, 2);
  const Outcome outcome = succeed("export runs --format csv -o a.csv --measures test_accuracy");
  EXPECT_EQ(outcome.out, "a.csv: 2 runs, 3 rounds in all, 1 measure\n");
  EXPECT_EQ(outcome.err, "note: 1 of 2 runs is not finished: exported as far as they are\n");
  EXPECT_EQ(
      content_of(scratch / "a.csv"),
      "run,experiment,dataset,partition,model,algorithm,label,seed,state,policy,unit,adjacency,delta,"
      "orders,conversion,assumed,public_data,control,round,measure,value\n"
      "fedavg-seed-1,quickstart,digits,iid,mlp,fedavg,fedavg,1,finished,none,,,,,,,,,1,test_accuracy,0.75\n"
      "fedavg-seed-1,quickstart,digits,iid,mlp,fedavg,fedavg,1,finished,none,,,,,,,,,2,test_accuracy,0.75\n"
      "fedavg-seed-2,quickstart,digits,iid,mlp,fedavg,fedavg,2,interrupted,none,,,,,,,,,1,test_accuracy,"
      "0.75\n");
  succeed("export runs --format jsonl -o a.jsonl");
  EXPECT_THAT(content_of(scratch / "a.jsonl"), StartsWith(R"({"run":"fedavg-seed-1",)"));
}

TEST_F(Export, WritesAnEventFileARunTheSameEveryTime) {
  record_run(scratch / "runs", 1, 2, 2);
  record_run(scratch / "runs/deeper", 2, 2, 2);
  const CommandLine command = "export runs --format tensorboard -o new/board";
  EXPECT_EQ(call(command).out, "new/board: 2 runs, 4 rounds in all, 11 measures\n");
  const std::string name = "events.out.tfevents.0000000000.fedarena";
  const std::string first = content_of(scratch / "new/board/fedavg-seed-1" / name);
  EXPECT_THAT(first, HasSubstr("brain.Event:2"));
  EXPECT_TRUE(fs::exists(scratch / "new/board/deeper/fedavg-seed-2" / name));
  succeed(command);
  EXPECT_EQ(content_of(scratch / "new/board/fedavg-seed-1" / name), first);
}

TEST_F(Export, RefusesWithOneMessage) {
  record_run(scratch / "runs", 1, 2, 2);
  scratch.write("broken/a/summary.json", "{}");
  fs::create_directories(scratch / "folder");
  const std::string summary = content_of(scratch / "runs/fedavg-seed-1/summary.json");
  const std::string inside = "runs/fedavg-seed-1/summary.json";
  expect_refusals(scratch, "bad_exports.txt");
  EXPECT_FALSE(fs::exists(scratch / "a.csv"));
  EXPECT_EQ(content_of(scratch / inside), summary);
}

// Runs of two seeds that reach these accuracies.
void record_curves(const Scratch& scratch, const std::string& label, double first, double second) {
  write_run(scratch / "runs" / (label + "-seed-1"), label, 1, first, {}, 2);
  write_run(scratch / "runs" / (label + "-seed-2"), label, 2, second, {}, 2);
}

using Plot = ScratchTest;

TEST_F(Plot, DrawsCurvesAndSaysWhereTheyEnd) {
  record_curves(scratch, "fedavg", 0.5, 0.6);
  record_curves(scratch, "scaffold", 0.75, 0.75);
  EXPECT_EQ(succeed("plot runs -o a.svg --x bytes").out,
            "a.svg: accuracy (%) over bytes sent, up and down (MiB)\n"
            "curve     rounds  seeds  last accuracy  at bytes\n"
            "fedavg    1 to 2      2   55.00 ± 7.07   0.23819\n"
            "scaffold  1 to 2      2   75.00 ± 0.00   0.23819\n"
            "note: partition of digits: iid(clients=10,seed=...): seed 1 index hash 000000000000abc1, seed 2 "
            "index hash 000000000000abc2\n");
  EXPECT_THAT(content_of(scratch / "a.svg"), HasSubstr(">scaffold</text>"));
}

// More curves than a picture can tell apart are still points.
TEST_F(Plot, PrintsPointsWithoutAPicture) {
  for (int entry = 0; entry < 17; ++entry) record_curves(scratch, fmt::format("entry-{}", entry), 0.5, 0.6);
  EXPECT_THAT(refused("plot runs -o a.svg --format json"), HasSubstr("17 curves cannot be told apart"));
  const auto json = nlohmann::json::parse(succeed("plot runs --format json").out);
  EXPECT_EQ(json["panels"][0]["curves"].size(), 17U);
  EXPECT_FALSE(fs::exists(scratch / "a.svg"));
}

TEST_F(Plot, RoundsTheEpsilonUpWhereACurveEnds) {
  write_run(scratch / "runs/a", "dp-fedavg", 1, 0.5,
            {.summary =
                 [](results::Summary& summary) {
                   summary.policy = "record";
                   summary.privacy = results::finished_privately("dp-fedavg", 1, 0.5).privacy;
                 },
             .round = [](results::RoundRecord& round) { round.epsilon = 2.78664001; }});
  EXPECT_THAT(succeed("plot runs -o a.svg --x epsilon").out, HasSubstr("  2.7867\n"));
}

TEST_F(Plot, TakesTheLabelsThatAreAskedFor) {
  record_curves(scratch, "fedavg", 0.5, 0.6);
  record_curves(scratch, "scaffold", 0.75, 0.75);
  const Outcome outcome = succeed("plot runs -o a.pdf --labels scaffold --format json");
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["panels"][0]["curves"].size(), 1U);
  EXPECT_EQ(json["panels"][0]["curves"][0]["name"], "scaffold");
  EXPECT_THAT(content_of(scratch / "a.pdf"), StartsWith("%PDF"));
}

TEST_F(Plot, DrawsReceiverOperatingCharacteristics) {
  record_curves(scratch, "fedavg", 0.5, 0.6);
  const auto run = RunDirectory::open(scratch / "runs/fedavg-seed-1");
  results::write_attacks(run, results::sample_attacks(run));
  EXPECT_EQ(succeed("plot runs -o a.svg --roc").out,
            "a.svg: receiver operating characteristics\n"
            "curve     AUC\n"
            "loss   0.7344\n"
            "rmia   0.7500\n");
  EXPECT_THAT(content_of(scratch / "a.svg"), HasSubstr(">rmia, AUC 0.7500</text>"));
  const Outcome json = succeed("plot runs -o a.svg --roc --format json");
  EXPECT_EQ(nlohmann::json::parse(json.out)["curves"][1]["auc"], 0.75);
}

TEST_F(Plot, RefusesWithOneMessage) {
  record_curves(scratch, "fedavg", 0, 0);
  expect_refusals(scratch, "bad_plots.txt");
  EXPECT_FALSE(fs::exists(scratch / "a.svg"));
}

using ReportCommand = ScratchTest;

TEST_F(ReportCommand, WritesOnePage) {
  write_run(scratch / "runs/fedavg-seed-1", "fedavg", 1, 0.5);
  write_run(scratch / "runs/scaffold-seed-1", "scaffold", 1, 0.75);
  const Outcome outcome = succeed("report runs");
  EXPECT_THAT(outcome.out, ContainsRegex("^report.html: 2 runs, 2 rows of the table, [0-9]+ KiB\n$"));
  EXPECT_THAT(outcome.err, IsEmpty());
  const std::string page = content_of(scratch / "report.html");
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">runs/scaffold-seed-1</th>"));
  succeed("report runs -o again.html");
  EXPECT_EQ(content_of(scratch / "again.html"), page);
  scratch.write("runs/fedavg-seed-1/rounds.jsonl", "{}\n");
  const Outcome partly = succeed("report runs");
  EXPECT_THAT(partly.out, StartsWith("report.html: 1 run, 1 row of the table, "));
  EXPECT_EQ(partly.err,
            "note: runs/fedavg-seed-1: rounds.jsonl:1: field \"round\" is missing; the run is not shown\n");
}

// As the rounds have it: the summary of a run that was killed dates from its last checkpoint.
TEST_F(ReportCommand, CountsTheRoundsOfUnfinishedRuns) {
  record_run(scratch / "runs", 1, 2, 2);
  record_run(scratch / "runs", 2, 1, 2);
  edit_summary(scratch / "runs/fedavg-seed-2", [](results::Summary& summary) { summary.rounds_done = 0; });
  EXPECT_THAT(refused("bundle runs/fedavg-seed-2 -o a.tgz"),
              HasSubstr("the run is unfinished (1 of 2 rounds)"));
  succeed("report runs");
  EXPECT_THAT(content_of(scratch / "report.html"), HasSubstr("seed 2 is unfinished (1 of 2 rounds)"));
  scratch.write("runs/fedavg-seed-2/rounds.jsonl", "{}\n");
  EXPECT_THAT(succeed("report runs").err, HasSubstr("fedavg-seed-2: rounds.jsonl:1: field"));
}

TEST_F(ReportCommand, RefusesWithOneMessage) {
  write_run(scratch / "runs/fedavg-seed-1", "fedavg", 1, 0.5);
  expect_refusals(scratch, "bad_reports.txt");
  EXPECT_FALSE(fs::exists(scratch / "report.html"));
}

}  // namespace
}  // namespace fedarena::test
