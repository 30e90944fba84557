#include "results/record/find_runs.hpp"

#include <iostream>
#include <map>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "fedarena/base/file.hpp"

#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

void make_run(const fs::path& path, std::int64_t seed) {
  RunDirectory::create(path, "", "{}", finished("fedavg", seed, 0.5));
}

std::vector<std::string> names(const std::vector<FoundRun>& runs) {
  std::vector<std::string> result;
  for (const FoundRun& run : runs) result.push_back(run.path.filename().string());
  return result;
}

class FindRunsTest : public WithFolder {};

TEST_F(FindRunsTest, FindsRunsAtAnyDepthInNaturalOrder) {
  for (const int seed : {10, 2, 1})
    make_run(folder_ / ("runs/quickstart/fedavg-seed-" + std::to_string(seed)), seed);
  make_run(folder_ / "runs/another/deep/er/fedprox-seed-1", 1);
  fs::create_directories(folder_ / "runs/empty");
  const auto runs = find_runs(std::vector{folder_ / "runs"});
  EXPECT_THAT(names(runs), ElementsAre("fedprox-seed-1", "fedavg-seed-1", "fedavg-seed-2", "fedavg-seed-10"));
  EXPECT_EQ(runs.back().summary, finished("fedavg", 10, 0.5));
  EXPECT_THAT(runs.back().problem, IsEmpty());
}

TEST_F(FindRunsTest, ARunMayBeGivenItself) {
  make_run(folder_ / "a", 1);
  EXPECT_THAT(names(find_runs(std::vector{folder_ / "a"})), ElementsAre("a"));
  EXPECT_THAT(names(find_runs(std::vector{folder_ / "a/"})), ElementsAre("a"));
}

TEST_F(FindRunsTest, ReturnsEachRunOnce) {
  make_run(folder_ / "runs/a", 1);
  make_run(folder_ / "runs/b", 2);
  fs::create_directory_symlink(folder_ / "runs", folder_ / "link");
  const std::vector paths = {folder_ / "runs/b", folder_ / "runs", folder_ / "runs/../runs/a",
                             folder_ / "link"};
  EXPECT_THAT(find_runs(paths), SizeIs(2));
}

TEST_F(FindRunsTest, DoesNotFollowLinksThatCouldLoop) {
  make_run(folder_ / "runs/a", 1);
  fs::create_directory_symlink(folder_ / "runs", folder_ / "runs/again");
  EXPECT_THAT(names(find_runs(std::vector{folder_ / "runs"})), ElementsAre("a"));
}

TEST_F(FindRunsTest, FollowsLinksToRuns) {
  make_run(folder_ / "elsewhere/a", 1);
  make_run(folder_ / "runs/b", 2);
  fs::create_directory_symlink(folder_ / "elsewhere/a", folder_ / "runs/c");
  EXPECT_THAT(names(find_runs(std::vector{folder_ / "runs"})), ElementsAre("b", "c"));
  EXPECT_THAT(names(find_runs(std::vector{folder_ / "runs", folder_ / "elsewhere"})), ElementsAre("a", "b"));
}

TEST_F(FindRunsTest, ABrokenRunDoesNotHideTheOthers) {
  make_run(folder_ / "runs/good", 1);
  make_run(folder_ / "runs/broken", 2);
  put(folder_ / "runs/broken/summary.json", "{\"schema\": 2}");
  fs::create_directories(folder_ / "runs/foreign/summary.json");
  fs::create_directories(folder_ / "runs/pipe");
  ASSERT_EQ(::mkfifo((folder_ / "runs/pipe/summary.json").c_str(), 0600), 0);
  const auto runs = find_runs(std::vector{folder_ / "runs"});
  ASSERT_THAT(names(runs), ElementsAre("broken", "foreign", "good", "pipe"));
  EXPECT_FALSE(runs[0].summary);
  EXPECT_EQ(runs[0].problem, "summary.json: field \"experiment\" is missing");
  EXPECT_EQ(runs[1].problem, "summary.json: is a folder; allowed: a regular file");
  EXPECT_TRUE(runs[2].summary);
  EXPECT_EQ(runs[3].problem, "summary.json: is a pipe; allowed: a regular file");
}

