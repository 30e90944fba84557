// Columns, costs and metrics of `fedarena table`, through the program.
#include <cmath>
#include <csignal>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/program.hpp"
#include "tests/harness/app/refusals.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Table, CountsWhatRunsComputed) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.algorithms = {"fedavg", "scaffold"}}.toml());
  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--out", "out"}).exit_code, 0);
  // Three rounds of four clients with four batches of 16 each, on 784 x 10 weights whose inputs need no
  // gradient: 2 x 2 x 7,840 operations.
  constexpr std::int64_t kExamples = std::int64_t{3} * 4 * 4 * 16, kOperations = kExamples * 4 * 7840;
  const results::Summary summary = summary_of(scratch / "out/fedavg-seed-1");
  EXPECT_EQ(summary.examples, kExamples);
  EXPECT_EQ(summary.cost, (results::Cost{kExamples, kOperations, false}));

  const std::vector<std::string> command = {"table", "out", "--columns",
                                            "accuracy,examples,gradients,operations,total-uplink"};
  EXPECT_THAT(run_program(scratch, command).out,
              HasSubstr("|      768 |       768 |     24.1 M |      369 KiB |"));
  const json table = json::parse(run_program(scratch, {"table", "out", "--format", "json"}).out);
  EXPECT_EQ(table["rows"][0]["operations"], kOperations);
  EXPECT_EQ(table["rows"][0]["operations_at_least"], false);
  EXPECT_THAT(run_program(scratch, {"table", "out"}).out, Not(HasSubstr("operations")));
  const Outcome verified = run_program(scratch, {"verify", "out"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out;
}

TEST(Table, KeepsCountingInARunThatIsResumed) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.seeds = "[1]", .rounds = 40}.toml());
  Program program(scratch, {"run", "small.toml", "--out", "out"});
  ASSERT_TRUE(program.wait_until([&] { return rounds_on_disk(scratch / "out/fedavg-seed-1") >= 2; }));
  program.send(SIGINT);
  program.finish();
  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--out", "out", "--resume"}).exit_code, 0);
  EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-1").examples, 40 * 4 * 4 * 16);
  EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-1").cost->gradients, 40 * 4 * 4 * 16);
}

// Two folders in which one label has two learning rates.
TEST(Table, TellsFoldersApartByWhatTheirAlgorithmsDifferIn) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{}.toml());
  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--out", "a"}).exit_code, 0);
  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--out", "b", "--set", "training.rate=0.5"}).exit_code,
            0);
  EXPECT_THAT(run_program(scratch, {"table", "a", "b"}).out,
              AllOf(HasSubstr("| algorithm | rate | rounds |"), HasSubstr("| fedavg    | 0.05 |"),
                    HasSubstr("| fedavg    | 0.5  |")));
  EXPECT_THAT(run_program(scratch, {"table", "a", "b", "--rows", "label", "--pivot", "rate"}).out,
              HasSubstr("0.05"));
  EXPECT_THAT(run_program(scratch, {"report", "a", "b", "-o", "page.html"}).out,
              HasSubstr("2 runs, 2 rows of the table"));
  EXPECT_THAT(run_program(scratch, {"plot", "a", "b", "-o", "curves.svg"}).out,
              AllOf(HasSubstr("fedavg, rate=0.05"), HasSubstr("fedavg, rate=0.5")));
  // What is no parameter of the algorithm is told, not shown.
  ASSERT_EQ(
      run_program(scratch, {"run", "small.toml", "--out", "c", "--set", "experiment.rounds=2"}).exit_code, 0);
  const Outcome refused = run_program(scratch, {"table", "a", "c"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("differ in rounds: \"3\" and \"2\""));
}

TEST(Table, ReadsAMetricWhereItIsAskedFor) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.rounds = 4, .evaluate_every = 2}.toml() +
                                  "\n[privacy]\npolicy = \"record\"\n");
  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--out", "out"}).exit_code, 0);
  const std::vector<results::RoundRecord> rounds = rounds_of(scratch / "out/fedavg-seed-1");
  const auto value_of = [&](const std::string& metric) {
    const Outcome outcome = run_program(scratch, {"table", "out", "--format", "json", "--metric", metric});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
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
  EXPECT_EQ(value_of("class:2@round=2"), *rounds[1].classes->accuracy[2]);
  EXPECT_EQ(value_of("examples@round=3"), rounds[0].examples + rounds[1].examples + rounds[2].examples);
  const Outcome empty = run_program(scratch, {"table", "out", "--metric", "worst-client@round=2"});
  EXPECT_THAT(empty.out, HasSubstr("- fedavg: worst-client@round=2 has no value, because seed 1 has no "
                                   "worst-client in the rounds, which record it with [evaluation] "
                                   "per_client = true"));
}

