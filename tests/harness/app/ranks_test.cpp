// Ranks that mpirun starts share the clients of a run, and it stays the same run to the bit.
#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

// More ranks than cores are allowed, and so is root.
const Start kLauncher{.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                      {"OMPI_MCA_hwloc_base_binding_policy", "none"}},
                      .program = FEDARENA_MPIEXEC};

CommandLine on_ranks(int ranks, const std::string& command) {
  return fmt::format("-n {} '{}' {} --workers 1", ranks, (build_folder() / "bin" / "fedarena").string(),
                     command);
}

using RanksOfMpi = ScratchTest;

TEST_F(RanksOfMpi, GiveTheSameBits) {
  SmallExperiment experiment{.partition = "kind = \"dirichlet\"\nclients = 6\nalpha = 0.5",
                             .cohort = "size = 4",
                             .evaluation = "per_client = true",
                             .training = "local_steps = 3\nbatch_size = 40\nrate = 0.05",
                             .algorithms = {"fedavg", "scaffold", "fine-tune"}};
  experiment.write_to(scratch);
  succeed("run small.toml --out alone");
  for (const int ranks : {1, 2, 3}) {
    const std::string out = fmt::format("ranks-{}", ranks);
    const Outcome outcome = succeed(on_ranks(ranks, "run small.toml --out " + out), kLauncher);
    EXPECT_THAT(outcome.err, HasSubstr("Results are in"));
    expect_same_runs(scratch / "alone", scratch / out);
  }
  succeed("verify ranks-3");
}

// As on two kinds of processor, or where a launcher passes a variable on to some hosts only.
TEST_F(RanksOfMpi, RefuseOthersWhoseSumsRoundDifferently) {
  run_small(scratch, {}, "--dry-run");
  const std::string program = (build_folder() / "bin" / "fedarena").string();
  const CommandLine ranks(
      fmt::format("-n 1 '{0}' run small.toml --out out --workers 1 : -n 1 -x ATEN_CPU_CAPABILITY=default "
                  "'{0}' run small.toml --out out --workers 1",
                  program));
  EXPECT_THAT(refused(ranks, kLauncher),
              has_all("computes by other kernels than rank 0", "ATEN_CPU_CAPABILITY=avx2"));
}

// Over TCP, from one network namespace to others, at once and through a relay (benchmarks/link_delay.cpp).
TEST_F(RanksOfMpi, GiveTheSameBitsOnHostsWithAndWithoutDelays) {
  SmallExperiment experiment{.partition = "kind = \"iid\"\nclients = 4", .algorithms = {"scaffold"}};
  experiment.write_to(scratch);
  run_small(scratch, experiment, "--out alone");
  const Start hosts{.environment = {{"HOSTS_RELAY", (build_folder() / "benchmarks/link_delay").string()}},
                    .program = (source_folder() / "scripts/hosts").string()};
  for (const std::string how : {"2", "3 --delay 5"}) {
    const CommandLine ranks(fmt::format("{} '{}' run small.toml --out 'hosts-{}' --workers 1", how,
                                        (build_folder() / "bin" / "fedarena").string(), how.front()));
    const Outcome outcome = call(ranks, hosts);
    constexpr int kNotHere = 3;
    if (outcome.exit_code == kNotHere) GTEST_SKIP() << outcome.err;
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    expect_same_run(scratch / "alone/scaffold-seed-1",
                    scratch / fmt::format("hosts-{}", how.front()) / "scaffold-seed-1");
  }
}

SmallExperiment long_run() {
  return {.rounds = 1000,
          .partition = "kind = \"iid\"\nclients = 4",
          .evaluate_every = 500,
          .training = "local_steps = 1\nbatch_size = 8\nrate = 0.05",
          .algorithms = {"scaffold"}};
}

// The ranks that a launcher has started on this machine, in the order of their process numbers.
std::vector<pid_t> children_of(pid_t launcher) {
  std::vector<pid_t> children;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    const std::size_t end = stat.rfind(')');  // the program's name may hold anything
    if (end == std::string::npos || end + 3 >= stat.size()) continue;
    std::istringstream fields(stat.substr(end + 3));  // behind ") S"
    pid_t parent = 0;
    if (fields >> parent && parent == launcher) children.push_back(std::stoi(name));
  }
  std::ranges::sort(children);
  return children;
}

// The memory for data that a process has mapped: the inodes of its files.
std::set<std::string> data_memory_of(pid_t process) {
  std::set<std::string> inodes;
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/memfd:fedarena-data") == std::string::npos) continue;
    std::istringstream fields(line);
    std::string addresses, access, offset, device, inode;
    fields >> addresses >> access >> offset >> device >> inode;
    inodes.insert(inode);
  }
  return inodes;
}

