// `fedarena attack` on runs that memorise, on runs that cannot, and on what it must refuse.
#include <cstdint>
#include <optional>
#include <set>
#include <signal.h>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "results/record/attack_file.hpp"
#include "results/record/run_directory.hpp"
#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

using AttackCommand = ScratchTest;

// 240 images that a network learns by heart, and 11,760 like them that it never sees.
SmallExperiment memorising() {
  return {.seeds = "[1, 2, 3]",
          .partition = "kind = \"iid\"\nclients = 4\ntrain_fraction = 0.02",
          .model = "name = \"mlp\"",
          .evaluate_every = 3,
          .training = "local_steps = 100\nbatch_size = 16\nrate = 0.1"};
}

results::MembershipAttacks attacks_of(const fs::path& run) { return results::read_attacks(run).value(); }

TEST_F(AttackCommand, TellsMembersOfAModelThatLearntThemByHeart) {
  run_small(scratch, memorising());
  succeed("attack out/fedavg-seed-1 --score loss,gradient-norm,learned,rmia");
  const results::MembershipAttacks attacks = attacks_of(scratch / "out/fedavg-seed-1");
  EXPECT_EQ(attacks.non_members, results::kLeftOutExamples);
  EXPECT_EQ(attacks.member_examples.size(), 120U);
  EXPECT_GT(attacks.member_accuracy, 0.9);
  for (const results::MembershipAttack& attack : attacks.attacks) {
    EXPECT_GT(attack.separation.auc_interval.low, 0.6) << attack.score;
    EXPECT_EQ(attack.clients.size(), 4U) << attack.score;
  }
  EXPECT_THAT(attacks.attacks.back().references, ElementsAre("fedavg-seed-2", "fedavg-seed-3"));
}

// Examples that are held out for validation do not move the others.
TEST_F(AttackCommand, RecordsPositionsAsPartitionListsThem) {
  run_small(scratch, {.rounds = 1,
                      .partition = "kind = \"iid\"\nclients = 4\ntrain_fraction = 0.02",
                      .evaluation = "validation_fraction = 0.25",
                      .training = "local_steps = 1\nbatch_size = 16\nrate = 0.1"});
  succeed("attack out/fedavg-seed-1");
  succeed("partition small.toml -o held.csv");
  const std::string held = content_of(scratch / "held.csv");
  for (const results::ScoredExample& member : attacks_of(scratch / "out/fedavg-seed-1").member_examples)
    EXPECT_THAT(held, HasSubstr(fmt::format("\n{},train,{}\n", member.client, member.position)));
}

std::multiset<std::optional<std::int64_t>> labels_of(const std::vector<results::ScoredExample>& examples) {
  std::multiset<std::optional<std::int64_t>> labels;
  for (const results::ScoredExample& example : examples) labels.insert(example.label);
  return labels;
}

// Of clients with classes of their own, a held-out one has labels that no member has; and canaries with wrong
// labels are neither members nor non-members.
TEST_F(AttackCommand, TakesTestExamplesWherePartitionsLeaveNothingOut) {
  const std::string canaries =
      "[privacy]\npolicy = \"record\"\nnoise_multiplier = 1.0\n\n[audit]\nkind = \"mislabelled\"\ncanaries = "
      "100\n";
  const std::vector<SmallExperiment> whole = {
      {.partition = "kind = \"classes\"\nclients = 5\nclasses_per_client = 2",
       .evaluation = "per_client = true\nheld_out_clients = 0.2"},
      {.algorithms = {"dp-fedavg"}, .more = canaries}};
  for (const SmallExperiment& experiment : whole) {
    const std::string out = fmt::format("out-{}", experiment.algorithms.front());
    run_small(scratch, experiment, "--out " + out);
    const fs::path run = fmt::format("{}/{}-seed-1", out, experiment.algorithms.front());
    succeed(fmt::format("attack {} --examples 10", run.string()));
    const results::MembershipAttacks attacks = attacks_of(scratch / run);
    EXPECT_EQ(attacks.non_members, results::kTestExamples);
    EXPECT_EQ(labels_of(attacks.member_examples), labels_of(attacks.non_member_examples));
  }
}

