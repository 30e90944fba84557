#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "results/bundle/bundle.hpp"
#include "results/record/durable_file.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/partition_sample.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

std::string environment(const std::string& commit, const std::string& plugin_digest,
                        const std::string& other_digest, int workers) {
  return R"({"fedarena": "0.1.0", "commit": ")" + commit +
         R"(", "program_sha256": "p", "compiler": "gcc 12", "libtorch": "1.13", "sdk_abi": 5, "blas": "b", "arithmetic": "a",)" +
         R"( "processor": "x", "device": "cpu", "plugins": [)" +
         R"({"name": "fedavg", "version": "1", "sha256": ")" + plugin_digest +
         R"(", "algorithms": ["fedavg", "dp-fedavg"]}, {"name": "other", "version": "1", "sha256": ")" +
         other_digest + R"(", "algorithms": ["other"]}], "workers": )" + std::to_string(workers) + "}";
}

class Replayed : public testing::Test {
 protected:
  Replayed() {
    for (const fs::path& path : {left_, right_}) const RecordedRun run(path, {});
  }

  Scratch scratch_;
  fs::path left_ = scratch_ / "left", right_ = scratch_ / "right";
};

class BuildDifferenceTest : public Replayed {
 protected:
  BuildDifferenceTest() { put(left_ / kEnvironmentFile, environment("0123abc", "d", "o", 1)); }
  std::vector<std::string> differences(const std::string& environment) {
    put(right_ / kEnvironmentFile, environment);
    return build_differences(left_, right_);
  }
};

TEST_F(BuildDifferenceTest, WorkersAndPluginsOfOtherAlgorithmsChangeNoResult) {
  EXPECT_THAT(differences(environment("0123abc", "d", "changed", 8)), IsEmpty());
}

TEST_F(BuildDifferenceTest, TellsCommitAndPlugin) {
  EXPECT_THAT(differences(environment("4567def", "e", "o", 1)),
              ElementsAre("commit 0123abc, now 4567def", "sha256 of the plugin of dp-fedavg d, now e"));
}

TEST_F(BuildDifferenceTest, WhatAnOlderRecordDoesNotSayCountsAsDifferent) {
  const std::vector<std::string> found = differences("{}");
  EXPECT_THAT(found, Contains("commit 0123abc, now not recorded"));
  EXPECT_THAT(found, Contains("version of the plugin of dp-fedavg 1, now not recorded"));
  put(left_ / kEnvironmentFile, "{}");
  EXPECT_THAT(differences("{}"), Contains("program_sha256 not recorded, now not recorded"));
  expect_refused("environment.json", [&] { differences("[]"); });
}

TEST_F(BuildDifferenceTest, TellsGpus) {
  const auto on_gpu = [](const std::string& name) {
    std::string text = environment("0123abc", "d", "o", 1);
    text.insert(text.size() - 1, R"(, "gpu": ")" + name + R"(", "tf32": false)");
    return text;
  };
  put(left_ / kEnvironmentFile, on_gpu("one"));
  EXPECT_THAT(differences(on_gpu("one")), IsEmpty());
  EXPECT_THAT(differences(on_gpu("other")), ElementsAre("gpu one, now other"));
  EXPECT_THAT(differences(environment("0123abc", "d", "o", 1)),
              ElementsAre("gpu one, now not recorded", "tf32 false, now not recorded"));
}

TEST_F(BuildDifferenceTest, CountsThoseThatResumedTheRun) {
  std::string resumed = environment("0123abc", "d", "o", 1);
  resumed.insert(resumed.size() - 1, R"(, "builds": [{"from_round": 3, "commit": "4567def"}])");
  put(left_ / kEnvironmentFile, resumed);
  EXPECT_THAT(differences(environment("0123abc", "d", "o", 1)),
              ElementsAre("builds that took part 2, now 1"));
}

class RecordDifferenceTest : public Replayed {
 protected:
  void replace_last(double seconds, double accuracy, double loss) {
    RunDirectory run = RunDirectory::open(right_);
    RoundRecord record = run.rounds().back();
    record.train_seconds = seconds;
    record.test_accuracy = accuracy;
    record.test_loss = loss;
    run.replace_last(record);
  }
  RoundRecord last() const { return RunDirectory::open(left_).rounds().back(); }
  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const RecordDifference& difference : record_differences(left_, right_)) {
      texts.push_back(describe(difference));
    }
    return texts;
  }
};

TEST_F(RecordDifferenceTest, SpeedIsNone) {
  EXPECT_THAT(texts(), IsEmpty());
  replace_last(1234, *last().test_accuracy, *last().test_loss);
  Summary summary = RunDirectory::open(right_).summary();
  summary.seconds += 1;
  summary.sweep = {{"training.rate", "0.1"}};
  RunDirectory::open(right_).write_summary(summary);
  EXPECT_THAT(texts(), IsEmpty());
}

// The experiment that is run again has the chosen settings, not the search for them.
TEST_F(RecordDifferenceTest, TuningIsNone) {
  Summary summary = RunDirectory::open(left_).summary();
  summary.tuning = tuned_by(6);
  RunDirectory::open(left_).write_summary(summary);
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(RecordDifferenceTest, TheLastBitOfANumberIsOne) {
  const double accuracy = *last().test_accuracy;
  const double other = std::nextafter(accuracy, 0.0);
  replace_last(last().train_seconds, other, *last().test_loss);
  const std::vector<RecordDifference> found = record_differences(left_, right_);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].file, kRoundsFile);
  EXPECT_EQ(found[0].round, 4);
  EXPECT_EQ(found[0].field, "test_accuracy");
  EXPECT_EQ(std::stod(found[0].recorded), accuracy);
  EXPECT_EQ(std::stod(found[0].replayed), other);
}

TEST_F(RecordDifferenceTest, NotANumberIsEqualToItself) {
  replace_last(1, 0.5, kNan);
  EXPECT_THAT(record_differences(right_, right_), IsEmpty());
  EXPECT_THAT(texts(), Contains(HasSubstr("test_loss was")));
}

TEST_F(RecordDifferenceTest, FilesAreComparedByteByByte) {
  const fs::path ledger = right_ / kLedgerFile;
  replace_file(ledger, read_whole_file(ledger) + "\n");
  const auto size = fs::file_size(left_ / kLedgerFile);
  EXPECT_THAT(texts(), ElementsAre("ledger.json: the content differs (" + std::to_string(size) +
                                   " bytes, came out with " + std::to_string(size + 1) + " bytes)"));
  fs::remove(ledger);
  EXPECT_THAT(texts(), ElementsAre("ledger.json: the content differs (" + std::to_string(size) +
                                   " bytes, came out with missing)"));
}

TEST_F(RecordDifferenceTest, APartitionThatOneOfThemLacksIsOne) {
  const std::string size = std::to_string(fs::file_size(left_ / kPartitionFile)) + " bytes";
  fs::remove(left_ / kPartitionFile);
  EXPECT_THAT(texts(),
              ElementsAre("partition.json: the content differs (missing, came out with " + size + ")"));
  fs::rename(right_ / kPartitionFile, left_ / kPartitionFile);
  EXPECT_THAT(texts(),
              ElementsAre("partition.json: the content differs (" + size + ", came out with missing)"));
}

TEST_F(RecordDifferenceTest, FewerRoundsAreOne) {
  RunDirectory run = RunDirectory::open(right_);
  run.truncate_rounds(3);
  EXPECT_THAT(texts(), ElementsAre("rounds.jsonl: number of rounds was 4, came out as 3"));
}

}  // namespace
}  // namespace fedarena::results
