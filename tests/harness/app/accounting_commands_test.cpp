// `fedarena epsilon`, `noise` and `privacy` as a user and as a script meet them.
#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::test {
namespace {

using nlohmann::json;

// The settings of the first round of the FedLAP-DP paper.
const CommandLine kFirstRound =
    "epsilon --noise-multiplier 1 --sampling-rate 0.0256 --delta 1e-5 --orders opacus --accountant rdp "
    "--steps 200";

json json_of(const Scratch& scratch, const CommandLine& command) {
  const Outcome outcome = succeed(scratch, command + "--format json");
  EXPECT_EQ(outcome.err, "");
  return json::parse(outcome.out, nullptr, false);
}

using EpsilonCommand = ScratchTest;

TEST_F(EpsilonCommand, PrintsANumberThatAScriptCanRead) {
  const Outcome outcome = succeed(kFirstRound);
  EXPECT_EQ(outcome.out, "2.7867\n");
  EXPECT_THAT(outcome.err, HasSubstr("RDP at order 6"));
  EXPECT_THAT(outcome.err, HasSubstr("200 x Poisson-sampled Gaussian (rate 0.0256, noise multiplier 1)"));
}

TEST_F(EpsilonCommand, GivesEveryDigitInJson) {
  const json answer = json_of(scratch, kFirstRound);
  EXPECT_NEAR(answer["epsilon"].get<double>(), 2.7866439426422339, 1e-12);
  EXPECT_EQ(answer["accountant"], "rdp");
  EXPECT_EQ(answer["order"], 6);
  EXPECT_EQ(answer["delta"], 1e-5);
  EXPECT_EQ(answer["adjacency"], "add-remove");
  EXPECT_EQ(answer["sampling"], "poisson");
}

TEST_F(EpsilonCommand, TakesBatchesAndEpochsAsWell) {
  const CommandLine words =
      "epsilon --noise-multiplier 1 --batch-size 256 --examples 10000 --epochs 5 --delta 1e-5 --orders "
      "opacus --accountant rdp";
  EXPECT_EQ(call(words).out, "2.7867\n");
  // No step more or less, whatever a division rounds to.
  for (const auto& [rate, steps] : {std::pair("1e-12", 1'000'000'000'000LL),
                                    std::pair("0.3333333333333333", 3LL), std::pair("0.3", 4LL)}) {
    const json answer =
        json_of(scratch, CommandLine("epsilon --noise-multiplier 1 --epochs 1 --accountant rdp --delta 1e-5 "
                                     "--sampling-rate") +
                             rate);
    EXPECT_EQ(answer["accesses"][0]["count"], steps) << rate;
  }
}

TEST_F(EpsilonCommand, TakesAGivenNumberOfExamplesAsPublic) {
  const std::string rest = " --steps 5 --delta 1e-5";
  const std::string rate = "--noise-multiplier 1 --sampling-rate 0.1" + rest;
  const std::string sizes = "--noise-multiplier 1 --batch-size 20 --examples 200" + rest;
  const std::string more = " --and noise-multiplier=2,sampling-rate=0.1,steps=5";
  EXPECT_THAT(call("epsilon " + rate).err, HasSubstr("adjacency add-remove"));
  EXPECT_THAT(call("epsilon " + sizes).err, HasSubstr("adjacency zero-out"));
  EXPECT_THAT(call("epsilon " + sizes + more).err, HasSubstr("adjacency zero-out"));
  EXPECT_THAT(call("noise --epsilon 3 --batch-size 20 --examples 200" + rest).err,
              HasSubstr("adjacency zero-out"));
  EXPECT_EQ(call("epsilon " + sizes).out, call("epsilon " + rate).out);
}

TEST_F(EpsilonCommand, WarnsOfADeltaThatProtectsNobody) {
  const std::string command =
      "epsilon --noise-multiplier 1 --batch-size 20 --examples 200 --steps 5 --delta ";
  EXPECT_THAT(call(command + "0.005").err,
              HasSubstr("note: delta 0.005 is not below 1/200, one over the number of examples"));
  EXPECT_THAT(call(command + "0.0049").err, Not(HasSubstr("note:")));
}

TEST_F(EpsilonCommand, ComposesWhatIsUnlike) {
  const json answer =
      json_of(scratch,
              "epsilon --noise-multiplier 1 --sampling-rate 0.0256 --steps 1000 --and "
              "noise-multiplier=0.8,sampling-rate=0.0256,steps=500 --delta 1e-5 --orders opacus");
  EXPECT_NEAR(answer["epsilon_rdp"].get<double>(), 8.8062944240996950, 1e-9);
  const double exact = 7.9559368932138878;
  EXPECT_GE(answer["epsilon_pld"].get<double>(), exact);
  EXPECT_LE(answer["epsilon_pld"].get<double>(), exact * 1.001);
  EXPECT_EQ(answer["epsilon"], answer["epsilon_pld"]) << "the smaller of two upper bounds";
}

TEST_F(EpsilonCommand, TurnsEpsilonIntoDelta) {
  const json answer = json_of(scratch,
                              "epsilon --noise-multiplier 1 --sampling-rate 0.0256 --steps 200 --at-epsilon "
                              "3 --orders opacus --accountant rdp");
  EXPECT_NEAR(answer["delta"].get<double>() / 3.4411468629145360e-6, 1, 1e-9);
}

TEST_F(EpsilonCommand, IsInfiniteWithoutNoiseAndZeroWithoutAccess) {
  const auto epsilon = [&](const std::string& noise, const std::string& rate, const std::string& delta) {
    return call("epsilon --noise-multiplier " + noise + " --sampling-rate " + rate + " --steps 10 --delta " +
                delta + " --accountant rdp")
        .out;
  };
  EXPECT_EQ(epsilon("0", "0.5", "1e-5"), "inf\n");
  EXPECT_EQ(epsilon("1", "0.5", "0"), "inf\n");
  EXPECT_EQ(epsilon("1", "0", "1e-5"), "0\n");
}

using NoiseCommand = ScratchTest;

TEST_F(NoiseCommand, IsTheInverseOfTheEpsilonCommand) {
  const CommandLine known = "--sampling-rate 0.0256 --delta 1e-5 --accountant rdp --orders opacus";
  const json noise = json_of(scratch, CommandLine("noise --epsilon 8 --steps 200") + known);
  EXPECT_NEAR(noise["noise_multiplier"].get<double>() / 0.658422859442, 1, 1e-8);
  const json epsilon = json_of(
      scratch,
      CommandLine("epsilon --steps 200 --noise-multiplier " + noise["noise_multiplier"].dump()) + known);
  EXPECT_NEAR(epsilon["epsilon"].get<double>(), 8, 1e-8);
  EXPECT_LE(epsilon["epsilon"].get<double>(), 8);
}

TEST_F(NoiseCommand, SolvesForStepsAndForTheRate) {
  const CommandLine known =
      "noise --epsilon 2.7867 --delta 1e-5 --noise-multiplier 1 --accountant rdp --orders opacus";
  EXPECT_EQ(json_of(scratch, known + "--sampling-rate 0.0256")["steps"], 200);
  EXPECT_NEAR(json_of(scratch, known + "--steps 200")["sampling_rate"].get<double>(), 0.0256, 1e-5);
}

using AccountingCommands = ScratchTest;

TEST_F(AccountingCommands, RefuseWhatMeansNothing) { expect_refusals(scratch, "bad_accounting.txt"); }

using PrivacyCommand = ScratchTest;

TEST_F(PrivacyCommand, ExplainsARun) {
  const results::RecordedRun run(scratch / "run", {.accesses = [](std::int64_t round, std::int64_t client) {
                                   RoundAccesses accesses = results::private_steps(10, round < 3 ? 1.0 : 1.5);
                                   if (client == 1 && round == 3) accesses.add(ExactAccess{"gradient"});
                                   return accesses;
                                 }});
  expect_answers(scratch, "privacy.txt");
}

TEST_F(PrivacyCommand, WarnsAsRunDoesOfADeltaThatProtectsNobody) {
  const std::string warning = "delta 0.1 is not below 1/12000, one over the number of examples: it allows to";
  const Outcome run = run_small(
      scratch,
      {.rounds = 1, .more = "\n[privacy]\npolicy = \"record\"\nnoise_multiplier = 2.0\ndelta = 0.1\n"});
  EXPECT_THAT(run.err, HasSubstr("note: fedavg: " + warning));
  EXPECT_THAT(succeed("privacy out/fedavg-seed-1").out, HasSubstr("            " + warning));
}

TEST_F(PrivacyCommand, SaysWhatALedgerTakesAsPublic) {
  Ledger ledger(Unit::kRecord);
  ledger.add_client(0, 100);
  ledger.record(1, 0, results::private_steps(10));
  ledger.declare_public({"the server's proxy data", "means and deviations of the features"});
  ledger.record_population(1, RoundAccesses({{DeclaredPublic{"label counts"}, 1}}));
  scratch.write("ledger.json", ledger.to_json());
  const Outcome outcome = succeed("epsilon --ledger ledger.json --delta 1e-5");
  EXPECT_THAT(outcome.err,
              HasSubstr("note: this ledger takes as public, beside sizes: each client's label "
                        "counts, means and deviations of the features, the server's proxy data\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("public")));
}

// What everybody is charged needs nobody listed.
TEST_F(PrivacyCommand, ChargesAPopulationOfWhichNoClientIsListed) {
  Ledger ledger(Unit::kClient);
  ledger.record_population(1, RoundAccesses({{ExactAccess{"messages"}, 1}}));
  scratch.write("ledger.json", ledger.to_json());
  EXPECT_EQ(succeed("epsilon --ledger ledger.json --delta 1e-5 --accountant pld").out, "inf\n");
}

// Under a budget such a run claims what a filter proves, and of budgets a ledger knows nothing.
TEST_F(PrivacyCommand, SaysThatALedgerWithoutAPlanVaries) {
  Ledger ledger(Unit::kRecord);
  for (const std::int64_t client : {0, 1}) ledger.add_client(client, 100);
  ledger.record(1, 0, results::private_steps(10));
  ledger.record(1, 1, results::private_steps(10));
  ledger.record(2, 0, results::private_steps(4));
  scratch.write("ledger.json", ledger.to_json());
  const std::string note = "note: accesses changed from round to round, and no plan announced it";
  EXPECT_THAT(succeed("epsilon --ledger ledger.json --delta 1e-5").err, HasSubstr(note));
  EXPECT_THAT(succeed("epsilon --ledger ledger.json --delta 1e-5 --client 0").err, HasSubstr(note));
  EXPECT_THAT(succeed("epsilon --ledger ledger.json --delta 1e-5 --client 1").err, Not(HasSubstr(note)));
}

// Answers may have decided what else was asked for, and of whom.
TEST_F(PrivacyCommand, SaysWhatAnEpsilonOfALedgerRestsOn) {
  Ledger ledger(Unit::kRecord);
  for (const std::int64_t client : {0, 1}) ledger.add_client(client, 100);
  ledger.record(1, 0, results::private_steps(10));
  scratch.write("ledger.json", ledger.to_json());
  const std::string command = "epsilon --ledger ledger.json --delta 1e-5";
  const std::string unplanned = "note: no plan announced the noised answers",
                    exact = "note: others were looked at";
  EXPECT_THAT(succeed(command).err, AllOf(HasSubstr(unplanned), Not(HasSubstr(exact))));
  EXPECT_THAT(succeed(command + " --client 1").err, Not(HasSubstr(unplanned)));
  ledger.record(1, 1, RoundAccesses({{ExactAccess{"loss"}, 1}}, std::vector<Access>()));
  scratch.write("ledger.json", ledger.to_json());
  EXPECT_THAT(succeed(command + " --client 0").err, has_all(unplanned, exact));
  EXPECT_THAT(succeed(command).err, Not(HasSubstr("note: ")));
}

// One epsilon would be about neighbours that hide some of them only; but who exchanges a unit for any other
// exchanges it for one that contributes nothing.
TEST_F(PrivacyCommand, RefusesALedgerWhoseClientsHaveOtherNeighbours) {
  const auto write = [&](Adjacency other) {
    Ledger ledger(Unit::kRecord);
    for (const std::int64_t client : {0, 1}) ledger.add_client(client, 100);
    ledger.record(1, 0, RoundAccesses({{Gaussian{1, Adjacency::kReplaceOne}, 1}}));
    ledger.record(1, 1, RoundAccesses({{Gaussian{1, other}, 1}}));
    scratch.write("ledger.json", ledger.to_json());
  };
  write(Adjacency::kAddRemove);
  EXPECT_THAT(refused("epsilon --ledger ledger.json --delta 1e-5"),
              HasSubstr("the clients mix add-remove and replace-one neighbours"));
  EXPECT_THAT(succeed("epsilon --ledger ledger.json --delta 1e-5 --client 1").err,
              HasSubstr("adjacency add-remove"));
  write(Adjacency::kZeroOut);
  const Outcome both = succeed("epsilon --ledger ledger.json --delta 1e-5");
  EXPECT_THAT(both.err, HasSubstr("adjacency zero-out"));
  EXPECT_EQ(both.out, succeed("epsilon --ledger ledger.json --delta 1e-5 --client 0").out);
}

}  // namespace
}  // namespace fedarena::test