TEST_F(RanksOfMpi, HoldTheDataOfTheirHostOnce) {
  long_run().write_to(scratch);
  Program program(scratch, on_ranks(3, "run small.toml --out out"), kLauncher);
  ASSERT_TRUE(program.wait_until([&] { return rounds_on_disk(scratch / "out/scaffold-seed-1") >= 1; }));
  const std::vector<pid_t> ranks = children_of(program.pid());
  ASSERT_EQ(ranks.size(), 3U);
  const std::set<std::string> memory = data_memory_of(ranks.front());
  EXPECT_THAT(memory, SizeIs(1));
  for (const pid_t rank : ranks) EXPECT_EQ(data_memory_of(rank), memory);
  program.send(SIGTERM);
  program.finish();
}

// How a run of three ranks is broken off.
struct Break {
  std::string name;
  std::function<void(const Program&)> off;
  bool in_order = true;  // whether rank 0 surely has the time to say what it leaves
};

// To these ranks, in this order; the launcher hears nothing.
std::function<void(const Program&)> send_to(std::vector<std::size_t> chosen, int signal) {
  return [chosen = std::move(chosen), signal](const Program& program) {
    const std::vector<pid_t> ranks = children_of(program.pid());
    ASSERT_EQ(ranks.size(), 3U);
    for (const std::size_t rank : chosen) ASSERT_EQ(kill(ranks.at(rank), signal), 0);
  };
}

std::vector<Break> breaks() {
  return {{"Terminated", send_to({0, 1, 2}, SIGTERM)},
          {"TerminatedFromTheLast", send_to({2, 1, 0}, SIGTERM)},
          {"OneRankTerminated", send_to({2}, SIGTERM)},
          {"Rank0Terminated", send_to({0}, SIGTERM)},
          {"OneRankKilled", send_to({2}, SIGKILL)},
          {"LauncherTerminated", [](const Program& program) { program.send(SIGTERM); }, false}};
}

// One run goes through all of them: every resume has to take what the break before it left.
TEST_F(RanksOfMpi, LeaveARunThatAnyNumberOfRanksResumesHoweverItWasBroken) {
  const std::int64_t rounds = 2000;
  SmallExperiment experiment = long_run();
  experiment.rounds = rounds;
  experiment.write_to(scratch);
  const fs::path run = scratch / "out/scaffold-seed-1";
  Start patient = kLauncher;
  patient.environment["OMPI_MCA_odls_base_sigkill_timeout"] =
      "3";  // where the launcher tells the ranks, twice that
  for (const Break& broken : breaks()) {
    SCOPED_TRACE(broken.name);
    const std::int64_t before = fs::exists(run) ? rounds_on_disk(run) : 0;
    const std::string resume = before == 0 ? "" : " --resume";
    Program program(scratch, on_ranks(3, "run small.toml --out out" + resume),
                    broken.in_order ? patient : kLauncher);
    ASSERT_TRUE(program.wait_until([&] { return rounds_on_disk(run) >= before + 3; }));
    broken.off(program);
    const Outcome stopped = program.finish();
    EXPECT_EQ(stopped.signal, 0);
    EXPECT_NE(stopped.exit_code, 0);
    if (broken.in_order) {
      EXPECT_THAT(stopped.err, HasSubstr("Stopped; all complete rounds are kept."));
      EXPECT_EQ(summary_of(run).state, results::kInterrupted);
      EXPECT_EQ(summary_of(run).rounds_done, rounds_on_disk(run));
    }
    ASSERT_LT(rounds_on_disk(run), rounds) << "finished before it was broken";
  }
  succeed("run small.toml --out out --resume");
  succeed("run small.toml --out unbroken");
  expect_same_run(run, scratch / "unbroken/scaffold-seed-1");
}

TEST_F(RanksOfMpi, RefuseWhatCannotBeSharedInOneMessage) {
  long_run().write_to(scratch);
  EXPECT_THAT(refused(on_ranks(2, "run small.toml --out out --jobs 2"), kLauncher),
              HasSubstr("fedarena: --jobs 2: 2 ranks share one cell after the other\n  Leave it out\n"));
  const Outcome missing = failed(on_ranks(3, "run missing.toml"), kLauncher);
  const std::string::size_type first = missing.err.find("missing.toml");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(missing.err.find("missing.toml", first + 1), std::string::npos) << missing.err;
}

}  // namespace
}  // namespace fedarena::test
