// Receiver operating characteristics: from the end of a run to the picture.
#include <filesystem>
#include <signal.h>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "results/record/roc_file.hpp"
#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

results::TestRoc roc_of(const fs::path& run) {
  const auto roc = results::read_roc(results::RunDirectory::open(run));
  EXPECT_TRUE(roc.has_value()) << run;
  return roc.value_or(results::TestRoc());
}

void expect_success(const Outcome& outcome) { ASSERT_EQ(outcome.exit_code, 0) << outcome.err; }

TEST(Roc, IsOfAllTestExamplesAndTheSameForAnyNumberOfWorkers) {
  const Scratch scratch;
  // Micro-batches are many, the last one smaller.
  scratch.write("small.toml", SmallExperiment{.rounds = 2, .model = "name = \"convnet\"\nwidth = 4"}.toml());
  expect_success(run_program(scratch, {"run", "small.toml", "--out", "one", "--workers", "1"}));
  expect_success(run_program(scratch, {"run", "small.toml", "--out", "two", "--workers", "2"}));
  const std::string bytes = content_of(scratch / "one/fedavg-seed-1/roc.json");
  EXPECT_EQ(bytes, content_of(scratch / "two/fedavg-seed-1/roc.json"));
  const results::TestRoc roc = roc_of(scratch / "one/fedavg-seed-1");
  ASSERT_EQ(roc.classes.size(), 10U);
  for (const results::ClassRoc& one : roc.classes) {
    EXPECT_GT(one.positives, 0);
    // Even two rounds order better than chance.
    EXPECT_GT(one.curve.value().area, 0.5);
  }
  EXPECT_THAT(run_program(scratch, {"verify", "one"}).out, HasSubstr(" 0 differences"));
}

TEST(Roc, IsTheSameAfterAnInterruption) {
  const Scratch scratch;
  SmallExperiment experiment{.rounds = 400,
                             .evaluate_every = 400,
                             .training = "local_steps = 1\nbatch_size = 8\nrate = 0.05",
                             .algorithms = {"scaffold"}};
  scratch.write("small.toml", experiment.toml());
  expect_success(run_program(scratch, {"run", "small.toml", "--out", "unbroken"}));
  const fs::path run = scratch / "out/scaffold-seed-1";
  {
    Program program(scratch, {"run", "small.toml", "--out", "out"});
    ASSERT_TRUE(program.wait_until([&] { return rounds_on_disk(run) >= 1; })) << program.err();
    program.send(SIGINT);
    ASSERT_EQ(program.finish().exit_code, 130);
  }
  EXPECT_FALSE(fs::exists(run / results::kRocFile));
  expect_success(run_program(scratch, {"run", "small.toml", "--out", "out", "--resume"}));
  EXPECT_EQ(content_of(run / results::kRocFile), content_of(scratch / "unbroken/scaffold-seed-1/roc.json"));
}

TEST(Roc, OfAModelThatDivergedHasNoCurvesAndIsNotDrawn) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.training = "local_steps = 4\nrate = 1e38"}.toml());
  expect_success(run_program(scratch, {"run", "small.toml", "--out", "out"}));
  for (const results::ClassRoc& one : roc_of(scratch / "out/fedavg-seed-1").classes) {
    EXPECT_GT(one.positives, 0);
    EXPECT_EQ(one.curve, std::nullopt);
  }
  const Outcome outcome = run_program(scratch, {"plot", "out", "--roc", "-o", "a.svg"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("its model diverged: scores are not numbers"));
  EXPECT_FALSE(fs::exists(scratch / "a.svg"));
}

TEST(Roc, OfARegressionThereIsNone) {
  const Scratch scratch;
  std::string table = "size,price\n";
  for (int size = 1; size <= 40; ++size)
    table += std::to_string(size) + "," + std::to_string(3 * size) + "\n";
  scratch.write("prices.csv", table);
  scratch.write(
      "small.toml",
      SmallExperiment{.data = "csv\"\npath = \"prices.csv\"\ntask = \"regression\"\ntarget = \"price",
                      .model = "name = \"linear\""}
          .toml());
  expect_success(run_program(scratch, {"run", "small.toml", "--out", "out"}));
  EXPECT_FALSE(fs::exists(scratch / "out/fedavg-seed-1/roc.json"));
  EXPECT_THAT(run_program(scratch, {"plot", "out", "--roc", "-o", "a.svg"}).err,
              HasSubstr("is of regression data, which has no classes"));
}

TEST(Roc, IsDrawnOverSeeds) {
  const Scratch scratch;
  SmallExperiment experiment{.seeds = "[1, 2]", .algorithms = {"fedavg", "scaffold"}};
  scratch.write("small.toml", experiment.toml());
  expect_success(run_program(scratch, {"run", "small.toml", "--out", "out"}));
  const Outcome drawn = run_program(scratch, {"plot", "out", "-o", "a.svg", "--roc"});
  expect_success(drawn);
  EXPECT_THAT(drawn.out,
              AllOf(StartsWith("a.svg: receiver operating characteristic after the last round, each "
                               "class against the rest, macro average\n"
                               "curve     seeds              AUC\n"),
                    ContainsRegex("\nfedavg        2  0\\.[0-9]+ ± 0\\.[0-9]+\n"),
                    ContainsRegex("\nscaffold      2  0\\.[0-9]+ ± 0\\.[0-9]+\n")));
  EXPECT_THAT(content_of(scratch / "a.svg"),
              AllOf(HasSubstr(">false positive rate</text>"), HasSubstr(">fedavg, AUC 0."),
                    HasSubstr(">chance</text>")));
  const Outcome json = run_program(scratch, {"plot", "out", "-o", "b.svg", "--roc", "--class", "3",
                                             "--labels", "fedavg", "--format", "json"});
  expect_success(json);
  const auto object = nlohmann::json::parse(json.out);
  EXPECT_EQ(object["class"], 3);
  ASSERT_EQ(object["panels"][0]["curves"].size(), 1U);
  const double first = roc_of(scratch / "out/fedavg-seed-1").classes[3].curve.value().area;
  const double second = roc_of(scratch / "out/fedavg-seed-2").classes[3].curve.value().area;
  EXPECT_DOUBLE_EQ(object["panels"][0]["curves"][0]["auc"], (first + second) / 2);
}

}  // namespace
}  // namespace fedarena::test
