// A sweep from the file to the table: folders, parallel cells, parts of it, interruptions and changes.
#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

using Grid = ScratchTest;

TEST_F(Grid, RunsEveryPointInAFolderOfItsOwn) {
  const Outcome outcome = run_small(scratch, small_grid(), "");
  const std::string dirichlet = "partition.alpha=0.5,partition.kind=dirichlet";
  const std::string iid = "partition.kind=iid";
  std::vector<std::string> expected;
  for (const std::string& point : {dirichlet, iid}) {
    for (const char* seed : {"1", "2"}) {
      expected.push_back(point + "/fedavg-seed-" + seed);
      for (const char* mu : {"0.1", "1"})
        expected.push_back(std::string("algorithms.fedprox.mu=") + mu + "," + point + "/fedprox-seed-" +
                           seed);
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(cells_in(scratch / "runs/small"), expected);
  EXPECT_THAT(outcome.err, has_all("seed 1: iid: 4 clients", "[12/12] algorithms.fedprox.mu=1," + dirichlet +
                                                                 ", fedprox, seed 2: 2 rounds"));

  const Outcome table = succeed("table runs/small");
  EXPECT_THAT(table.out, HasSubstr("| partition.alpha | partition.kind | algorithm | mu "));
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n') > 8, true);
  EXPECT_THAT(table.out, ContainsRegex("\\| 0.5 +\\| dirichlet +\\| fedprox +\\| 0.1 +\\|"));
  EXPECT_THAT(call("list").out, HasSubstr("runs/small/partition.kind=iid/fedavg-seed-1"));
  EXPECT_THAT(succeed("verify runs/small").out, HasSubstr("verified: 12 runs"));
  succeed("privacy runs/small/partition.kind=iid/fedavg-seed-1");
}

TEST_F(Grid, VerifyNoticesAPointThatTheRunIsNotOf) {
  run_small(scratch, small_grid(), "--only fedprox --only seed-1");
  const fs::path run = scratch / "runs/small/algorithms.fedprox.mu=0.1,partition.kind=iid/fedprox-seed-1";
  edit_summary(run, [](results::Summary& summary) {
    summary.sweep = {{"algorithms.fedprox.mu", "0.2"}, {"partition.kind", "dirichlet"}};
  });
  const Outcome verify = failed("verify " + run.string());
  EXPECT_THAT(verify.out, HasSubstr("algorithms.mu is 0.1; recomputed: 0.2"));
  EXPECT_THAT(verify.out, HasSubstr("partition.kind is \"iid\"; recomputed: \"dirichlet\""));
}

TEST_F(Grid, CellsOfItAreRepeatedFromTheirOwnRecords) {
  small_grid().write_to(scratch);
  const std::string cell = "algorithms.fedprox.mu=1,partition.kind=iid/fedprox-seed-2";
  succeed("run small.toml --out out --only " + cell);
  const Outcome again = succeed("run out/" + cell + "/experiment.toml --out again");
  expect_same_run(scratch / "out" / cell, scratch / "again/fedprox-seed-2");
}

TEST_F(Grid, HasTheSameBitsForAnyNumberOfJobs) {
  small_grid(3).write_to(scratch);
  for (const std::string options : {"one --workers 2", "two --jobs 2 --workers 2",
                                    "many --jobs 5 --workers 1", "tight --jobs 4 --memory 0.000001"}) {
    succeed("run small.toml --out " + options);
  }
  EXPECT_EQ(cells_in(scratch / "one").size(), 12U);
  for (const char* other : {"two", "many", "tight"}) expect_same_runs(scratch / "one", scratch / other);
}

TEST_F(Grid, RunsThePartThatIsAskedFor) {
  small_grid(1).write_to(scratch);
  const auto run_only = [&](const std::string& patterns) {
    fs::remove_all(scratch / "out");
    succeed("run small.toml --out out --only " + patterns);
    return cells_in(scratch / "out");
  };
  EXPECT_THAT(run_only("fedavg --only seed-2"),
              ElementsAre("partition.alpha=0.5,partition.kind=dirichlet/fedavg-seed-2",
                          "partition.kind=iid/fedavg-seed-2"));
  EXPECT_THAT(run_only("partition.kind=iid --only fedavg-seed-*"),
              ElementsAre("partition.kind=iid/fedavg-seed-1", "partition.kind=iid/fedavg-seed-2"));
  EXPECT_THAT(
      run_only("*mu=0.1,*alpha* --only seed-1"),
      ElementsAre("algorithms.fedprox.mu=0.1,partition.alpha=0.5,partition.kind=dirichlet/fedprox-seed-1"));
  EXPECT_THAT(run_only("partition.kind=iid/fedavg-seed-1"), ElementsAre("partition.kind=iid/fedavg-seed-1"));
  EXPECT_THAT(run_only("partition.kind=iid --only fedavg --only !seed-2"),
              ElementsAre("partition.kind=iid/fedavg-seed-1"));
  EXPECT_EQ(refused("run small.toml --only seed-1 --only !seed-1"),
            "fedarena: --only !seed-1: leaves out every cell\n");

  const std::string none = refused("run small.toml --only fedavg --only seed-3");
  EXPECT_EQ(
      none,
      "fedarena: --only seed-3: no cell is of that name; allowed: fedavg, seed-1, partition.kind=iid, "
      "partition.alpha=0.5, partition.kind=dirichlet, partition.alpha=0.5,partition.kind=dirichlet, seed-2; "
      "did you mean \"seed-1\"?\n  patterns take * and ?, and of several each must fit; !PATTERN leaves out "
      "what fits\n");
  EXPECT_FALSE(fs::exists(scratch / "runs"));
}

TEST_F(Grid, AFolderIsOneCellWhateverElseIsCalledSo) {
  run_small(scratch, {.more = "[[algorithms]]\nname = \"fedprox\"\nlabel = \"fedavg-seed-1\"\n"},
            "--out out --only fedavg-seed-1");
  EXPECT_THAT(cells_in(scratch / "out"), ElementsAre("fedavg-seed-1"));
}

TEST_F(Grid, ResumesToWhatAnUnbrokenOneIs) {
  small_grid(60).write_to(scratch);
  const CommandLine start = "run small.toml --out out --jobs 3 --workers 2";
  const CommandLine resume = start + "--resume";
  {
    Program program(scratch, start);
    // Some are finished, some at work, some not begun.
    ASSERT_TRUE(program.wait_until([&] {
      const std::vector<std::string> cells = cells_in(scratch / "out");
      return cells.size() >= 5 && rounds_on_disk(scratch / "out" / cells.back()) >= 1;
    })) << program.err();
    program.send(SIGINT);
    const Outcome stopped = program.finish();
    EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("The same command with --resume continues.\n"));
  }
  std::size_t interrupted = 0;
  for (const std::string& cell : cells_in(scratch / "out")) {
    const results::Summary summary = summary_of(scratch / "out" / cell);
    EXPECT_NE(summary.state, results::kRunning) << cell;
    interrupted += summary.state == results::kInterrupted ? 1 : 0;
    EXPECT_EQ(summary.rounds_done, rounds_on_disk(scratch / "out" / cell));
  }
  EXPECT_GE(interrupted, 1U);
  EXPECT_LE(interrupted, 3U);
  {
    Program program(scratch, resume);
    ASSERT_TRUE(program.wait_until([&] { return cells_in(scratch / "out").size() >= 10; })) << program.err();
    program.send(SIGKILL);
    EXPECT_EQ(program.finish().signal, SIGKILL);
  }
  EXPECT_THAT(succeed(resume).err, HasSubstr(" (finished before)\n"));
  const fs::path environment = scratch / "out" / cells_in(scratch / "out").front() / "environment.json";
  replace_in(environment, "\"program_sha256\": \"", "\"program_sha256\": \"0");
  EXPECT_THAT(succeed(resume).err,
              HasSubstr(" (finished before, by another build of fedarena or of the plugin)\n"));
  replace_in(environment, "\"program_sha256\": \"0", "\"program_sha256\": \"");
  succeed("run small.toml --out unbroken");
  expect_same_runs(scratch / "out", scratch / "unbroken");
  const auto before = snapshot_of(scratch / "out");
  succeed(resume);
  EXPECT_TRUE(snapshot_of(scratch / "out") == before);
}

TEST_F(Grid, GrowsByResumingWithMoreValues) {
  SmallExperiment experiment{.rounds = 1, .more = "\n[sweep]\n\"partition.clients\" = [3]\n"};
  run_small(scratch, experiment);
  const auto before = snapshot_of(scratch / "out");
  experiment.more = "\n[sweep]\n\"partition.clients\" = [2, 3]\n";
  experiment.write_to(scratch);
  succeed("run small.toml --out out --resume");
  EXPECT_THAT(cells_in(scratch / "out"),
              ElementsAre("partition.clients=2/fedavg-seed-1", "partition.clients=3/fedavg-seed-1"));
  const auto after = snapshot_of(scratch / "out");
  for (const auto& [file, content] : before) EXPECT_TRUE(after.at(file) == content) << file;
}

TEST_F(Grid, TellsWhatWasChangedInTheFile) {
  run_small(scratch, small_grid(1));
  const auto before = snapshot_of(scratch / "out");
  const auto resumed_with = [&](const std::string& options) {
    return refused("run small.toml --out out --resume " + options);
  };
  const std::string remedy =
      "  Undo the change, give another folder with --out, or remove the folders of these cells to run them "
      "again; --only runs others.\n";
  EXPECT_EQ(
      resumed_with("--set experiment.rounds=2"),
      "fedarena: out: runs here belong to another experiment: experiment.rounds was 1, now 2 (12 cells: "
      "partition.kind=iid/fedavg-seed-1, "
      "algorithms.fedprox.mu=0.1,partition.kind=iid/fedprox-seed-1, "
      "algorithms.fedprox.mu=1,partition.kind=iid/fedprox-seed-1 and 9 more)\n" +
          remedy);
  EXPECT_EQ(
      resumed_with("--set algorithms.fedavg.rate=0.5 --only fedavg-seed-2 --only *iid*"),
      "fedarena: out: runs here belong to another experiment: the algorithm's rate was 0.05, now 0.5 (cell "
      "partition.kind=iid/fedavg-seed-2)\n" +
          remedy);
  EXPECT_TRUE(snapshot_of(scratch / "out") == before);
  // What is not concerned goes on.
  succeed("run small.toml --out out --resume --set algorithms.fedavg.rate=0.5 --only fedprox");
}

TEST_F(Grid, IsRefusedAsAWholeBeforeAnythingRuns) {
  SmallExperiment{.more = "\n[sweep]\n\"partition.clients\" = [4, 12001]\n"}.write_to(scratch);
  EXPECT_THAT(refused("run small.toml"), HasSubstr(" (at the point partition.clients=12001)"));
  EXPECT_FALSE(fs::exists(scratch / "runs"));
}

}  // namespace
}  // namespace fedarena::test
