// What a run says and refuses before anything works: the plan of its cells, and the noise that meets an
// epsilon.
#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "results/text/number_format.hpp"
#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

using DryRun = ScratchTest;

TEST_F(DryRun, TellsThePlanAndWritesNothing) {
  const Outcome fresh = run_small(scratch, small_grid(), "--dry-run");
  EXPECT_EQ(fresh.err, "");
  EXPECT_FALSE(fs::exists(scratch / "runs"));
  EXPECT_THAT(fresh.out, HasSubstr("small: 12 cells, 6 points, 2 seeds; run directories in runs/small\n"));
  // 7,850 floats: 8 of the message, 1 + 5 + 1 of the entry's name and kind, 17 of the layout. Sent back: a
  // longer name, and the number of examples.
  EXPECT_THAT(fresh.out,
              ContainsRegex("partition.kind=iid/fedavg-seed-1 +4 of 4 +12000 +7850 +2 +none +31432 +~31451 +"
                            "[0-9.]+ [KM]iB +~[0-9.]+ +not begun\n"));
  EXPECT_THAT(fresh.out, HasSubstr("\n0 of 12 cells finished; about "));
  EXPECT_THAT(fresh.out, Not(HasSubstr("may end a cell sooner")));
  const Outcome ruled =
      succeed("run small.toml --dry-run --set stopping.patience=1 --set evaluation.validation_fraction=0.2");
  EXPECT_THAT(ruled.out, HasSubstr("\n0 of 12 cells finished; at most about "));
  EXPECT_THAT(ruled.out, HasSubstr("\nrounds: the most there can be; a budget of each client's own"));

  succeed("run small.toml --only fedavg-seed-1");
  const auto before = snapshot_of(scratch / "runs");
  const Outcome begun = succeed("run small.toml --dry-run");
  EXPECT_TRUE(snapshot_of(scratch / "runs") == before);
  const results::Summary summary = summary_of(scratch / "runs/small/partition.kind=iid/fedavg-seed-1");
  const std::string uplink = fmt::format("{:.0f}", summary.uplink_bytes_per_client_round);
  EXPECT_THAT(begun.out,
              ContainsRegex("partition.kind=iid/fedavg-seed-1 [^\n]* " + uplink + " [^\n]* finished\n"));
  EXPECT_THAT(begun.out,
              ContainsRegex("partition.kind=iid/fedavg-seed-2 [^\n]* " + uplink + " [^\n]* not begun\n"));
  EXPECT_THAT(begun.out, HasSubstr("\n2 of 12 cells finished; about "));
  // The downlink is what the run then sent.
  EXPECT_EQ(summary.downlink_bytes_per_client_round, 31432);
}

// A cell that reads a hundred times as many examples takes no mean of those that are finished.
TEST_F(DryRun, TellsTimesByWhatIsReadWhereOnlyOtherSettingsAreFinished) {
  SmallExperiment{.evaluate_every = 3, .more = "\n[sweep]\n\"training.local_steps\" = [4, 400]\n"}.write_to(
      scratch);
  succeed("run small.toml --only *local_steps=4");
  const double finished = summary_of(scratch / "runs/small/training.local_steps=4/fedavg-seed-1").seconds;
  const std::string out = succeed("run small.toml --dry-run").out;
  std::smatch told;
  ASSERT_TRUE(std::regex_search(
      out, told, std::regex("training.local_steps=400/fedavg-seed-1 [^\n]* ~([0-9.]+) +not begun\n")))
      << out;
  EXPECT_GT(std::stod(told[1]), 5 * finished);
  EXPECT_THAT(succeed("run small.toml --dry-run --set experiment.seeds=[1,2] --only *local_steps=4").out,
              ContainsRegex("/fedavg-seed-2 [^\n]* [0-9.]+ +not begun\n"))
      << "another seed is as good as measured";
}

// What the finished cells took tells the sizes of their samples.
TEST_F(DryRun, LearnsNoTimesFromCellsWhoseSecondsAreSecret) {
  SmallExperiment{.more = "\n[privacy]\npolicy = \"record\"\nclip_norm = 1.0\nnoise_multiplier = 1.0\n"}
      .write_to(scratch);
  succeed("run small.toml");
  const std::string out = succeed("run small.toml --dry-run --set experiment.seeds=[1,2]").out;
  EXPECT_THAT(out, ContainsRegex("\nfedavg-seed-1 [^\n]* ~[0-9.]+ +finished\n"));
  EXPECT_THAT(out, ContainsRegex("\nfedavg-seed-2 [^\n]* ~[0-9.]+ +not begun\n"));
}

