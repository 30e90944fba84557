// `fedarena submit` on a real cluster of two nodes, and what befalls jobs there. Whatever happens, the bits
// are those of a local run.
#include <csignal>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/harness/app/slurm_cluster.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

// One cell that takes seconds.
SmallExperiment long_cell() {
  return {.rounds = 200, .training = "local_steps = 20\nbatch_size = 16\nrate = 0.05"};
}

// On both nodes.
SmallExperiment on_two_nodes(SmallExperiment experiment) {
  experiment.more = "\n[slurm]\nnodes = 2\n";
  return experiment;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class Slurm : public ScratchTest {
 protected:
  void submit(const SmallExperiment& experiment, const std::string& options = "") {
    experiment.write_to(scratch);
    jobs = ask("fedarena submit small.toml --out out " + options);
    job = first_line(jobs);
  }
  // Submits the long cell, waits until it is at work, and has its process pause, or it might be over too
  // soon.
  void begin_long_cell() {
    submit(long_cell());
    pause_after(3);
  }
  void pause_after(std::int64_t rounds) {
    ASSERT_TRUE(cluster->wait_until([&] { return rounds_on_disk(run) >= rounds; })) << log();
    process = claim()["process"].get<pid_t>();
    ::kill(process, SIGSTOP);
  }
  void go_on() const { ::kill(process, SIGCONT); }
  // Waits until the job was queued again at a checkpoint, and has it begin.
  void expect_requeued(int seconds = 2) {
    ASSERT_TRUE(cluster->wait_until([&] { return cluster->state(job) == "PENDING"; })) << log();
    EXPECT_EQ(summary_of(run).state, results::kInterrupted);
    EXPECT_LT(summary_of(run).rounds_done, 200);
    cluster->begin_in(seconds, job);
  }
  void expect_over(const std::string& id) {
    EXPECT_TRUE(cluster->wait_until([&] { return cluster->state(id).empty(); }))
        << cluster->state(id) << log();
  }
  void expect_result_of_long_cell() {
    expect_over(job);
    EXPECT_EQ(summary_of(run).state, results::kFinished) << log();
    const Scratch local;
    run_small(local, long_cell());
    expect_same_run(run, local / "out/fedavg-seed-1");
    EXPECT_FALSE(fs::exists(run / "claim.json"));
    succeed("verify out");
  }
  std::string log() const {
    const fs::path file = scratch / fmt::format("out/slurm/{}_0.log", job);
    return fs::exists(file) ? content_of(file) : "";
  }
  nlohmann::json claim() const { return nlohmann::json::parse(content_of(run / "claim.json")); }

  std::string ask(const CommandLine& command) const { return cluster->ask(scratch, command); }

  // One cluster for all tests.
  static void SetUpTestSuite() {
    if (SlurmCluster::installed()) cluster = std::make_unique<SlurmCluster>();
  }
  static void TearDownTestSuite() { cluster.reset(); }
  void SetUp() override {
    if (!cluster) GTEST_SKIP() << "Slurm is not installed: scripts/install-dependencies --with-tests";
  }
  void TearDown() override {
    if (process != 0) go_on();
  }

  const fs::path run = scratch / "out/fedavg-seed-1";
  static inline std::unique_ptr<SlurmCluster> cluster;
  std::string jobs;  // as submit prints them
  std::string job;   // the first one
  pid_t process = 0;
};

// What may befall a job, which Slurm takes its time to notice.
class SlurmFaults : public Slurm {
 protected:
  void begin_on_two_nodes() {
    submit(on_two_nodes(long_cell()), "--ranks 2");
    pause_after(3);
  }
  void SetUp() override {
    if (!long_tests()) GTEST_SKIP() << "takes minutes: FEDARENA_LONG_TESTS=1 runs it";
    Slurm::SetUp();
  }
};

// The lines of the page's blocks of that language.
std::vector<std::string> block_of(const std::string& page, const std::string& language) {
  std::vector<std::string> lines;
  std::istringstream text(page);
  bool within = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      within = line == "```" + language;
    } else if (within) {
      lines.push_back(line);
    }
  }
  return lines;
}

