// An algorithm that fails ends its own cell, by name, and no other one.
#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

// Where algorithms throw what they are told, unless the environment spares them.
class FailedCells : public ScratchTest {
 protected:
  FailedCells() {
    fs::create_directories(scratch / "plugins");
    fs::copy_file(build_folder() / "tests/loader_plugins/good.so", scratch / "plugins/good.so");
  }
  // `thrower` first, and `fedavg` behind it.
  void write(const std::string& where, SmallExperiment experiment = {}) const {
    experiment.algorithms.clear();
    experiment.more = fmt::format(
        "\n[[algorithms]]\nname = \"thrower\"\nwhere = \"{}\"\n\n[[algorithms]]\nname = \"fedavg\"\n{}",
        where, experiment.more);
    experiment.write_to(scratch);
  }
  static CommandLine run(const std::string& out) {
    return "run small.toml --plugin-path plugins --out " + out;
  }
  std::string state_of(const std::string& run) const { return summary_of(scratch / run).state; }

  const Start spared_{.environment = {{"FEDARENA_TEST_SPARED", "1"}}};
};

TEST_F(FailedCells, AreNamedAndLetTheOthersGoOn) {
  for (const std::string where : {"constructor", "start", "train"}) {
    SCOPED_TRACE(where);
    write(where, {.seeds = "[1, 2]", .rounds = 1});
    const std::string message = refused(run(where));
    EXPECT_THAT(message,
                HasSubstr("\nwarning: thrower, seed 2 failed: algorithm \"thrower\" of plugin good"));
    EXPECT_THAT(
        message,
        ContainsRegex("\nfedarena: thrower, seed 1: algorithm \"thrower\" of plugin good 1.2.3 failed in "
                      ".*: the exception's text and a second line\n  1 other cell failed as well: thrower, "
                      "seed 2.\n$"));
    EXPECT_THAT(message, HasSubstr("\n[4/4] fedavg, seed 2: 1 round"));
    EXPECT_EQ(state_of(where + "/fedavg-seed-1"), results::kFinished);
    EXPECT_EQ(state_of(where + "/fedavg-seed-2"), results::kFinished);
  }
}

// What an algorithm refuses of its settings, its policy and its budgets, in start() or in its first plan.
TEST_F(FailedCells, AreNoneWhereSettingsDoNotSuitTheirAlgorithm) {
  const std::string fedavg = "\n[[algorithms]]\nname = \"fedavg\"\n",
                    pppfl = fedavg + "\n[[algorithms]]\nname = \"pppfl\"\n";
  for (const auto& [algorithms, message] : std::map<std::string, std::string>{
           {fedavg + "\n[[algorithms]]\nname = \"thrower\"\nwhere = \"start\"\nwhat = \"error\"\n",
            "thrower, seed 1: wrong number (algorithm \"thrower\" of plugin good 1.2.3, in start)"},
           {fedavg + "\n[[algorithms]]\nname = \"dsc\"\n",
            "dsc, seed 1: dsc condenses the examples of one client"},
           {pppfl + "weights = \"budget\"\ngenerator = \"noise\"\n",
            "pppfl, seed 1: weights = \"budget\", but the clients have no budgets"},
           {pppfl, "pppfl, seed 1: the generator \"datalens\" would train forever"},
           {pppfl + "\n[privacy]\npolicy = \"record\"\nnoise_source = \"system\"\n",
            "pppfl, seed 1: the generator \"datalens\" would train forever"}}) {
    SmallExperiment{.seeds = "[1, 2]", .rounds = 1, .algorithms = {}, .more = algorithms}.write_to(scratch);
    for (const char* dry : {"--dry-run", ""})
      EXPECT_THAT(refused(run("out") + dry), HasSubstr("fedarena: " + message)) << dry;
    EXPECT_FALSE(fs::exists(scratch / "out")) << "a cell began";
  }
}

TEST_F(FailedCells, AreListedAsSuchAndTriedAgain) {
  for (const std::string where : {"constructor", "start", "aggregate"}) {
    SCOPED_TRACE(where);
    write(where, {.rounds = 2});
    refused(run(where));
    EXPECT_EQ(state_of(where + "/thrower-seed-1"), results::kFailed);
    const std::string list = succeed("list " + where).out;
    EXPECT_THAT(list, ContainsRegex(" thrower +1 +failed +0/2\n"));
    EXPECT_THAT(list,
                HasSubstr(where + "/thrower-seed-1 failed: algorithm \"thrower\" of plugin good 1.2.3 "));
    EXPECT_THAT(succeed("watch --once " + where).out, HasSubstr("1 failed, 1 finished"));
    EXPECT_THAT(refused(run(where) + "--resume"), HasSubstr("fedarena: thrower, seed 1: algorithm"));
    succeed(run(where) + "--resume", spared_);
    EXPECT_EQ(state_of(where + "/thrower-seed-1"), results::kFinished);
    EXPECT_THAT(succeed("list " + where).out, Not(HasSubstr("failed")));
  }
}

