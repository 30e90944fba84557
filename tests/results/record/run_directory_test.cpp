#include "results/record/run_directory.hpp"

#include <sys/stat.h>

#include "results/record/durable_file.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/file_size_limit.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

RunDirectory create(const fs::path& path) {
  return RunDirectory::create(path, "[experiment]\n", "{}\n", unfinished("fedavg", 1, 0));
}

RunDirectory with_rounds(const fs::path& path, int rounds) {
  RunDirectory run = create(path);
  for (int round = 1; round <= rounds; ++round) run.append(round_record(round));
  return run;
}

void add_bytes(const fs::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::app | std::ios::binary) << bytes;
}

class RunDirectoryTest : public WithFolder {};

TEST_F(RunDirectoryTest, HoldsWhatItWasGiven) {
  RunDirectory run = create(folder_ / "runs/quickstart/fedavg-seed-1");
  EXPECT_EQ(run.read_file(kExperimentFile), "[experiment]\n");
  EXPECT_EQ(run.read_file(kEnvironmentFile), "{}\n");
  EXPECT_EQ(run.summary(), unfinished("fedavg", 1, 0));
  EXPECT_TRUE(run.rounds().empty());
  run.append(round_record(1));
  run.append(round_record(2));
  EXPECT_EQ(run.rounds(), (std::vector{round_record(1), round_record(2)}));
  EXPECT_EQ(run.rounds_recorded(), 2);
  run.write_summary(finished("fedavg", 1, 0.5));
  EXPECT_EQ(run.summary().state, kFinished);
}

TEST_F(RunDirectoryTest, OpensWhereItWasLeft) {
  with_rounds(folder_ / "a", 2);
  RunDirectory run = RunDirectory::open(folder_ / "a");
  EXPECT_EQ(run.rounds_recorded(), 2);
  run.append(round_record(3));
  EXPECT_EQ(RunDirectory::open(folder_ / "a").rounds().size(), 3U);
}

TEST_F(RunDirectoryTest, HoldsFilesOfAnyBytes) {
  const RunDirectory run = create(folder_ / "a");
  const std::string bytes("\0\xFF\r\n", 4);
  EXPECT_FALSE(run.has(kCheckpointFile));
  run.write_file_atomically(kCheckpointFile, "older and longer");
  run.write_file_atomically(kCheckpointFile, bytes);
  EXPECT_TRUE(run.has(kCheckpointFile));
  EXPECT_EQ(run.read_file(kCheckpointFile), bytes);
  EXPECT_FALSE(run.has(std::string(kCheckpointFile) + ".partial"));
  EXPECT_THROW(run.write_file_atomically("../escape", ""), Bug);
}

TEST_F(RunDirectoryTest, NeverOverwritesARunOrForeignFiles) {
  create(folder_ / "a");
  expect_refused("already holds a run\n  resume that run", [&] { create(folder_ / "a"); });
  fs::create_directory(folder_ / "b");
  put(folder_ / "b/thesis.tex", "years of work");
  expect_refused("holds \"thesis.tex\", which is not part of a new run", [&] { create(folder_ / "b"); });
  with_rounds(folder_ / "c", 1);
  fs::remove(folder_ / "c/summary.json");
  expect_refused("holds \"rounds.jsonl\"", [&] { create(folder_ / "c"); });
}

TEST_F(RunDirectoryTest, StartsAgainAfterACrashWithinCreate) {
  create(folder_ / "a");
  fs::rename(folder_ / "a/summary.json", folder_ / "a/summary.json.partial");
  EXPECT_EQ(create(folder_ / "a").rounds_recorded(), 0);
  EXPECT_FALSE(fs::exists(folder_ / "a/summary.json.partial"));
}

TEST_F(RunDirectoryTest, RoundsFollowEachOther) {
  RunDirectory run = with_rounds(folder_ / "a", 1);
  EXPECT_THROW(run.append(round_record(1)), Bug);
  EXPECT_THROW(run.append(round_record(3)), Bug);
}

TEST_F(RunDirectoryTest, DropsATornLastLine) {
  const std::string line = to_json_line(round_record(3));
  for (std::size_t length = 1; length <= line.size(); length += 10) {
    const fs::path path = folder_ / std::to_string(length);
    with_rounds(path, 2);
    add_bytes(path / kRoundsFile, line.substr(0, length));
    RunDirectory run = RunDirectory::open(path);
    EXPECT_EQ(run.rounds().size(), 2U);
    EXPECT_EQ(run.rounds_recorded(), 2);
    run.append(round_record(3));
    EXPECT_EQ(RunDirectory::open(path).rounds().back(), round_record(3));
  }
}