// docs/cluster.md, as it says.
TEST_F(Slurm, MakesTheTableOfALocalRun) {
  const std::string page = content_of(source_folder() / "docs/cluster.md");
  scratch.write("grid.toml", fmt::format("{}\n", fmt::join(block_of(page, "toml"), "\n")));
  std::string answer;
  for (const std::string& line : block_of(page, "sh")) {
    if (!line.starts_with("fedarena ")) continue;
    const std::string command = line.substr(0, line.find(" #"));
    const bool lists = command.find(" list ") != std::string::npos;
    if (lists) job = first_line(answer);
    if (command.find(" table ") != std::string::npos) expect_over(job);
    answer = ask(command);
    if (lists) {
      EXPECT_THAT(answer, ContainsRegex(job + "_3(:| on|\\))"));
    }
  }
  succeed("run grid.toml --out local");
  expect_same_runs(scratch / "runs/grid", scratch / "local");
}

TEST_F(Slurm, TakesOneSubmissionOfAFolderAtATime) {
  submit({.seeds = "[1, 2]"}, "--array-limit 1");
  EXPECT_THAT(ask("fedarena list out"), HasSubstr(fmt::format("queued ({}_1", job)));
  EXPECT_THAT(refused("submit small.toml --out out", cluster->start()),
              HasSubstr(fmt::format("of job {}", job)));
  expect_over(job);
  EXPECT_THAT(ask("fedarena list out"), Not(HasSubstr("queued")));
  EXPECT_THAT(succeed("submit small.toml --out out", cluster->start()).err,
              HasSubstr("All cells are finished"));
}

TEST_F(Slurm, RunsTrialsBeforeTheCellsThatTheyTune) {
  const SmallExperiment tuned{.seeds = "[1, 2]",
                              .evaluation = "validation_fraction = 0.2\n",
                              .more = "\n[tuning]\n\"training.rate\" = [1e-9, 0.05]\n"};
  submit(tuned);
  const std::string cells = first_line(jobs.substr(job.size() + 1));
  EXPECT_EQ(cluster->state(cells), "PENDING");
  EXPECT_THAT(ask("fedarena list ."), HasSubstr(fmt::format("queued ({}_0", cells)));
  expect_over(cells);
  const Scratch local;
  run_small(local, tuned);
  expect_same_runs(scratch / "out", local / "out");
  EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-1").tuning->chosen.front().second, "0.05");
}

// Whatever a user's profile, or a task that submits, has for sbatch.
TEST_F(Slurm, HeedsNoVariablesOfItsCaller) {
  SmallExperiment two = long_cell();
  two.seeds = "[1, 2]";
  two.write_to(scratch);
  Start start = cluster->start();
  start.environment.insert(
      {{"SBATCH_TIMELIMIT", "7"}, {"SBATCH_ARRAY_INX", "0-0"}, {"SLURM_RESTART_COUNT", "5"}});
  job = first_line(succeed("submit small.toml --out out --time 5", start).out);
  pause_after(3);
  EXPECT_THAT(ask("scontrol show job " + job), HasSubstr("TimeLimit=00:05:00"));
  EXPECT_EQ(claim()["restart"], 0);
  go_on();
  expect_over(job);
  EXPECT_EQ(cells_in(scratch / "out").size(), 2U);
}

#ifdef FEDARENA_MPIEXEC
TEST_F(Slurm, SharesACellBetweenRanksOnTwoNodes) {
  submit(on_two_nodes({}), "--ranks 2");
  expect_over(job);
  run_small(scratch, {}, "--out local");
  expect_same_run(run, scratch / "local/fedavg-seed-1");
}

constexpr int kUntilStepIsOver = 6;  // seconds; of the second node, which Slurm says is idle before