// With 1,000 of either the deviation of the area is 0.013; four of it are exceeded once in 16,000.
TEST_F(AttackCommand, TellsNothingOfAModelThatLearntNothing) {
  run_small(scratch, {.rounds = 1, .training = "local_steps = 1\nbatch_size = 16\nrate = 1e-9"});
  succeed("attack out/fedavg-seed-1");
  for (const results::MembershipAttack& attack : attacks_of(scratch / "out/fedavg-seed-1").attacks)
    EXPECT_NEAR(attack.separation.auc, 0.5, 0.052) << attack.score;
}

// Each label is known in the view of who holds it alone, and no example is seen often enough to be learnt by
// heart. With 1,000 of either the deviation of an area is 0.013, with some 200 of a client 0.029; four of it
// are exceeded by one of the 18 areas once in 900.
TEST_F(AttackCommand, IsNotMisledByViewsThatClientsHaveOfTheirLabels) {
  run_small(scratch,
            {.partition = "kind = \"classes\"\nclients = 5\nclasses_per_client = 2\ntrain_fraction = 0.5\n"
                          "rotations = [0, 90, 180, 270, 90]",
             .training = "local_steps = 10\nbatch_size = 16\nrate = 0.05"});
  succeed("attack out --score loss,gradient-norm,learned --examples 1000");
  const results::MembershipAttacks attacks = attacks_of(scratch / "out/fedavg-seed-1");
  EXPECT_GT(attacks.member_accuracy, 0.5);
  EXPECT_NEAR(*attacks.non_member_accuracy, *attacks.member_accuracy, 0.09);
  for (const results::MembershipAttack& attack : attacks.attacks) {
    EXPECT_NEAR(attack.separation.auc, 0.5, 0.052) << attack.score;
    EXPECT_EQ(attack.clients.size(), 5U) << attack.score;
    for (const results::ClientSeparation& client : attack.clients)
      EXPECT_NEAR(client.auc, 0.5, 0.116) << attack.score << " of client " << client.client;
  }
  EXPECT_THAT(succeed("verify out").out, HasSubstr(" 0 differences"));
}

TEST_F(AttackCommand, IsTheSameForAnyNumberOfWorkersAndIsVerifiedAndBundled) {
  run_small(scratch, memorising());
  succeed("attack out/fedavg-seed-1 --workers 1");
  const std::string one = content_of(scratch / "out/fedavg-seed-1/attack.json");
  succeed("attack out/fedavg-seed-1 --workers 3");
  EXPECT_TRUE(one == content_of(scratch / "out/fedavg-seed-1/attack.json"));
  EXPECT_THAT(succeed("verify out").out, HasSubstr(" 0 differences"));
  succeed("bundle out -o runs.tar.gz");
  EXPECT_THAT(succeed("verify runs.tar.gz").out, HasSubstr(" 0 differences"));
  succeed("replay runs.tar.gz --out again");
  EXPECT_FALSE(fs::exists(scratch / "again/out/fedavg-seed-1/attack.json"));
}

TEST_F(AttackCommand, AddsScoresOfTheSameExamplesAndReplacesOthers) {
  run_small(scratch, memorising());
  succeed("attack out/fedavg-seed-1 --score loss");
  succeed("attack out/fedavg-seed-1 --score learned");
  EXPECT_EQ(attacks_of(scratch / "out/fedavg-seed-1").attacks.size(), 2U);
  const auto json = nlohmann::json::parse(
      succeed("attack out/fedavg-seed-1 --score gradient-norm --examples 50 --format json").out);
  EXPECT_EQ(json[0]["members"], 50);
  EXPECT_EQ(attacks_of(scratch / "out/fedavg-seed-1").attacks.size(), 1U);
  EXPECT_EQ(json[0]["attacks"][0]["auc"],
            attacks_of(scratch / "out/fedavg-seed-1").attacks[0].separation.auc);
}

// 240 examples of which an audit took 200: what is left are 40, half of them to be measured.
TEST_F(AttackCommand, TakesNoCanaryWithAWrongLabelForAMember) {
  SmallExperiment audited = memorising();
  audited.seeds = "[1]";
  audited.more =
      "\n[privacy]\npolicy = \"record\"\nnoise_multiplier = 20.0\n"
      "\n[audit]\nkind = \"mislabelled\"\ncanaries = 200\n";
  run_small(scratch, audited);
  succeed("attack out/fedavg-seed-1 --score loss");
  EXPECT_EQ(attacks_of(scratch / "out/fedavg-seed-1").member_examples.size(), 20U);
}

