// Folders of runs that do not fit the command: tests/golden/bad_run_folders.txt, and what stays usable beside
// them.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/refusals.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Brings a finished run back to the state in which a crash would have left it.
void unfinish(const fs::path& run) {
  results::Summary summary = summary_of(run);
  summary.state = results::kRunning;
  summary.final_test_accuracy.reset();
  summary.final_test_loss.reset();
  results::RunDirectory::open(run).write_summary(summary);
}

class BadRunFolder : public testing::Test {
 protected:
  BadRunFolder() {
    scratch_.write("small.toml", SmallExperiment{.seeds = "[1, 2]"}.toml());
    EXPECT_EQ(run_program(scratch_, {"run", "small.toml", "--out", "out"}).exit_code, 0);
  }
  void copy_to(const std::string& name) const {
    fs::copy(scratch_ / "out", scratch_ / name, fs::copy_options::recursive);
    unfinish(scratch_ / name / "fedavg-seed-1");
  }
  std::string resume(const std::string& name, const std::string& setting = "training.rate=0.05") const {
    return refusals(scratch_, {{"run", "small.toml", "--out", name, "--resume", "--set", setting}});
  }

  const Scratch scratch_;
};

TEST_F(BadRunFolder, IsRefusedWithARemedyAndLeftAsItWas) {
  std::string text = refusals(scratch_, {{"run", "small.toml", "--out", "out"}});
  text += resume("out", "experiment.rounds=4");
  text += resume("out", "model.name=mlp");

  const fs::path run = "fedavg-seed-1";
  copy_to("flipped");
  std::string checkpoint = content_of(scratch_ / "flipped" / run / results::kCheckpointFile);
  checkpoint[checkpoint.size() / 2] ^= 1;
  scratch_.write("flipped" / run / results::kCheckpointFile, checkpoint);
  text += resume("flipped");
  EXPECT_EQ(content_of(scratch_ / "flipped" / run / results::kCheckpointFile), checkpoint);

  copy_to("short");
  scratch_.write("short" / run / results::kCheckpointFile, checkpoint.substr(0, 10));
  text += resume("short");

  copy_to("lost");
  const std::string rounds = content_of(scratch_ / "lost" / run / results::kRoundsFile);
  scratch_.write("lost" / run / results::kRoundsFile, rounds.substr(0, rounds.find('\n') + 1));
  text += resume("lost");

  copy_to("broken");
  scratch_.write("broken" / run / results::kRoundsFile, "not JSON\n" + rounds);
  text += resume("broken");

  scratch_.write("foreign" / run / "thesis.tex", "");
  text += resume("foreign");
  expect_golden("bad_run_folders.txt", text);
}

TEST_F(BadRunFolder, IsNamedByTableAndListWhileGoodRunsAreShown) {
  scratch_.write("out/fedavg-seed-2/summary.json", "{\"schema\": 1, \"experiment\": ");
  const Outcome table = run_program(scratch_, {"table", "out"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("| fedavg "));
  EXPECT_THAT(table.out, HasSubstr("out/fedavg-seed-2"));
  EXPECT_THAT(table.out, HasSubstr("summary.json"));
  const Outcome list = run_program(scratch_, {"list", "out"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("finished"));
  EXPECT_THAT(list.out, testing::ContainsRegex("out/fedavg-seed-2 +broken: summary.json"));
}

}  // namespace
}  // namespace fedarena::test