TEST_F(SlurmFaults, StopRanksAtACheckpoint) {
  begin_on_two_nodes();
  ask("scancel --batch --signal=USR1 " + job);  // as two minutes before the limit
  go_on();
  expect_requeued(kUntilStepIsOver);
  expect_result_of_long_cell();
}

// Slurm then tells all processes to end, and srun, which is one of them, kills the ranks: whether rank 0
// still writes a checkpoint is for chance to say. What is left goes on either way.
TEST_F(SlurmFaults, LetRanksGoOnAfterTheyMadeRoom) {
  begin_on_two_nodes();
  ask("sbatch -p high -N 2 --exclusive -o /dev/null --wrap true");
  ASSERT_TRUE(cluster->wait_until([&] { return cluster->state(job) == "PENDING"; })) << log();
  EXPECT_NE(summary_of(run).state, results::kFinished);
  cluster->begin_in(kUntilStepIsOver, job);
  expect_result_of_long_cell();
}

TEST_F(SlurmFaults, LetRanksGoOnAfterTheyWereCancelled) {
  begin_on_two_nodes();
  EXPECT_EQ(ask("fedarena submit small.toml --out out --cancel"), job + "\n");
  expect_over(job);
  EXPECT_NE(summary_of(run).state, results::kFinished);
  submit(on_two_nodes(long_cell()), "--ranks 2");
  expect_result_of_long_cell();
}
#endif

TEST_F(SlurmFaults, GoesOnAfterItMadeRoomAndAfterItsTimeLimit) {
  begin_long_cell();
  ask("sbatch -p high -N 2 --exclusive -o /dev/null --wrap true");
  expect_requeued();
  pause_after(summary_of(run).rounds_done + 3);
  ask("scancel --batch --signal=USR1 " + job);  // as two minutes before the limit
  go_on();
  expect_requeued();
  expect_result_of_long_cell();
}

// The number of the last task's job is that of the array.
TEST_F(SlurmFaults, QueuesNoOtherTaskOfItsArrayAgain) {
  SmallExperiment two = long_cell();
  two.seeds = "[1, 2]";
  submit(two);
  pause_after(3);
  const fs::path other = scratch / "out/fedavg-seed-2";
  ASSERT_TRUE(cluster->wait_until([&] { return rounds_on_disk(other) >= 3; }));
  const auto last = nlohmann::json::parse(content_of(other / "claim.json"))["process"].get<pid_t>();
  ::kill(last, SIGSTOP);
  ask(fmt::format("scancel --batch --signal=USR1 {}_1", job));  // as two minutes before the limit
  ::kill(last, SIGCONT);
  ASSERT_TRUE(cluster->wait_until([&] { return cluster->state(job + "_1") == "PENDING"; }));
  EXPECT_EQ(cluster->state(job + "_0"), "RUNNING");
  cluster->begin_in(2, job + "_1");
  go_on();
  expect_over(job);
  for (const fs::path& cell : {run, other}) EXPECT_EQ(summary_of(cell).state, results::kFinished);
}

TEST_F(SlurmFaults, CancelsAtACheckpointAndTakesWhatAKilledJobLeft) {
  begin_long_cell();
  EXPECT_EQ(ask("fedarena submit small.toml --out out --cancel"), job + "\n");
  expect_over(job);
  EXPECT_EQ(summary_of(run).state, results::kInterrupted);
  EXPECT_FALSE(fs::exists(run / "claim.json"));

  submit(long_cell());
  pause_after(summary_of(run).rounds_done + 3);
  ::kill(process, SIGKILL);
  expect_over(job);
  EXPECT_EQ(claim()["job"], job + "_0") << "a killed job leaves its claim";
  submit(long_cell());
  expect_result_of_long_cell();
}