// One client of eight, once: the others hold 210 of the 240 examples, and no model ever saw them.
TEST_F(AttackCommand, TakesNoExampleOfAClientThatNeverTookPartForAMember) {
  SmallExperiment small = memorising();
  small.seeds = "[1]";
  small.rounds = 1;
  small.partition = "kind = \"iid\"\nclients = 8\ntrain_fraction = 0.02";
  small.cohort = "size = 1";
  run_small(scratch, small);
  succeed("attack out/fedavg-seed-1 --score loss");
  const results::MembershipAttacks attacks = attacks_of(scratch / "out/fedavg-seed-1");
  EXPECT_EQ(attacks.member_examples.size(), 15U);
  for (const results::ScoredExample& example : attacks.member_examples)
    EXPECT_EQ(example.client, attacks.member_examples.front().client);
  EXPECT_GT(attacks.member_accuracy, 0.9);
}

// The run stops after two rounds, and second halves are trained on after the first of them or never.
TEST_F(AttackCommand, TakesNoExampleOfASecondHalfForAMemberBeforeItIsTrainedOn) {
  const auto members_of = [&](std::int64_t first_rounds) {
    SmallExperiment halved = memorising();
    halved.seeds = "[1]";
    halved.more = fmt::format(
        "\n[privacy]\npolicy = \"label\"\nepsilon = 8.0\nstages = 2\nfirst_rounds = {}\n", first_rounds);
    halved.evaluation = "validation_fraction = 0.1";
    halved.more += "\n[stopping]\ntarget_accuracy = 0.01\n";
    halved.evaluate_every = 2;
    const std::string out = fmt::format("out-{}", first_rounds);
    run_small(scratch, halved, "--out " + out);
    succeed("attack " + out + " --score loss");
    return attacks_of(scratch / out / "fedavg-seed-1").member_examples.size();
  };
  const std::size_t both = members_of(1), first = members_of(2);
  EXPECT_EQ(first, both / 2);
}

TEST_F(AttackCommand, RefusesProbabilitiesOfModelsThatGiveNone) {
  SmallExperiment linear = memorising();
  linear.model = "name = \"linear\"";
  linear.training = "local_steps = 1\nbatch_size = 16\nrate = 0.001";
  run_small(scratch, linear);
  for (const std::string score : {"rmia", "lira"}) {
    EXPECT_THAT(refused("attack out/fedavg-seed-1 --score " + score),
                has_all(score + " is about the probability of a class", "Use loss."));
  }
  succeed("attack out/fedavg-seed-1 --score loss");
}

TEST_F(AttackCommand, NamesTheScoreThatDoesNotSuitTheRunBeforeAnyIsMeasured) {
  run_small(scratch, memorising());
  for (const std::string score : {"image-distance", "lira"})
    EXPECT_THAT(refused("attack out/fedavg-seed-1 --score loss," + score),
                HasSubstr(": " + score + " asks "));
  EXPECT_FALSE(fs::exists(scratch / "out/fedavg-seed-1/attack.json"));
}

TEST_F(AttackCommand, LeavesOutRunsThatItCannotAttack) {
  run_small(scratch, memorising());
  const fs::path out = scratch.path() / "out";
  fs::remove(out / "fedavg-seed-2/checkpoint.bin");
  const Outcome outcome = succeed("attack out --score loss --examples 20");
  EXPECT_THAT(outcome.out, HasSubstr("out/fedavg-seed-3: 20 members"));
  EXPECT_THAT(
      outcome.err,
      HasSubstr("not attacked: out/fedavg-seed-2: the run has no checkpoint.bin, which holds its model"));
  fs::remove(out / "fedavg-seed-1/checkpoint.bin");
  fs::remove(out / "fedavg-seed-3/checkpoint.bin");
  EXPECT_THAT(refused("attack out --score loss"), HasSubstr("none of the 3 runs could be attacked"));
}

TEST_F(AttackCommand, RefusesACheckpointThatIsTooLargeToRead) {
  run_small(scratch, memorising());
  fs::resize_file(scratch / "out/fedavg-seed-1/checkpoint.bin", std::uintmax_t{1} << 40);
  EXPECT_THAT(refused("attack out/fedavg-seed-1 --score loss"),
              HasSubstr("checkpoint.bin: has more than 68719476736 bytes"));
}