// FedLAP does not say how often it reads its examples, and a rule may end it.
TEST_F(DryRun, CallsNoTimeAnUpperBoundThatMayBeTooLow) {
  SmallExperiment{.training = "", .algorithms = {"fedlap"}}.write_to(scratch);
  const std::string command = "run small.toml --dry-run";
  EXPECT_THAT(succeed(command).out, HasSubstr("\n0 of 1 cell finished; at least about "));
  EXPECT_THAT(
      succeed(command + " --set stopping.patience=1 --set evaluation.validation_fraction=0.2").out,
      ContainsRegex("\n0 of 1 cell finished; about [0-9.]+ s of work left .some cells may end sooner, "
                    "others take longer., "));
}

TEST_F(DryRun, OfManyCellsNamesTheFirst) {
  std::string seeds;
  for (int seed = 1; seed <= 105; ++seed) seeds += fmt::format("{}{}", seed == 1 ? "" : ", ", seed);
  SmallExperiment{.partition = "kind = \"iid\"\nclients = 1"}.write_to(scratch);
  const Outcome outcome =
      succeed({{"run", "small.toml", "--dry-run", "--set", "experiment.seeds=[" + seeds + "]"}});
  EXPECT_THAT(outcome.out, HasSubstr("\nfedavg-seed-100 "));
  EXPECT_THAT(outcome.out, Not(HasSubstr("fedavg-seed-101 ")));
  EXPECT_THAT(outcome.out, has_all("\n... and 5 more cells, which take as long as the first of their point",
                                   "\n0 of 105 cells finished; about "));
}

TEST_F(DryRun, RefusesMoreRecordsThanAnybodyReads) {
  SmallExperiment{}.write_to(scratch);
  const std::string command =
      "run small.toml --dry-run --set experiment.rounds=1000000 --set evaluation.every=";
  EXPECT_THAT(
      refused(command + "1"),
      ContainsRegex("^fedarena: the records of 1000000 rounds, 1000000 of them evaluated on 10 classes, "
                    "take [0-9]+ MiB; allowed: at most 448 MiB[^\n]*\n  evaluate less often: "));
  succeed(command + "1000");
}

TEST_F(DryRun, TellsWhatItsEpsilonsAreOf) {
  SmallExperiment{.training = "local_steps = 4\nbatch_size = 16\nrate = 0.05\nweighting = \"uniform\"",
                  .more =
                      "\n[algorithms.privacy]\npolicy = \"record\"\ndelta = 1e-6\n"
                      "\n[[algorithms]]\nname = \"fedavg\"\nlabel = \"clients\"\n"
                      "[algorithms.privacy]\npolicy = \"client\"\ndelta = 0.5\n"
                      "\n[[algorithms]]\nname = \"fedavg\"\nlabel = \"open\"\n"}
      .write_to(scratch);
  const std::string out = succeed("run small.toml --dry-run").out;
  EXPECT_THAT(out, ContainsRegex(" epsilon \\(RDP\\) +delta +unit +downlink "));
  EXPECT_THAT(out, ContainsRegex("\nfedavg-seed-1 [^\n]* 3 +[0-9.]+ +1e-6 +record +31432 "));
  EXPECT_THAT(out, ContainsRegex("\nclients-seed-1 [^\n]* 3 +[0-9.]+ +0.5 +client +31432 "));
  EXPECT_THAT(out, ContainsRegex("\nopen-seed-1 [^\n]* 3 +none +- +- +31432 "));
  const std::string warning =
      "note: clients: delta 0.5 is not below 1/4, one over the number of clients: it allows to publish one "
      "as it is\n";
  EXPECT_THAT(out, HasSubstr(warning));
  EXPECT_THAT(out, Not(HasSubstr("note: fedavg: delta")));
  EXPECT_THAT(succeed("run small.toml").err, HasSubstr(warning));
}