TEST_F(SlurmFaults, DoesNotNeedTheControllerMeanwhile) {
  begin_long_cell();
  // A controller that is killed before it saved a job does not know it again, and it saves every few seconds.
  ask("scontrol update jobid=" + job + " comment=is-running");
  ASSERT_TRUE(
      cluster->wait_until([&] { return cluster->saved_jobs().find("is-running") != std::string::npos; }));
  cluster->kill("slurmctld");
  EXPECT_THAT(call("list out", cluster->start()).err, HasSubstr("note: Slurm does not answer"));
  go_on();
  pause_after(rounds_on_disk(run) + 3);
  cluster->begin("slurmctld");
  ASSERT_TRUE(cluster->wait_until([&] { return cluster->state(job) == "RUNNING"; })) << log();
  go_on();
  expect_result_of_long_cell();
}

// Slurm gives a node up for lost and begins the job elsewhere; the first process lives, and writes.
TEST_F(SlurmFaults, HasOneOwnerWhereANodeIsLost) {
  begin_long_cell();
  const std::string node = first_line(ask("squeue -h -o %N -j " + job));
  cluster->kill(node);
  ask("scontrol update nodename=" + node + " state=down reason=lost");
  ASSERT_TRUE(cluster->wait_until([&] { return cluster->state(job) == "PENDING"; }));
  cluster->begin_in(2, job);
  ASSERT_TRUE(cluster->wait_until([&] { return claim()["restart"] == 1; })) << log();
  const pid_t first = process;
  pause_after(rounds_on_disk(run) + 1);
  ::kill(first, SIGCONT);
  ASSERT_TRUE(cluster->wait_until([&] { return ::kill(first, 0) != 0; })) << log();
  EXPECT_THAT(log(), HasSubstr(fmt::format("this cell belongs to job {}_0 on ", job)));
  go_on();
  expect_result_of_long_cell();
  cluster->begin(node);
}

using Submit = ScratchTest;

TEST_F(Submit, PrintsTheScriptAndNeedsSlurmForMore) {
  SmallExperiment{.more = "\n[slurm]\npartition = \"slow\"\naccount = \"a b\"\n"}.write_to(scratch);
  const std::string script =
      succeed("submit small.toml --dry-run --partition fast --time 1:00:00 --ranks 2 --set training.rate=0.1")
          .out;
  EXPECT_THAT(script,
              AllOf(HasSubstr("#SBATCH --account=\"a b\"\n"), HasSubstr("#SBATCH --partition=\"fast\"\n"),
                    HasSubstr("#SBATCH --time=\"1:00:00\"\n"), Not(HasSubstr("slow")),
                    HasSubstr("#SBATCH --ntasks=\"2\"\n"), HasSubstr(" --ntasks=2 "),
                    HasSubstr("  fedavg-seed-1\n"), HasSubstr("--set 'training.rate=0.1' ")));
  EXPECT_FALSE(fs::exists(scratch / "runs"));
  EXPECT_THAT(refused("submit small.toml", {.environment = {{"PATH", "/nowhere"}}}),
              has_all("no program sbatch here", "apt-get install slurm-client"));
  EXPECT_FALSE(fs::exists(scratch / "runs"));
  EXPECT_THAT(refused("run small.toml --stage cells"), HasSubstr("the file has no [tuning]"));
}

// Which has no --only.
TEST_F(Submit, RefusesRunsOfAnotherExperimentWithoutOptionsOfRun) {
  run_small(scratch, {});
  EXPECT_THAT(refused("submit small.toml --out out --dry-run --set training.rate=0.1"),
              AllOf(HasSubstr("rate was 0.05, now 0.1"), EndsWith("to run them again.\n")));
}

// Stand-ins for Slurm's programs, found before others.
class FakeSlurm : public ScratchTest {
 protected:
  FakeSlurm() {
    answer("squeue", "exit 0");
    answer("scontrol", "echo 'MaxArraySize            = 2'");
  }
  void answer(const std::string& name, const std::string& lines) const {
    fs::permissions(scratch.write("bin/" + name, "#!/bin/sh\n" + lines + "\n"), fs::perms::owner_all);
  }
  const Start slurm{.environment = {{"PATH", (scratch / "bin").string() + ":/usr/bin:/bin"}}};
};