TEST_F(AttackCommand, LeavesOutReferencesThatAreDamaged) {
  run_small(scratch, memorising());
  const fs::path out = scratch.path() / "out";
  const std::string lost = "fedavg-seed-2: the run has no checkpoint.bin, which holds its model";
  fs::remove(out / "fedavg-seed-2/checkpoint.bin");
  EXPECT_THAT(succeed("attack out/fedavg-seed-1 --score rmia").err,
              ContainsRegex("not asked as a reference: .*" + lost));
  EXPECT_THAT(attacks_of(out / "fedavg-seed-1").attacks.back().references, ElementsAre("fedavg-seed-3"));
  fs::remove_all(out / "fedavg-seed-3");
  EXPECT_THAT(
      refused("attack out/fedavg-seed-1 --score rmia"),
      has_all(lost, "rmia asks models of the same experiment under other seeds, at least 1; there are 0"));
}

// Which of them ends first is not known with three workers.
TEST_F(AttackCommand, AttacksRunsSideBySideToTheSameAnswers) {
  run_small(scratch, memorising());
  const fs::path out = scratch.path() / "out";
  fs::copy(out / "fedavg-seed-2", out / "fedavg-seed-2-lost", fs::copy_options::recursive);
  fs::remove(out / "fedavg-seed-2-lost/checkpoint.bin");
  const auto attack = [&](const std::string& workers) {
    const Outcome outcome = succeed("attack out --score loss,learned --workers " + workers);
    std::vector<std::string> texts{outcome.out, outcome.err};
    for (const std::string seed : {"1", "2", "3"}) {
      texts.push_back(content_of(out / ("fedavg-seed-" + seed + "/attack.json")));
      fs::remove(out / ("fedavg-seed-" + seed + "/attack.json"));
    }
    return texts;
  };
  const std::vector<std::string> one = attack("1");
  EXPECT_THAT(one[0], ContainsRegex("out/fedavg-seed-1: .*out/fedavg-seed-2: .*out/fedavg-seed-3: "));
  EXPECT_TRUE(attack("3") == one);
  const auto json = nlohmann::json::parse(succeed("attack out --score loss --workers 3 --format json").out);
  ASSERT_EQ(json.size(), 3U);
  for (const std::size_t run : {0U, 1U, 2U})
    EXPECT_EQ(json[run]["run"], "out/fedavg-seed-" + std::to_string(run + 1));
}

// Whoever asked for it first, as a run to attack or as a reference of another.
TEST_F(AttackCommand, CallsARunAsTheCommandLineDoes) {
  run_small(scratch, memorising());
  const std::string err = refused("attack out --score lira --workers 1");
  for (const std::string seed : {"1", "2", "3"})
    EXPECT_THAT(err, HasSubstr("not attacked: out/fedavg-seed-" + seed + ": lira asks models"));
}

// There are three runs to attack by four scores when the first is opened.
TEST_F(AttackCommand, EndsInOrderWhenItIsStopped) {
  run_small(scratch, memorising());
  for (const int signal : {SIGINT, SIGTERM}) {
    const Outcome stopped =
        signal_once_it_says(scratch, "attack out --workers 1 --score loss,gradient-norm,learned,rmia",
                            "the run is opened", signal);
    EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("Stopped"));
    EXPECT_FALSE(fs::exists(scratch / "out/fedavg-seed-3/attack.json"));
    EXPECT_THAT(files_named(scratch / "out", ".partial"), IsEmpty());
  }
}

TEST_F(AttackCommand, RefusesWithOneMessage) {
  run_small(scratch, memorising());
  const fs::path out = scratch.path() / "out";
  for (const char* copy : {"lost", "damaged", "begun", "of-other-data"})
    fs::copy(out / "fedavg-seed-1", out / copy, fs::copy_options::recursive);
  fs::remove(out / "lost/checkpoint.bin");
  scratch.write("out/damaged/checkpoint.bin", "nothing");
  unfinish(out / "begun");
  edit_summary(out / "of-other-data",
               [](results::Summary& summary) { summary.data_hash = std::string(64, '0'); });
  expect_refusals(scratch, "bad_attacks.txt");
  EXPECT_FALSE(fs::exists(out / "fedavg-seed-1/attack.json"));
}

}  // namespace
}  // namespace fedarena::test