// Of a private run that goes on it says whether it is the control of an audit; whoever compares runs reads
// it.
TEST(FindRuns, ARunWhoseExperimentFileCannotBeReadIsBroken) {
  const Scratch folder;
  Summary summary = unfinished("dp-fedavg", 1, 0);
  summary.policy = "record";
  summary.privacy = PrivacyClaim{.unit = "record", .settings = {.delta = 1e-5, .orders = "opacus"}};
  RunDirectory::create(folder / "runs/private", "", "{}", summary);
  make_run(folder / "runs/a", 1);
  ASSERT_EQ(find_runs(std::vector{folder / "runs"}).back().summary, summary);
  for (const char* name : {"a", "private"})
    fs::resize_file(folder / "runs" / name / kExperimentFile, kMostBytesOfText + 1);
  for (const FoundRun& run : find_runs(std::vector{folder / "runs"})) {
    EXPECT_FALSE(run.summary) << run.path;
    EXPECT_THAT(run.problem, StartsWith("experiment.toml: has more than 1073741824 bytes"));
  }
}

// What is being made is not a run yet.
TEST_F(FindRunsTest, NamesRunsThatLostTheirSummary) {
  const auto begin = [&](const char* name) {
    return RunDirectory::create(folder_ / "runs" / name, "", "{}", unfinished("fedavg", 1, 0));
  };
  begin("begun");
  begin("left").append(round_record(1));
  make_run(folder_ / "runs/sealed", 2);
  EXPECT_THAT(names(find_runs(std::vector{folder_ / "runs"})), ElementsAre("begun", "left", "sealed"));
  for (const char* name : {"begun", "left", "sealed"}) fs::remove(folder_ / "runs" / name / kSummaryFile);
  fs::create_directories(folder_ / "runs/stripped");
  put(folder_ / "runs/stripped/checkpoint.bin", "x");
  fs::create_directories(folder_ / "runs/exported");
  put(folder_ / "runs/exported/rounds.jsonl", "somebody's");
  const auto runs = find_runs(std::vector{folder_ / "runs"});
  ASSERT_THAT(names(runs), ElementsAre("left", "sealed", "stripped"));
  for (const FoundRun& run : runs) {
    EXPECT_FALSE(run.summary);
    EXPECT_EQ(run.problem, "summary.json: is missing, and the rest of a run is there");
  }
}