TEST_F(DryRun, IsRefusedWhereTheRunWouldBe) {
  run_small(scratch, {.rounds = 1}, "");
  const Outcome outcome = failed("run small.toml --dry-run --set experiment.rounds=2");
  EXPECT_THAT(outcome.err, HasSubstr("experiment.rounds was 1, now 2 (cell fedavg-seed-1)"));
  EXPECT_EQ(outcome.out, "");
  const std::string record = "--set privacy.policy=record ", uniform = "--set training.weighting=uniform ";
  for (const auto& [settings, message] : std::vector<std::pair<std::string, std::string>>{
           {uniform + "--set privacy.policy=client --set privacy.adaptive_clipping=true",
            "count_noise 0.2 is too little for the noise multiplier 1"},
           {"--set privacy.policy=local --set privacy.mechanism=laplace-relative --set privacy.budget=8",
            "budget is 8.0 with the mechanism \"laplace-relative\"; allowed: 0"},
           {record + "--set audit.kind=gradient --set audit.canaries=8000",
            "8000 canaries, and 7850 coordinates"},
           {record + "--set audit.kind=mislabelled --set audit.canaries=12001",
            "12001 canaries, and 12000 examples of clients"},
           {record + "--set audit.kind=gradient --set privacy.sampling=without-replacement",
            "a sample of a fixed size has no room for it"},
           {record + "--set audit.kind=gradient --set audit.noise=off --set privacy.budget=3",
            "noise is off and there is a budget"},
           {record + "--set privacy.clip_norm=1e39",
            "clip_norm is 1e+39 (for fedavg); allowed: numbers up to"},
           {"--set training.rate=1e39", "rate is 1e+39 (for fedavg); allowed: numbers up to 3.4e+38"},
           {"--set algorithms.fedavg.name=fedadam --set training.beta1=1.0", "never looks at an update"},
           // Noticed last, once the run has a directory.
           {record + "--set privacy.budget=9 --set evaluation.per_client=true",
            "an exact access for which no budget pays"}}) {
    EXPECT_FALSE(fs::exists(scratch / "other")) << "a run directory was left before " << settings;
    for (const char* command : {"run small.toml --out other ", "run small.toml --out dry --dry-run "})
      EXPECT_THAT(refused(command + settings), HasSubstr(message)) << command;
  }
  fs::remove_all(scratch / "other");
  // An algorithm that plans its accesses, and one that does not.
  SmallExperiment{.training = "images_per_class = 1\nbatch_size = 16\nrate = 0.05",
                  .algorithms = {"fedlap-dp"},
                  .more = "\n[privacy]\npolicy = \"record\"\nbudget = 1e-6\n"}
      .write_to(scratch);
  for (const char* command : {"run small.toml --out other", "run small.toml --out dry --dry-run"}) {
    EXPECT_THAT(refused(command),
                HasSubstr("fedlap-dp, seed 1: the budget of epsilon 1e-06 does not pay for a "
                          "single round"));
  }
  EXPECT_FALSE(fs::exists(scratch / "other")) << "nothing was begun";
  // One budget pays, the other does not; whoever draws the noise.
  SmallExperiment{.algorithms = {"dp-fedavg"},
                  .more = "\n[privacy]\npolicy = \"record\"\n[sweep]\n\"privacy.budget\" = [1e-6, 40]\n"}
      .write_to(scratch);
  const Outcome planned = failed("run small.toml --out other --dry-run");
  EXPECT_THAT(planned.out, ContainsRegex("\nprivacy.budget=1e-06/dp-fedavg-seed-1 [^\n]* cannot begin\n"));
  EXPECT_THAT(planned.out, ContainsRegex("\nprivacy.budget=40/dp-fedavg-seed-1 [^\n]* not begun\n"));
  for (const char* more : {"", " --set 'privacy.noise_source=\"system\"'"}) {
    EXPECT_THAT(
        failed(std::string("run small.toml --out other") + more).err,
        HasSubstr("privacy.budget=1e-06, dp-fedavg, seed 1: the budget of epsilon 1e-06 does not pay for "
                  "a single round"));
    EXPECT_FALSE(fs::exists(scratch / "other"));
  }
  SmallExperiment{.algorithms = {"ifca"}, .more = "\n[privacy]\npolicy = \"record\"\n"}.write_to(scratch);
  EXPECT_THAT(succeed("run small.toml --dry-run").out, ContainsRegex("\nifca-seed-1 [^\n]* 3 +\\? +"));
  EXPECT_THAT(refused("run small.toml --set privacy.noise_for_epsilon=8"),
              HasSubstr("no noise multiplier for epsilon 8 can be found for ifca: it does not say beforehand "
                        "what it will ask for\n  Set noise_multiplier for it, or give it an access_plan "
                        "(docs/adding-an-algorithm.md)\n"));
}

// Shards differ by seed, and so does what a noise multiplier costs.
class NoiseForEpsilon : public ScratchTest {
 protected:
  static SmallExperiment experiment(const std::string& more) {
    return {.seeds = "[1, 2]",
            .partition = "kind = \"dirichlet\"\nclients = 4\nalpha = 1.0",
            .algorithms = {"dp-fedavg"},
            .more = "\n[privacy]\npolicy = \"record\"\n" + more};
  }
};

