#include "results/images/synthetic_folder.hpp"

#include "tests/matchers.hpp"
#include "tests/results/record/file_size_limit.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using Rounds = std::vector<std::int64_t>;
namespace fs = std::filesystem;

// One image of a pixel that tells the round.
SyntheticSet set_of(std::int64_t round) {
  return {.images = {{1, 1, 1, 1}, std::vector<float>{static_cast<float>(round)}},
          .labels = {{1}, std::vector<std::int64_t>{round % 10}}};
}

// As a run does it: a round's set, then its record.
void add_rounds(RunDirectory& run, std::int64_t last) {
  for (std::int64_t round = run.rounds_recorded() + 1; round <= last; ++round) {
    run.synthetic().write(round, set_of(round));
    run.append(round_record(round));
  }
}

RunDirectory new_run(const fs::path& path) {
  return RunDirectory::create(path, "[experiment]\n", "{}\n", unfinished("fedlap", 1, 0));
}

class SyntheticFolderTest : public WithFolder {};

TEST_F(SyntheticFolderTest, IsAbsentWithoutSets) {
  RunDirectory run = new_run(folder_ / "a");
  run.append(round_record(1));
  run.truncate_rounds(0);
  EXPECT_EQ(run.synthetic().rounds(), Rounds{});
  EXPECT_FALSE(fs::exists(folder_ / "a/synthetic"));
}

TEST_F(SyntheticFolderTest, KeepsTheSeriesAndTheLatest) {
  RunDirectory run = new_run(folder_ / "a");
  const std::vector<std::pair<std::int64_t, Rounds>> expected{{1, {1}},
                                                              {2, {1, 2}},
                                                              {3, {1, 2, 3}},
                                                              {4, {1, 2, 4}},
                                                              {5, {1, 2, 5}},
                                                              {6, {1, 2, 5, 6}},
                                                              {10, {1, 2, 5, 10}},
                                                              {12, {1, 2, 5, 10, 12}},
                                                              {21, {1, 2, 5, 10, 20, 21}}};
  for (const auto& [last, kept] : expected) {
    add_rounds(run, last);
    EXPECT_EQ(run.synthetic().rounds(), kept);
    for (const std::int64_t round : kept) EXPECT_EQ(run.synthetic().read(round), set_of(round));
  }
  EXPECT_TRUE(fs::exists(folder_ / "a/synthetic/round-0021/images.npy"));
  EXPECT_TRUE(fs::exists(folder_ / "a/synthetic/round-0021/labels.npy"));
}

TEST_F(SyntheticFolderTest, KeepsTheRoundBeforeUntilTheNextIsRecorded) {
  RunDirectory run = new_run(folder_ / "a");
  add_rounds(run, 3);
  run.synthetic().write(4, set_of(4));
  EXPECT_EQ(run.synthetic().rounds(), (Rounds{1, 2, 3, 4}));
}

TEST_F(SyntheticFolderTest, DropsTheRoundsAfterACheckpoint) {
  RunDirectory run = new_run(folder_ / "a");
  add_rounds(run, 7);
  run.synthetic().write(8, set_of(8));  // its record was not written any more
  run.truncate_rounds(7);
  EXPECT_EQ(run.synthetic().rounds(), (Rounds{1, 2, 5, 7}));
  run.truncate_rounds(4);
  EXPECT_EQ(run.synthetic().rounds(), (Rounds{1, 2}));
  add_rounds(run, 6);
  EXPECT_EQ(run.synthetic().rounds(), (Rounds{1, 2, 5, 6}));
  run.truncate_rounds(0);
  EXPECT_EQ(run.synthetic().rounds(), Rounds{});
}

TEST_F(SyntheticFolderTest, StaysWhenTheLastRecordIsReplaced) {
  RunDirectory run = new_run(folder_ / "a");
  add_rounds(run, 4);
  run.replace_last(round_record(4));
  EXPECT_EQ(run.synthetic().rounds(), (Rounds{1, 2, 4}));
}

TEST_F(SyntheticFolderTest, ATornLineDropsNoSet) {
  RunDirectory run = new_run(folder_ / "a");
  add_rounds(run, 2);
  std::ofstream(folder_ / "a/rounds.jsonl", std::ios::app) << "{\"round\":3,";
  RunDirectory again = RunDirectory::open(folder_ / "a");
  add_rounds(again, 3);
  EXPECT_EQ(again.synthetic().rounds(), (Rounds{1, 2, 3}));
}

TEST_F(SyntheticFolderTest, ReplacesASetOfTheSameRound) {
  const SyntheticFolder synthetic(folder_.path());
  synthetic.write(3, set_of(3));
  synthetic.write(3, set_of(4));
  EXPECT_EQ(synthetic.read(3), set_of(4));
}

TEST_F(SyntheticFolderTest, SweepsUpWhatACrashLeft) {
  const SyntheticFolder synthetic(folder_.path());
  folder_.write("synthetic/round-0001.partial/images.npy", "half");
  folder_.write("synthetic/notes.txt", "not ours");
  EXPECT_EQ(synthetic.rounds(), Rounds{});
  synthetic.write(2, set_of(2));
  EXPECT_EQ(synthetic.rounds(), Rounds{2});
  EXPECT_FALSE(fs::exists(folder_ / "synthetic/round-0001.partial"));
  EXPECT_TRUE(fs::exists(folder_ / "synthetic/notes.txt"));
}

TEST_F(SyntheticFolderTest, CountsBeyondFourDigits) {
  const SyntheticFolder synthetic(folder_.path());
  for (const std::int64_t round : {12345, 20000, 9999}) synthetic.write(round, set_of(round));
  folder_.write("synthetic/round-7/images.npy", "");
  EXPECT_EQ(synthetic.rounds(), (Rounds{9999, 12345, 20000}));
  synthetic.thin();
  EXPECT_EQ(synthetic.rounds(), Rounds{20000});
}

TEST_F(SyntheticFolderTest, LeavesNothingOfASetThatDoesNotFitOnTheDisk) {
  const SyntheticFolder synthetic(folder_.path());
  synthetic.write(1, set_of(1));
  SyntheticSet large = set_of(2);
  large.images = {{1, 1, 20, 20}, std::vector<float>(400)};
  {
    const FileSizeLimit limit(1000);
    expect_refused("images.npy: cannot be written: File too large\n  raise the limit of a file's size",
                   [&] { synthetic.write(2, large); });
  }
  EXPECT_EQ(synthetic.rounds(), Rounds{1});
  EXPECT_FALSE(fs::exists(folder_ / "synthetic/round-0002.partial"));
  synthetic.write(2, large);
  EXPECT_EQ(synthetic.rounds(), (Rounds{1, 2}));
}

TEST_F(SyntheticFolderTest, SaysWhereItCannotBeMade) {
  put(folder_ / "synthetic", "");
  const SyntheticFolder synthetic(folder_.path());
  expect_refused("synthetic: cannot be listed: Not a directory", [&] { synthetic.write(1, set_of(1)); });
  expect_refused("/proc/synthetic/round-0001: cannot be created: ",
                 [&] { SyntheticFolder("/proc").write(1, set_of(1)); });
}

}  // namespace
}  // namespace fedarena::results