TEST_F(FindRunsTest, RoundsThatCannotBeReadDoNotHideTheOthers) {
  for (const char* name : {"better", "good", "pipe", "short", "deep", "unfinished"})
    make_run(folder_ / "runs" / name, 1);
  const auto rounds = [&](const std::string& name) { return folder_ / "runs" / name / kRoundsFile; };
  std::vector<FoundRun> runs = find_runs(std::vector{folder_ / "runs"});
  for (FoundRun& run : runs) {
    run.summary->state = std::string(run.path.filename() == "unfinished" ? kInterrupted : kFinished);
    run.summary->rounds_done = 1;
    run.summary->final_test_loss = round_record(1).test_loss;
    run.summary->final_test_accuracy = round_record(1).test_accuracy;
    put(run.path / kRoundsFile, to_json_line(round_record(1)) + "\n");
  }
  runs.front().summary->final_test_accuracy = 0.9;
  put(rounds("short"), "");
  put(rounds("unfinished"), "");
  put(rounds("deep"), "{\"round\":" + std::string(100'000, '[') + "\n");
  fs::remove(rounds("pipe"));
  ASSERT_EQ(::mkfifo(rounds("pipe").c_str(), 0600), 0);
  set_aside_unreadable_rounds(runs);
  std::map<std::string, std::string> problems;
  for (const FoundRun& run : runs) problems[run.path.filename()] = run.problem;
  EXPECT_THAT(
      problems,
      ElementsAre(testing::Pair("better",
                                "summary.json: field \"final_test_accuracy\" is 0.9; allowed: 0.75, as "
                                "rounds.jsonl says"),
                  testing::Pair("deep", HasSubstr("rounds.jsonl:1: lists and objects lie too deep")),
                  testing::Pair("good", ""), testing::Pair("pipe", HasSubstr("rounds.jsonl: is a pipe")),
                  testing::Pair("short", HasSubstr("rounds.jsonl: holds 0 rounds")),
                  testing::Pair("unfinished", "")));
  EXPECT_EQ(runs.back().summary->rounds_done, 0) << "the summary is as old as its last checkpoint";
}

TEST_F(FindRunsTest, SaysWhenThereIsNothingToFind) {
  expect_refused("none: does not exist\n  give", [&] { find_runs(std::vector{folder_ / "none"}); });
  expect_refused("holds no run", [&] { find_runs(std::vector{folder_.path()}); });
  put(folder_ / "file", "");
  expect_refused("is not a folder", [&] { find_runs(std::vector{folder_ / "file"}); });
  make_run(folder_ / "a", 1);
  expect_refused("does not exist", [&] { find_runs(std::vector{folder_ / "a", folder_ / "none"}); });
}

// Its files may be listed, and nobody knows whether they are a run's. Root may enter everything, so that a
// child becomes somebody else.
TEST_F(FindRunsTest, AFolderThatCannotBeEnteredIsAProblem) {
  for (const char* run : {"runs/closed", "runs/open"}) make_run(folder_ / run, 1);
  for (const fs::path& way : {folder_.path(), folder_ / "runs"}) fs::permissions(way, fs::perms::all);
  fs::permissions(folder_ / "runs/closed", fs::perms(0444));
  const auto look_as_another = [&] {
    if (geteuid() == 0 && setuid(12345) != 0) ::_exit(1);
    for (const char* path : {"runs", "runs/closed"}) {
      for (const FoundRun& run : find_runs(std::vector{folder_ / path}))
        std::cerr << run.path.filename().string() << "(" << run.problem << ") ";
    }
    std::cerr << message_of([&] { open_one_run(folder_ / "runs/closed"); });
    ::_exit(0);
  };
  EXPECT_EXIT(look_as_another(), testing::ExitedWithCode(0),
              "^closed\\(cannot be entered: Permission denied\\) open\\(\\) "
              "closed\\(cannot be entered: Permission denied\\) "
              ".*/runs/closed: cannot be entered: Permission denied\n  change its permissions");
  fs::permissions(folder_ / "runs/closed", fs::perms(0755));
}

TEST_F(FindRunsTest, RunNamesArePathsBelowWhatHoldsAllFolders) {
  for (const char* run : {"runs/one/fedavg-seed-1", "runs/two/fedavg-seed-1", "runs/two/deep/fedavg-seed-2"})
    make_run(folder_ / run, 1);
  const auto names = [&](const std::vector<fs::path>& folders) {
    return run_names(find_runs(folders), folders);
  };
  EXPECT_THAT(names({folder_ / "runs/two"}), ElementsAre("deep/fedavg-seed-2", "fedavg-seed-1"));
  EXPECT_THAT(names({folder_ / "runs/two/"}), ElementsAre("deep/fedavg-seed-2", "fedavg-seed-1"));
  EXPECT_THAT(names({folder_ / "runs", folder_ / "runs/one/fedavg-seed-1"}),
              ElementsAre("one/fedavg-seed-1", "two/deep/fedavg-seed-2", "two/fedavg-seed-1"));
  EXPECT_THAT(names({folder_ / "runs/one/fedavg-seed-1"}), ElementsAre("fedavg-seed-1"));
  EXPECT_THAT(names({folder_ / "runs/one/", folder_ / "runs/two/deep"}),
              ElementsAre("one/fedavg-seed-1", "two/deep/fedavg-seed-2"));
}

}  // namespace
}  // namespace fedarena::results
