#include "results/bundle/build_difference.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/message_of.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

std::string environment(const std::string& commit, const std::string& plugin_digest,
                        const std::string& other_digest, int workers) {
  return R"({"fedarena": "0.1.0", "commit": ")" + commit +
         R"(", "program_sha256": "p", "compiler": "gcc 12", "libtorch": "1.13", "sdk_abi": 5, "blas": "b",)" +
         R"( "processor": "x", "device": "cpu", "plugins": [)" +
         R"({"name": "fedavg", "version": "1", "sha256": ")" + plugin_digest +
         R"(", "algorithms": ["fedavg", "dp-fedavg"]}, {"name": "other", "version": "1", "sha256": ")" +
         other_digest + R"(", "algorithms": ["other"]}], "workers": )" + std::to_string(workers) + "}";
}

class BuildDifferenceTest : public testing::Test {
 protected:
  BuildDifferenceTest() {
    for (const fs::path& path : {left_, right_}) const RecordedRun run(path, {});
    put(left_ / kEnvironmentFile, environment("0123abc", "d", "o", 1));
  }
  std::vector<std::string> differences(const std::string& environment) {
    put(right_ / kEnvironmentFile, environment);
    return build_differences(left_, right_);
  }

  Scratch scratch_;
  fs::path left_ = scratch_ / "left", right_ = scratch_ / "right";
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
  EXPECT_THAT(found, testing::Contains("commit 0123abc, now not recorded"));
  EXPECT_THAT(found, testing::Contains("version of the plugin of dp-fedavg 1, now not recorded"));
  put(left_ / kEnvironmentFile, "{}");
  EXPECT_THAT(differences("{}"), testing::Contains("program_sha256 not recorded, now not recorded"));
  EXPECT_THAT(test::message_of([&] { differences("[]"); }), testing::HasSubstr("environment.json"));
}

}  // namespace
}  // namespace fedarena::results