TEST_F(FakeSlurm, IsAskedForAFolderByOneProcessAtATime) {
  SmallExperiment{}.write_to(scratch);
  answer("sbatch",
         "if [ \"$1\" = --version ]; then exit; fi\ntouch called\n"
         "for i in $(seq 200); do [ -e go ] && break; sleep 0.05; done\necho 7");
  Program first(scratch, "submit small.toml --out out", slurm);
  ASSERT_TRUE(first.wait_until([&] { return fs::exists(scratch / "called"); })) << first.err();
  EXPECT_THAT(
      refused("submit small.toml --out out", slurm),
      HasSubstr(fmt::format("another `fedarena submit` is at work here: process {} on ", first.pid())));
  scratch.write("go", "");
  EXPECT_EQ(first.finish().out, "7\n");
  EXPECT_EQ(succeed("submit small.toml --out out", slurm).out, "7\n");
}

TEST_F(FakeSlurm, IsNotAskedForAnArrayThatIsTooLong) {
  SmallExperiment{.seeds = "[1, 2, 3]"}.write_to(scratch);
  answer("sbatch", "echo 7");
  EXPECT_THAT(
      refused("submit small.toml --out out", slurm),
      has_all("3 cells", "allowed: 2, the MaxArraySize of this cluster", "--set 'experiment.seeds=[1, 2]'"));
  EXPECT_FALSE(fs::exists(scratch / "out"));
  succeed("submit small.toml --out out --set 'experiment.seeds=[1, 2]'", slurm);
}

TEST_F(FakeSlurm, IsAskedAgainWhereItNamesNoJob) {
  SmallExperiment{}.write_to(scratch);
  answer("sbatch", "echo 'slurm-wlm 22.05.8'");
  EXPECT_THAT(refused("submit small.toml --out out", slurm),
              HasSubstr("sbatch answered \"slurm-wlm 22.05.8\" and no number of a job"));
  answer("sbatch", "echo Welcome.; echo '7;here'");
  EXPECT_EQ(succeed("submit small.toml --out out", slurm).out, "7\n");
}

TEST_F(FakeSlurm, IsToldToCancelNothingInADryRun) {
  SmallExperiment{}.write_to(scratch);
  answer("sbatch", "echo 7");
  succeed("submit small.toml --out out", slurm);
  answer("squeue", "echo '7_0|PENDING|0:00|node'");
  answer("scancel", "touch cancelled");
  EXPECT_THAT(refused("submit small.toml --out out --cancel --dry-run", slurm), HasSubstr("excludes"));
  EXPECT_FALSE(fs::exists(scratch / "cancelled"));
}

using Srun = ScratchTest;

TEST_F(Srun, IsToldToStartRanksByMpi) {
  SmallExperiment{}.write_to(scratch);
  const auto tasks = [](const char* count) {
    return Start{.environment = {{"SLURM_STEP_NUM_TASKS", count}}};
  };
  EXPECT_THAT(refused("run small.toml --out out", tasks("2")),
              has_all("srun started 2 tasks without MPI", "srun --mpi=pmix"));
  EXPECT_FALSE(fs::exists(scratch / "out"));
  succeed("run small.toml --out out --only fedavg-seed-1", tasks("2"));  // each has its own cells
  succeed("run small.toml --out alone", tasks("1"));
}

// Options for the cluster are no part of what a cell is.
TEST_F(Submit, LeavesRunsTheSame) {
  run_small(scratch, {});
  SmallExperiment{.more = "\n[slurm]\nmem = \"2G\"\n"}.write_to(scratch);
  const std::string before = content_of(scratch / "out/fedavg-seed-1/seal.json");
  succeed("run small.toml --out out --resume");
  EXPECT_EQ(content_of(scratch / "out/fedavg-seed-1/seal.json"), before);
}

}  // namespace
}  // namespace fedarena::test