// A budget ends the rounds before one that is evaluated, so that the last one is evaluated afterwards.
TEST_F(FailedCells, KeepTheirRoundsWhenTheLastEvaluationFails) {
  write("personalise", {.rounds = 1000,
                        .evaluate_every = 1000,
                        .evaluation = "per_client = true",
                        .training = "local_steps = 1\nbatch_size = 16\nrate = 0.05",
                        .more = "\n[privacy]\npolicy = \"record\"\nnoise_multiplier = 2.0\nbudget = 5.0\n"
                                "public_label_counts = true\n"});
  const CommandLine thrower = run("out") + "--only thrower";
  EXPECT_THAT(refused(thrower), HasSubstr("plugin good 1.2.3 failed in personalise, round "));
  const results::Summary failed = summary_of(scratch / "out/thrower-seed-1");
  EXPECT_EQ(failed.state, results::kFailed);
  EXPECT_THAT(failed.failure, HasSubstr("failed in personalise"));
  EXPECT_GT(failed.rounds_done, 0);
  EXPECT_LT(failed.rounds_done, 1000);
  succeed(thrower + "--resume", spared_);
  EXPECT_EQ(state_of("out/thrower-seed-1"), results::kFinished);
  EXPECT_EQ(summary_of(scratch / "out/thrower-seed-1").rounds_done, failed.rounds_done);
}

TEST_F(FailedCells, AreNamedByTheirLabel) {
  SmallExperiment{.rounds = 1,
                  .algorithms = {},
                  .more =
                      "\n[[algorithms]]\nname = \"thrower\"\nlabel = \"leaps\"\nwhere = \"train\"\n"
                      "\n[[algorithms]]\nname = \"fedprox\"\n"}
      .write_to(scratch);
  EXPECT_THAT(refused(run("out")),
              HasSubstr("\nfedarena: leaps, seed 1: algorithm \"thrower\" of plugin good "));
  EXPECT_EQ(state_of("out/fedprox-seed-1"), results::kFinished);
}

TEST_F(FailedCells, AreNotInterruptedByWhoSaysSo) {
  write("train\"\nwhat = \"interrupted", {.rounds = 1});
  EXPECT_THAT(refused(run("out")),
              HasSubstr("thrower, seed 1: the algorithm says that it was interrupted, which nobody did"));
  EXPECT_EQ(state_of("out/thrower-seed-1"), results::kFailed);
  EXPECT_EQ(state_of("out/fedavg-seed-1"), results::kFinished);
}

TEST_F(FailedCells, AreThoseWhoseMessagesNoMachineHolds) {
  write("train\"\nwhat = \"huge", {.rounds = 1});
  EXPECT_THAT(refused(run("out")), HasSubstr("thrower, seed 1: the client's message takes 4194304.0 GiB; "));
  EXPECT_EQ(state_of("out/thrower-seed-1"), results::kFailed);
  EXPECT_EQ(state_of("out/fedavg-seed-1"), results::kFinished);
}

// Each attempt at the round is answered with other noise, and none of them is charged.
TEST_F(FailedCells, DoNotSayWhyWhereNobodyCanDrawTheNoiseAgain) {
  write("train", {.rounds = 1,
                  .more = "\n[privacy]\npolicy = \"record\"\nnoise_multiplier = 1\nclip_norm = 1\n"
                          "noise_source = \"system\"\n"});
  EXPECT_THAT(refused(run("out")),
              AllOf(HasSubstr("thrower, seed 1: the algorithm failed in round 1; why is not said"),
                    Not(HasSubstr("the exception's text"))));
  EXPECT_THAT(summary_of(scratch / "out/thrower-seed-1").failure, HasSubstr("why is not said"));
  // Nor after a rule has ended it, where clients that never trained are asked what a round of theirs costs.
  write("train in round 3", {.rounds = 8,
                             .cohort = "size = 1",
                             .evaluation = "validation_fraction = 0.2",
                             .more = "\n[stopping]\npatience = 1\n\n[privacy]\npolicy = \"record\"\n"
                                     "noise_source = \"system\"\n"});
  EXPECT_THAT(refused(run("ended")),
              AllOf(HasSubstr("thrower, seed 1: the algorithm failed after its last round; why is not said"),
                    Not(HasSubstr("the exception's text"))));
  // A first plan is made before anybody was answered.
  write("train", {.rounds = 1, .more = "\n[privacy]\npolicy = \"record\"\nnoise_source = \"system\"\n"});
  replace_in(scratch / "small.toml", "\"train\"", "\"access_plan\"");
  EXPECT_THAT(refused(run("planned")),
              HasSubstr("failed in access_plan, round 1, client 0: the exception's text"));
}

// The stacks of all jobs take more address space than there is, those that the program itself starts do not.
TEST_F(FailedCells, AreNoneWhereThreadsAreTooFew) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int jobs = 40 + 2 * cores;
  std::string seeds = "1";
  for (int seed = 2; seed <= jobs; ++seed) seeds += fmt::format(", {}", seed);
  SmallExperiment{.seeds = "[" + seeds + "]", .rounds = 1}.write_to(scratch);
  const std::string limits =
      fmt::format("ulimit -s 100000; ulimit -v {}; exec \"$0\" \"$@\"", 3'000'000 + 100'000 * cores);
  // Past the check of the small program.
  const std::string program = (build_folder() / "bin" / "fedarena-full").string();
  const CommandLine limited(std::vector<std::string>{"-c", limits, program});
  EXPECT_THAT(
      refused(limited + fmt::format("run small.toml --out out --workers 1 --jobs {}", jobs),
              {.environment = {{"OPENBLAS_NUM_THREADS", "1"}}, .program = "/bin/sh"}),
      has_all("\nfedarena: the machine has no more memory or threads for this (", "Use fewer --jobs"));
  EXPECT_FALSE(fs::exists(scratch / "out")) << "a cell began";
}

}  // namespace
}  // namespace fedarena::test