TEST_F(RunDirectoryTest, OpeningChangesNothing) {
  RunDirectory run = with_rounds(folder_ / "a", 1);
  add_bytes(folder_ / "a/rounds.jsonl", "{\"round\":");
  const std::string before = run.read_file(kRoundsFile);
  RunDirectory::open(folder_ / "a");
  EXPECT_EQ(run.read_file(kRoundsFile), before);
}

TEST_F(RunDirectoryTest, GoesBackToTheRoundOfACheckpoint) {
  with_rounds(folder_ / "a", 5);
  add_bytes(folder_ / "a/rounds.jsonl", "torn");
  RunDirectory run = RunDirectory::open(folder_ / "a");
  run.truncate_rounds(5);
  EXPECT_EQ(RunDirectory::open(folder_ / "a").rounds().size(), 5U);
  run.truncate_rounds(2);
  EXPECT_EQ(run.rounds().size(), 2U);
  run.append(round_record(3));
  EXPECT_EQ(run.rounds().size(), 3U);
  run.truncate_rounds(0);
  EXPECT_EQ(run.read_file(kRoundsFile), "");
  run.append(round_record(1));
  EXPECT_EQ(run.rounds().size(), 1U);
}

TEST_F(RunDirectoryTest, PutsAnotherRecordOfTheLastRoundInItsPlace) {
  RunDirectory run = with_rounds(folder_ / "a", 2);
  RoundRecord other = round_record(2);
  other.test_loss = 0.125;
  run.replace_last(other);
  EXPECT_EQ(run.rounds(), (std::vector{round_record(1), other}));
  EXPECT_THROW(run.replace_last(round_record(1)), Bug);
  EXPECT_THROW(run.replace_last(round_record(3)), Bug);
  EXPECT_EQ(RunDirectory::open(folder_ / "a").rounds().size(), 2U);
  // All or nothing: a second name of the old file still has the old round.
  fs::create_hard_link(folder_ / "a/rounds.jsonl", folder_ / "before.jsonl");
  const std::string before = run.read_file(kRoundsFile);
  run.replace_last(round_record(2));
  EXPECT_EQ(all_rounds(folder_ / "a/rounds.jsonl").back(), round_record(2));
  EXPECT_EQ(read_whole_file(folder_ / "before.jsonl"), before);
  run.append(round_record(3));
  EXPECT_EQ(all_rounds(folder_ / "a/rounds.jsonl").size(), 3U);
}

TEST_F(RunDirectoryTest, SaysWhenTheRecordEndsBeforeTheCheckpoint) {
  RunDirectory run = with_rounds(folder_ / "a", 2);
  expect_refused("rounds.jsonl: ends at round 2, before round 3 of the checkpoint",
                 [&] { run.truncate_rounds(3); });
}

TEST_F(RunDirectoryTest, NamesTheLineOfOtherDamage) {
  with_rounds(folder_ / "a", 1);
  add_bytes(folder_ / "a/rounds.jsonl", "{}\n");
  expect_refused("rounds.jsonl:2: field \"round\" is missing", [&] { RunDirectory::resume(folder_ / "a"); });
  EXPECT_EQ(RunDirectory::open(folder_ / "a").summary().rounds_done, 0) << "which needs no rounds";
  with_rounds(folder_ / "b", 1);
  add_bytes(folder_ / "b/rounds.jsonl", to_json_line(round_record(3)) + "\n");
  expect_refused("rounds.jsonl:2: field \"round\" is 3; allowed: 2, one round a line",
                 [&] { RunDirectory::open(folder_ / "b").rounds(); });
}

TEST_F(RunDirectoryTest, SaysWhatIsMissing) {
  expect_refused("holds no run: there is no summary.json", [&] { RunDirectory::open(folder_ / "none"); });
  const RunDirectory run = create(folder_ / "a");
  expect_refused("a/ledger.json: cannot be read: No such file or directory",
                 [&] { run.read_file(kLedgerFile); });
  fs::remove(folder_ / "a/rounds.jsonl");
  expect_refused("rounds.jsonl: cannot be read", [&] { RunDirectory::resume(folder_ / "a"); });
  RunDirectory appending = run;
  expect_refused("rounds.jsonl: cannot be written", [&] { appending.append(round_record(1)); });
  expect_refused("is a folder; allowed: a regular file", [&] { run.read_file("."); });
}

TEST_F(RunDirectoryTest, NoticesASecondWriter) {
  RunDirectory first = with_rounds(folder_ / "a", 1);
  RunDirectory second = RunDirectory::resume(folder_ / "a");
  first.append(round_record(2));
  expect_refused("another program writes to this run", [&] { second.append(round_record(2)); });
}