TEST(Table, ShowsIntervalsPublishedFiguresAndMatrices) {
  const Scratch scratch;
  scratch.write("small.toml",
                SmallExperiment{.seeds = "[1, 2]", .algorithms = {"fedavg", "scaffold"}}.toml());
  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--out", "out"}).exit_code, 0);
  scratch.write(
      "refs.toml",
      "[published]\nsource = \"Doe\"\nfigures = [{ label = \"scaffold\", mean = 45.25, std = 6.9 }]\n");
  const json row = json::parse(run_program(scratch, {"table", "out", "--format", "json"}).out)["rows"][0];
  // Student's t of one degree of freedom is 12.706 at 97.5 %.
  EXPECT_NEAR(row["accuracy_half_width_95"].get<double>(),
              12.7062047 * row["accuracy_std"].get<double>() / std::sqrt(2), 1e-9);

  const std::string table =
      run_program(scratch, {"table", "out", "--interval", "--references", "refs.toml"}).out;
  EXPECT_THAT(table, HasSubstr("half-width of its 95 % interval"));
  EXPECT_THAT(table, HasSubstr("|   45.25 ± 6.9 |"));
  EXPECT_THAT(table, HasSubstr("- published: Doe\n"));
  EXPECT_THAT(table, HasSubstr(fmt::format(" ± {:.2f}", 100 * row["accuracy_half_width_95"].get<double>())));

  const std::vector<std::string> matrix = {"table", "out", "--rows", "data set", "--pivot", "label"};
  EXPECT_THAT(run_program(scratch, matrix).out, HasSubstr("| dataset |"));
  EXPECT_THAT(run_program(scratch, matrix).out, HasSubstr("| glyphs "));
  std::vector<std::string> csv = matrix;
  csv.insert(csv.end(), {"--format", "csv"});
  EXPECT_THAT(
      run_program(scratch, csv).out,
      testing::StartsWith("dataset,fedavg mean,fedavg std,fedavg half_width_95,fedavg seeds,scaffold mean,"));
  const Outcome verified = run_program(scratch, {"verify", "out"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out;
}

TEST(Table, RefusesReferencesAndMatricesThatCannotBe) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.algorithms = {"fedavg", "scaffold"}}.toml());
  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--out", "out"}).exit_code, 0);
  const auto references = [&](const std::string& name, const std::string& figure) {
    scratch.write(name, "[published]\nsource = \"Doe\"\nfigures = [" + figure + "]\n");
    return std::vector<std::string>{"table", "out", "--references", name};
  };
  scratch.write("broken.toml", "[published\n");
  expect_golden(
      "bad_references.txt",
      refusals(scratch, {{"table", "out", "--references", "reference.toml"},
                         {"table", "out", "--references", "broken.toml"},
                         {"table", "out", "--references", "out"},
                         references("nan.toml", "{ label = \"fedavg\", mean = nan }"),
                         references("text.toml", "{ label = \"fedavg\", mean = \"71\" }"),
                         references("key.toml", "{ lable = \"fedavg\", mean = 71 }"),
                         references("none.toml", "{ label = \"fedagv\", mean = 71 }"),
                         references("several.toml", "{ dataset = \"glyphs\", mean = 71 }"),
                         references("twice.toml",
                                    "{ label = \"fedavg\", mean = 71 }, { label = \"fedavg\", mean = 72 }"),
                         {"table", "out", "--rows", "label"},
                         {"table", "out", "--pivot", "label"},
                         {"table", "out", "--rows", "label", "--pivot", "dataset", "--columns", "seconds"},
                         {"table", "out", "--rows", "label", "--pivot", "dataset", "--format", "json"},
                         {"table", "out", "--rows", "partition", "--pivot", "dataset"}}));
}

TEST(Table, RefusesColumnsAndMetricsThatThereAreNot) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.rounds = 1}.toml());
  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--out", "out"}).exit_code, 0);
  expect_golden("bad_tables.txt", refusals(scratch, {{"table", "out", "--columns", "acuracy,seconds"},
                                                     {"table", "out", "--columns", "seconds,seconds"},
                                                     {"table", "out", "--columns", ""},
                                                     {"table", "out", "--metric", "acuracy"},
                                                     {"table", "out", "--metric", "accuracy@rounds=3"},
                                                     {"table", "out", "--metric", "accuracy@round=best"},
                                                     {"table", "out", "--metric", "accuracy@epsilon"},
                                                     {"table", "out", "--metric", "class:ten"}}));
}

}  // namespace
}  // namespace fedarena::test
