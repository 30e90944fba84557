#include "results/live/live_runs.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/record/claim_text.hpp"
#include "results/record/run_directory.hpp"
#include "tests/matchers.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

RunDirectory begin_run(const fs::path& path) {
  Summary summary = unfinished("fedavg", 1, 0);
  summary.state = kRunning;
  return RunDirectory::create(path, "", "{}", summary);
}

std::vector<LiveCell> look(LiveRuns& runs, const FolderLocks& locks = {}) {
  return runs.look(locks, fs::file_time_type::clock::now());
}

std::vector<std::string> names(const std::vector<LiveCell>& cells) {
  std::vector<std::string> found;
  for (const LiveCell& cell : cells) found.push_back(cell.path.filename().string());
  return found;
}

class LiveRunsTest : public WithFolder {};

TEST_F(LiveRunsTest, FollowARunThatGrows) {
  RunDirectory run = begin_run(folder_ / "a");
  LiveRuns runs({folder_.path()});
  EXPECT_EQ(look(runs).at(0).done, 0);
  run.append(round_record(1));
  EXPECT_EQ(look(runs).at(0).done, 1);
  run.append(round_record(2));
  run.append(round_record(3));
  const LiveCell cell = look(runs).at(0);
  EXPECT_EQ(cell.done, 3);
  EXPECT_EQ(cell.work, Work::kRunning);
  EXPECT_EQ(cell.accuracy, 0.75);
  run.truncate_rounds(1);  // resumed from a checkpoint
  EXPECT_EQ(look(runs).at(0).done, 1);
}

TEST_F(LiveRunsTest, DoNotMindARecordThatIsBeingWritten) {
  RunDirectory run = begin_run(folder_ / "a");
  run.append(round_record(1));
  LiveRuns runs({folder_.path()});
  const std::string whole = test::content_of(folder_ / "a/rounds.jsonl");
  const std::string next = to_json_line(round_record(2)) + "\n";
  for (std::size_t size = 0; size < next.size(); ++size) {
    put(folder_ / "a/rounds.jsonl", whole + next.substr(0, size));
    const LiveCell cell = look(runs).at(0);
    EXPECT_THAT(cell.problem, IsEmpty());
    EXPECT_EQ(cell.done, 1);
  }
  put(folder_ / "a/rounds.jsonl", whole + next);
  EXPECT_EQ(look(runs).at(0).done, 2);
}

TEST_F(LiveRunsTest, SeeFoldersThatAppearAndVanish) {
  fs::create_directories(folder_ / "runs");
  fs::create_directories(folder_ / "others");
  LiveRuns runs({folder_ / "runs", folder_ / "others"});
  EXPECT_THAT(look(runs), IsEmpty());
  begin_run(folder_ / "runs/a");
  fs::create_directories(folder_ / "runs/b");  // not a run before its summary is there
  put(folder_ / "runs/b/experiment.toml", "");
  EXPECT_THAT(names(look(runs)), ElementsAre("a"));
  begin_run(folder_ / "others/c");
  EXPECT_THAT(names(look(runs)), testing::UnorderedElementsAre("a", "c"));
  fs::remove_all(folder_ / "runs");
  EXPECT_THAT(names(look(runs)), ElementsAre("c"));
  fs::remove_all(folder_ / "others");
  EXPECT_THAT(look(runs), IsEmpty());
}

TEST_F(LiveRunsTest, CountARunOnceThatLiesBelowTwoFolders) {
  begin_run(folder_ / "runs/a");
  LiveRuns runs({folder_ / "runs", folder_ / "runs/a"});
  EXPECT_THAT(names(look(runs)), ElementsAre("a"));
}