TEST_F(NoiseForEpsilon, IsTheLeastWithWhichNoSeedCostsMore) {
  experiment("\n[sweep]\n\"privacy.noise_for_epsilon\" = [1.0, 4.0]\n").write_to(scratch);
  const std::string planned = succeed("run small.toml --dry-run").out;
  const Outcome run = succeed("run small.toml --out out");
  for (const double target : {1.0, 4.0}) {
    const std::string point = fmt::format("privacy.noise_for_epsilon={}", target);
    double dearest = 0;
    std::set<std::string> noise;
    for (const int seed : {1, 2}) {
      const results::Summary summary =
          summary_of(scratch / fmt::format("out/{}/dp-fedavg-seed-{}", point, seed));
      dearest = std::max(dearest, *summary.privacy->rdp->epsilon);
      for (const auto& [name, value] : summary.policy_settings) {
        if (name == "noise_multiplier") noise.insert(value);
        EXPECT_NE(name, "noise_for_epsilon") << "a record has what ran";
      }
    }
    EXPECT_LE(dearest, target);
    EXPECT_GT(dearest, 0.998 * target);
    ASSERT_EQ(noise.size(), 1);
    const std::string note = fmt::format("note: {}: noise_multiplier {} for epsilon {}: dp-fedavg\n", point,
                                         *noise.begin(), target);
    EXPECT_THAT(run.err, HasSubstr(note));
    EXPECT_THAT(planned, HasSubstr(note));
    EXPECT_THAT(planned, ContainsRegex(fmt::format("\n{}/dp-fedavg-seed-[12] [^\n]* 3 +{} ", point,
                                                   results::epsilon_text(dearest))));
  }
  succeed("verify out");
  succeed("run small.toml --out out --resume");
  EXPECT_THAT(failed("run small.toml --out out --resume --set experiment.rounds=4").err,
              HasSubstr("experiment.rounds was 3, now 4"));
  const std::string more =
      failed("run small.toml --out out --resume --set experiment.seeds=[1,2,3,4,5,6]").err;
  EXPECT_THAT(more, HasSubstr("belong to another experiment: privacy.noise_multiplier was "));
  EXPECT_THAT(more, Not(HasSubstr("algorithms.privacy")));
  EXPECT_THAT(more,
              HasSubstr("to add some, write the recorded noise_multiplier in place of noise_for_epsilon"));
}

// Neither noise nor anything else depends on how a run came by its noise multiplier.
TEST_F(NoiseForEpsilon, MakesTheRunThatHasThisNoise) {
  experiment("noise_for_epsilon = 4.0\n").write_to(scratch);
  succeed("run small.toml --out asked");
  std::string noise;
  for (const auto& [name, value] : summary_of(scratch / "asked/dp-fedavg-seed-1").policy_settings) {
    if (name == "noise_multiplier") noise = value;
  }
  experiment("noise_multiplier = " + noise + "\n").write_to(scratch);
  succeed("run small.toml --out given");
  expect_same_runs(scratch / "asked", scratch / "given");
}

// The noise on the count of messages below the clip norm sets a limit to that of both together.
TEST_F(NoiseForEpsilon, LeavesRoomForTheCountOfAdaptiveClipping) {
  const auto asked = [&](double target) {
    SmallExperiment{.training = "weighting = \"uniform\"",
                    .more = fmt::format("\n[privacy]\npolicy = \"client\"\nadaptive_clipping = "
                                        "true\ncount_noise = 0.45\nnoise_for_epsilon = {}\n",
                                        target)}
        .write_to(scratch);
    return call("run small.toml --dry-run");
  };
  EXPECT_THAT(asked(40).out, ContainsRegex("note: noise_multiplier 0\\.[0-9]+ for epsilon 40: fedavg"));
  EXPECT_THAT(
      asked(0.1).err,
      HasSubstr("for fedavg: none below 0.9 is enough, which is twice the noise on the count of adaptive "
                "clipping\n  Set a larger count_noise, or allow a larger epsilon"));
}

TEST_F(NoiseForEpsilon, IsAskedForInOneWay) {
  std::string text;
  for (const char* more : {"noise_for_epsilon = 4.0\nnoise_multiplier = 1.0\n",
                           "noise_for_epsilon = 4.0\n[algorithms.privacy]\nnoise_multiplier = 1.0\n",
                           "noise_for_epsilon = 4.0\nbudget = 4.0\n"}) {
    experiment(more).write_to(scratch);
    text += refusals(scratch, {"run small.toml --dry-run"});
  }
  text += refusals(scratch, {"run small.toml --set privacy.budget=0 --set evaluation.per_client=true"});
  expect_golden("bad_noise_for_epsilon.txt", text);
  // What an algorithm asks for itself goes over what all are given.
  experiment("noise_multiplier = 2.0\n[algorithms.privacy]\nnoise_for_epsilon = 4.0\n").write_to(scratch);
  EXPECT_THAT(succeed("run small.toml --dry-run").out,
              ContainsRegex("\nnote: noise_multiplier [0-9.]+ for epsilon 4: dp-fedavg\n"));
}

}  // namespace
}  // namespace fedarena::test