TEST_F(RunDirectoryTest, SaysWhereItCannotBeMade) {
  put(folder_ / "file", "");
  expect_refused("file/a: cannot be created: Not a directory", [&] { create(folder_ / "file/a"); });
  expect_refused("file: cannot be", [&] { create(folder_ / "file"); });
  expect_refused("cannot be created", [&] { create("/proc/fedarena-results"); });
}

TEST_F(RunDirectoryTest, KeepsTheOldSummaryWhenTheDiskIsFull) {
  const RunDirectory run = create(folder_ / "a");
  {
    const FileSizeLimit limit(100);
    expect_refused("summary.json: cannot be written: File too large\n  raise the limit of a file's size",
                   [&] { run.write_summary(unfinished("fedavg", 1, 3)); });
  }
  EXPECT_EQ(run.summary(), unfinished("fedavg", 1, 0));
  EXPECT_FALSE(run.has(std::string(kSummaryFile) + ".partial"));
}

TEST_F(RunDirectoryTest, WritesSeveralFilesOrNone) {
  put(folder_ / "known", "before");
  const std::vector<FileContent> files = {
      {folder_ / "known", "small"}, {folder_ / "a/b/c", "small"}, {folder_ / "a/d", std::string(200, ' ')}};
  {
    const FileSizeLimit limit(100);
    expect_refused("a/d: cannot be written: File too large", [&] { replace_files(files); });
  }
  EXPECT_EQ(read_whole_file(folder_ / "known"), "before");
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  EXPECT_FALSE(fs::exists(folder_ / "known.partial"));
  replace_files(files);
  for (const auto& [file, content] : files) EXPECT_EQ(read_whole_file(file), content);
}

TEST_F(RunDirectoryTest, WritesFilesWhereTheProgramStands) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  EXPECT_NO_THROW(replace_files(std::vector<FileContent>{{"one.csv", "1"}, {"two.csv", "2"}}));
  fs::current_path(before);
  EXPECT_EQ(read_whole_file(folder_ / "one.csv") + read_whole_file(folder_ / "two.csv"), "12");
}

TEST_F(RunDirectoryTest, KeepsWholeRoundsWhenTheDiskIsFull) {
  for (const bool torn : {false, true}) {
    const fs::path path = folder_ / (torn ? "torn" : "whole");
    with_rounds(path, 2);
    if (torn) add_bytes(path / kRoundsFile, "{\"round\":3,");
    RunDirectory run = RunDirectory::open(path);
    {
      const FileSizeLimit limit(to_json_line(round_record(1)).size() * 2 + 50);
      expect_refused("rounds.jsonl: cannot be written", [&] { run.append(round_record(3)); });
    }
    EXPECT_EQ(run.rounds().size(), 2U);
    run.append(round_record(3));  // the same object goes on once there is space
    EXPECT_EQ(run.rounds().size(), 3U);
  }
}

TEST_F(RunDirectoryTest, RefusesABrokenSummary) {
  create(folder_ / "a");
  put(folder_ / "a/summary.json", "{}");
  expect_refused("summary.json: field \"schema\" is missing", [&] { RunDirectory::open(folder_ / "a"); });
}

TEST(ReplaceFile, ReplacesNothingButFiles) {
  const Scratch scratch;
  const auto refused = HasSubstr("is not a regular file, so it is not replaced");
  EXPECT_THAT(message_of([&] { replace_file(scratch.path(), "text"); }), refused);
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(message_of([&] { replace_file(scratch / "pipe", "text"); }), refused);
  EXPECT_TRUE(std::filesystem::is_fifo(scratch / "pipe"));
  replace_file(scratch.write("file", "old"), "text");
  EXPECT_EQ(read_whole_file(scratch / "file"), "text");
}

// A run directory that somebody else made may hold them.
TEST(ReplaceFile, WritesThroughNoLinkOrPipeOfItsPartialFile) {
  const Scratch scratch;
  std::filesystem::create_symlink(scratch.write("victim", "precious"), scratch / "file.partial");
  replace_file(scratch / "file", "text");
  EXPECT_EQ(read_whole_file(scratch / "victim"), "precious");
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(scratch / "file")));
  ASSERT_EQ(::mkfifo((scratch / "other.partial").c_str(), 0600), 0);
  replace_file(scratch / "other", "text");
  EXPECT_EQ(read_whole_file(scratch / "other"), "text");
}

TEST(RewriteEnd, WritesThroughNoLink) {
  const Scratch scratch;
  std::filesystem::create_symlink(scratch.write("victim", "precious"), scratch / "file");
  expect_refused("file: is a symbolic link, which is not written to",
                 [&] { rewrite_end(scratch / "file", 8, 0, "text"); });
  EXPECT_EQ(read_whole_file(scratch / "victim"), "precious");
}

}  // namespace
}  // namespace fedarena::results