TEST_F(LiveRunsTest, NameBrokenOnesWithFileAndField) {
  RunDirectory run = begin_run(folder_ / "good");
  run.append(round_record(1));
  fs::copy(folder_ / "good", folder_ / "edited");
  put(folder_ / "edited/rounds.jsonl", "{\"round\": \"one\"}\n");
  fs::copy(folder_ / "good", folder_ / "foreign");
  put(folder_ / "foreign/summary.json", "{\"schema\": 7}");
  fs::copy(folder_ / "good", folder_ / "truncated");
  Summary summary = finished("fedavg", 1, 0.75);
  RunDirectory::open(folder_ / "truncated").write_summary(summary);
  fs::copy(folder_ / "good", folder_ / "lost");
  fs::remove(folder_ / "lost/summary.json");
  fs::create_directories(folder_ / "without");
  fs::create_symlink("nowhere", folder_ / "without/summary.json");
  LiveRuns runs({folder_.path()});
  for (int i = 0; i < 2; ++i) {  // what is broken stays broken
    const std::vector<LiveCell> cells = look(runs);
    ASSERT_THAT(names(cells), ElementsAre("edited", "foreign", "good", "lost", "truncated", "without"));
    EXPECT_EQ(cells[5].problem, "summary.json: cannot be read: No such file or directory");
    EXPECT_EQ(cells[0].problem, "rounds.jsonl:1: field \"round\" is \"one\"; allowed: a whole number from 1");
    EXPECT_EQ(cells[1].problem,
              "summary.json: field \"schema\" is 7, and this build reads 2: run the experiment again, or "
              "take the build that wrote it");
    EXPECT_THAT(cells[2].problem, IsEmpty());
    EXPECT_EQ(cells[2].done, 1);
    EXPECT_THAT(cells[3].problem, HasSubstr("summary.json: is missing"));
    EXPECT_THAT(cells[4].problem, HasSubstr("rounds.jsonl: holds 1 round; allowed: 20, as field"));
    EXPECT_EQ(cells[4].work, Work::kBroken);
  }
}

// Their summaries do not: what is public, and how many units there are, stands in the ledger.
TEST_F(LiveRunsTest, SayWhatEpsilonsOfUnfinishedRunsRestOn) {
  const RecordedRun run(folder_ / "a", {.finished = false, .accesses = [](std::int64_t, std::int64_t) {
                                          RoundAccesses accesses = private_steps(10);
                                          accesses.add(DeclaredPublic{"classes"});
                                          return accesses;
                                        }});
  run.change_summary([](Summary& summary) { summary.privacy->settings.delta = 0.01; });
  LiveRuns runs({folder_.path()});
  for (int i = 0; i < 2; ++i) {
    const LiveCell cell = look(runs).at(0);
    EXPECT_EQ(public_text(*cell.summary.privacy), "each client's classes");
    EXPECT_THAT(delta_warning(*cell.summary.privacy), HasSubstr("delta 0.01 is not below 1/3003"));
  }
  put(folder_ / "a/ledger.json", "{");
  LiveRuns damaged({folder_.path()});
  EXPECT_THAT(look(damaged).at(0).problem, HasSubstr("ledger.json: "));
}

// Summaries date from the last checkpoint of a run that was killed.
TEST_F(LiveRunsTest, TellTheStateAndTheRoundsOfRunsInAList) {
  RunDirectory killed = begin_run(folder_ / "killed");
  killed.append(round_record(1));
  killed.append(round_record(2));
  begin_run(folder_ / "edited").append(round_record(1));
  put(folder_ / "edited/rounds.jsonl", "{\"round\": \"one\"}\n");
  put(folder_ / "locks", "");
  const std::vector<FoundRun> runs = runs_below({folder_.path()});
  const std::vector<LiveCell> cells = cells_of(runs, {});
  EXPECT_EQ(cells.at(0).problem,
            "rounds.jsonl:1: field \"round\" is \"one\"; allowed: a whole number from 1");
  EXPECT_EQ(cells.at(1).done, 2);
  EXPECT_EQ(cells.at(1).work, Work::kRunning) << "where nobody knows more than the record";
  EXPECT_EQ(cells_of(runs, FolderLocks::read(folder_ / "locks")).at(1).work, Work::kLeft);
}

// A run ends without a new round: the summary changes alone.
TEST_F(LiveRunsTest, CheckTheRoundsAgainWhenARunEnds) {
  RunDirectory run = begin_run(folder_ / "a");
  run.append(round_record(1));
  LiveRuns runs({folder_.path()});
  EXPECT_EQ(look(runs).at(0).work, Work::kRunning);
  run.write_summary(finished("fedavg", 1, 0.75));  // says 20 rounds
  EXPECT_EQ(look(runs).at(0).work, Work::kBroken);
}

TEST_F(LiveRunsTest, TellTheTimeSinceTheLastRound) {
  begin_run(folder_ / "a").append(round_record(1));
  LiveRuns runs({folder_.path()});
  const fs::file_time_type written = fs::last_write_time(folder_ / "a/rounds.jsonl");
  const std::vector<LiveCell> cells = runs.look({}, written + std::chrono::seconds(30));
  EXPECT_EQ(cells.at(0).since_written, 30);
}

// What a process at work does: it holds the folder, then lets it go, then ends.
TEST_F(LiveRunsTest, KnowAProcessFromItsLockUntilItEnds) {
  if (!FolderLocks::read().known()) {
    std::puts("This system lists no locks, so no process was looked for.");
    return;
  }
  begin_run(folder_ / "a");
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int held = ::open((folder_ / "a").c_str(), O_RDONLY | O_DIRECTORY);
    const char locked = held >= 0 && ::flock(held, LOCK_EX | LOCK_NB) == 0 ? 'y' : 'n';
    if (::write(ready[1], &locked, 1) == 1) ::pause();  // until it is killed
    ::_exit(0);
  }
  char locked = 'n';
  EXPECT_EQ(::read(ready[0], &locked, 1), 1);
  EXPECT_EQ(locked, 'y');
  LiveRuns runs({folder_.path()});
  EXPECT_FALSE(runs.any_process_left());
  EXPECT_EQ(look(runs, FolderLocks::read()).at(0).work, Work::kRunning);
  EXPECT_TRUE(runs.any_process_left());
  // Between two cells it holds none.
  EXPECT_EQ(look(runs, FolderLocks::read(folder_.write("list", ""))).at(0).work, Work::kLeft);
  EXPECT_TRUE(runs.any_process_left());
  ::kill(child, SIGKILL);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);  // a zombie
  EXPECT_EQ(look(runs, FolderLocks::read()).at(0).work, Work::kLeft);
  EXPECT_FALSE(runs.any_process_left());
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(runs.any_process_left());
}

TEST_F(LiveRunsTest, ChangeNothing) {
  RunDirectory run = begin_run(folder_ / "a");
  run.append(round_record(1));
  put(folder_ / "a/rounds.jsonl", test::content_of(folder_ / "a/rounds.jsonl") + "{\"rou");
  const std::string before = test::content_of(folder_ / "a/rounds.jsonl");
  const fs::file_time_type written = fs::last_write_time(folder_ / "a");
  for (const fs::path& path : {folder_ / "a/rounds.jsonl", folder_ / "a/summary.json"}) {
    fs::permissions(path, fs::perms::owner_read);
  }
  fs::permissions(folder_ / "a", fs::perms::owner_read | fs::perms::owner_exec);
  LiveRuns runs({folder_.path()});
  EXPECT_EQ(look(runs, FolderLocks::read()).at(0).done, 1);
  EXPECT_EQ(test::content_of(folder_ / "a/rounds.jsonl"), before);
  EXPECT_EQ(fs::last_write_time(folder_ / "a"), written);
  fs::permissions(folder_ / "a", fs::perms::owner_all);
}

TEST_F(LiveRunsTest, RefuseWhatIsNoFolder) {
  put(folder_ / "file", "");
  expect_refused("none: does not exist\n", [&] { LiveRuns({folder_ / "none"}); });
  expect_refused("file: is not a folder\n", [&] { LiveRuns({folder_ / "file"}); });
}

}  // namespace
}  // namespace fedarena::results
