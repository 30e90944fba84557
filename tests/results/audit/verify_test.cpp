#include "results/audit/verify.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "fedarena/base/stream.hpp"

#include "results/record/canary_audit.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

class Verify : public testing::Test {
 protected:
  Scratch folder_;
  RecordedRun run_{folder_ / "run", {}};
};

TEST_F(Verify, FindsNothingInWhatTheProgramWrote) {
  for (const std::string policy : {"none", "record", "client"}) {
    for (const bool finished : {true, false}) {
      const RecordedRun run(folder_ / (policy + (finished ? "-finished" : "-interrupted")),
                            {.policy = policy, .finished = finished});
      EXPECT_THAT(run.differences(), IsEmpty()) << policy;
      EXPECT_GT(verify_run(run.path()).values, 25);
    }
  }
}

// As a kill leaves it; client 2 took part in rounds 1 and 3.
TEST_F(Verify, KnowsThatALedgerMayBeAheadOfTheCheckpoint) {
  for (const std::string policy : {"none", "record", "client"}) {
    const RecordedRun run(folder_ / policy, {.policy = policy, .finished = false});
    for (const std::int64_t rounds : {2, 1}) {
      run.change_summary([&](Summary& summary) {
        summary.state = kRunning;
        summary.rounds_done = rounds;
      });
      EXPECT_THAT(run.differences(), IsEmpty()) << policy << ", " << rounds;
    }
  }
}

// The system's generator never draws the same again: an attempt that a crash lost had a client that sat the
// round out when it was made again, or no budget paid for making it again.
TEST_F(Verify, AcceptsAttemptsThatWereLostWhereNoiseCannotBeDrawnAgain) {
  for (const std::string policy : {"record", "client"}) {
    for (const std::int64_t round : {2, 5}) {
      const auto found = [&](const std::string& source) {
        return RecordedRun(folder_ / fmt::format("{}-{}-{}", policy, source, round),
                           {.policy = policy, .noise_source = source, .lost_round = round})
            .differences();
      };
      EXPECT_THAT(found("system"), IsEmpty()) << policy << ", round " << round;
      EXPECT_THAT(
          found("stream"),
          ElementsAre("ledger.json: rounds that a crash lost is some; recomputed: none, because noise "
                      "of random streams comes again"));
    }
  }
}

TEST_F(Verify, SaysThatTheNonPrivateRunClaimsNothing) {
  const RecordedRun run(folder_ / "other", {.policy = "none", .label = "fedavg"});
  EXPECT_THAT(verify_run(run.path()).notes, ElementsAre(HasSubstr("policy none, which claims no epsilon")));
}

// Each number of the summary that is a result, one after the other: off by little, and noticed.
TEST_F(Verify, NoticesEveryResultThatIsOff) {
  const std::string original = run_.open().read_file(kSummaryFile);
  for (const char* field :
       {"uplink_bytes", "downlink_bytes", "uplink_bytes_per_client_round", "downlink_bytes_per_client_round",
        "seconds", "final_test_loss", "final_test_accuracy", "epsilon_rdp", "epsilon_pld", "order"}) {
    auto document = nlohmann::ordered_json::parse(original);
    ASSERT_TRUE(document[field].is_number()) << field;
    if (document[field].is_number_integer()) {
      document[field] = document[field].get<std::int64_t>() + 1;
    } else {
      document[field] = document[field].get<double>() * (1 + 1e-6);
    }
    put(run_.path() / kSummaryFile, document.dump());
    EXPECT_THAT(run_.differences(), ElementsAre(StartsWith(fmt::format("summary.json: {} is ", field))));
  }
}

// The experiment of a RecordedRun has the rate 0.1 and, of privacy, what is the algorithm's own.
TEST_F(Verify, NoticesAnotherChoiceThanWhatRan) {
  const auto differences = [&](const Sweep& chosen) {
    run_.change_summary([&](Summary& summary) { summary.tuning = tuned_by(6, chosen); });
    return run_.differences();
  };
  EXPECT_THAT(differences({{"training.rate", "0.1"}}), IsEmpty());
  EXPECT_THAT(differences({{"training.rate", "0.2"}}),
              ElementsAre("experiment.toml: algorithms.rate is 0.1; recomputed: 0.2"));
  EXPECT_THAT(differences({{"algorithms.dp-fedavg.rate", "1e-1"}}), IsEmpty());
  EXPECT_THAT(differences({{"algorithms.dp-fedavg.rate", "0.2"}}),
              ElementsAre("experiment.toml: algorithms.rate is 0.1; recomputed: 0.2"));
  EXPECT_THAT(differences({{"algorithms.fedprox.rate", "0.1"}}),
              ElementsAre("experiment.toml: algorithms.fedprox.rate is missing; recomputed: 0.1"));
  EXPECT_THAT(differences({{"training.momentum", "0.9"}}),
              ElementsAre("experiment.toml: algorithms.momentum is missing; recomputed: 0.9"));

  run_.edit(kExperimentFile, "budget = 0.0\n", "budget = 0.0\nclip_norm = 1.5\n");
  run_.change_summary([](Summary& summary) { summary.policy_settings = {{"clip_norm", "1.5"}}; });
  for (const char* path : {"privacy.clip_norm", "algorithms.dp-fedavg.privacy.clip_norm"}) {
    EXPECT_THAT(differences({{path, "1.5"}}), IsEmpty());
    EXPECT_THAT(differences({{path, "2.5"}}),
                ElementsAre("experiment.toml: algorithms.privacy.clip_norm is 1.5; recomputed: 2.5"));
  }
}

TEST_F(Verify, NoticesASettingOfThePolicyThatIsOff) {
  run_.change_summary([](Summary& summary) {
    summary.policy_settings = {{"clip_norm", "1.0"}, {"noise_source", "\"stream\""}};
  });
  run_.edit(kExperimentFile, "budget = 0.0\n", "budget = 0.0\nclip_norm = 1.0\nnoise_source = \"stream\"\n");
  EXPECT_THAT(run_.differences(), IsEmpty());
  run_.edit(kExperimentFile, "clip_norm = 1.0", "clip_norm = 2.0");
  run_.edit(kExperimentFile, "noise_source = \"stream\"", "noise_source = \"system\"");
  EXPECT_THAT(
      run_.differences(),
      ElementsAre("experiment.toml: algorithms.privacy.clip_norm is \"2.0\"; recomputed: \"1.0\"",
                  "experiment.toml: algorithms.privacy.noise_source is \"system\"; recomputed: \"stream\""));
}

TEST_F(Verify, NoticesRunsOfOneExperimentOnDifferentData) {
  std::vector<FoundRun> runs = {found(finished("fedavg", 1, 0.5)), found(finished("fedavg", 2, 0.5)),
                                found(finished("fedprox", 1, 0.5))};
  EXPECT_THAT(verify_common_data(runs).differences, IsEmpty());
  for (FoundRun& run : runs) run.summary->data_hash = std::string(64, 'a');
  EXPECT_THAT(verify_common_data(runs).differences, IsEmpty());
  runs[2].summary->data_hash = std::string(64, 'b');
  const auto differences = verify_common_data(runs).differences;
  ASSERT_THAT(differences, SizeIs(1));
  EXPECT_EQ(differences[0].file, "runs/fedprox-seed-1/summary.json");
  EXPECT_EQ(differences[0].recomputed, std::string(64, 'a') + ", as runs/fedavg-seed-1 has it");
  runs[2].summary->experiment = "another";
  EXPECT_THAT(verify_common_data(runs).differences, IsEmpty());
}

// Nothing else of a run tells that trials chose its settings.
TEST_F(Verify, NoticesASeedThatLostItsTuning) {
  std::vector<FoundRun> runs = {found(finished("fedavg", 1, 0.5)), found(finished("fedavg", 2, 0.5)),
                                found(finished("fedprox", 1, 0.5))};
  runs[0].summary->tuning = runs[1].summary->tuning = tuned_by(6);
  EXPECT_THAT(verify_common_data(runs).differences, IsEmpty());
  runs[1].summary->tuning.reset();
  EXPECT_THAT(difference_lines(verify_common_data(runs)),
              ElementsAre("summary.json: tuning is none; recomputed: 6 trials (grid, seed 0): "
                          "training.rate=0.1, as runs/fedavg-seed-1 has it"));
}

TEST_F(Verify, NoticesAnEpsilonOfARoundThatIsOff) {
  run_.change_rounds([](RoundRecord& round) {
    if (round.round == 3) round.epsilon = *round.epsilon / 2;
  });
  EXPECT_THAT(run_.differences(), ElementsAre(StartsWith("rounds.jsonl: round 3 epsilon is ")));
}

TEST_F(Verify, NoticesAnEpsilonThatFalls) {
  const RecordedRun run(folder_ / "other", {.policy = "client", .noise_source = "system"});
  run.change_rounds([](RoundRecord& round) {
    if (round.round == 3) round.epsilon = *round.epsilon * 0.9;
  });
  EXPECT_THAT(run.differences(), Contains(HasSubstr("round 3 epsilon is")));
}

TEST_F(Verify, NoticesALedgerFromWhichAnAccessIsGone) {
  // Client 0 alone has the largest epsilon, which is the run's.
  const RecordedRun run(folder_ / "other", {.accesses = [](std::int64_t, std::int64_t client) {
                          return private_steps(client == 0 ? 10 : 5);
                        }});
  run.edit(kLedgerFile, "\"count\": 10", "\"count\": 9");
  EXPECT_THAT(run.differences(), SizeIs(4 + 2)) << "four rounds, and the run by RDP and by PLD";
}

TEST_F(Verify, NoticesALedgerOfOtherRounds) {
  const RecordedRun run(folder_ / "other", {.finished = false});
  run.edit(kLedgerFile, "\"last_round\": 3,\n     \"participations\": 3",
           "\"last_round\": 2,\n     \"participations\": 2");
  EXPECT_THAT(run.differences(),
              Contains(HasSubstr("ledger.json: participations of all clients is 7; recomputed: 8")));
  EXPECT_THAT(run.differences(), Contains(HasSubstr("ledger.json: clients in round 3 is 2; recomputed: 3")));
}

TEST_F(Verify, NoticesARoundThatIsGone) {
  run_.open().truncate_rounds(3);
  EXPECT_THAT(run_.differences(), Contains("summary.json: rounds_done is 4; recomputed: 3"));
}

TEST_F(Verify, RefusesRecordsThatCannotBeRead) {
  put(run_.path() / kLedgerFile, "{");
  expect_refused("ledger.json: not a ledger: not valid JSON from byte 2 on",
                 [&] { verify_run(run_.path()); });
  put(run_.path() / kLedgerFile, "{\"schema\": 1e999}");
  expect_refused("holds a number that is out of range", [&] { verify_run(run_.path()); });
  std::filesystem::remove(run_.path() / kLedgerFile);
  expect_refused("ledger.json: is not there", [&] { verify_run(run_.path()); });
}

// The scores are what they are: nothing differs, and nobody may overlook it.
TEST_F(Verify, SaysThatAnAuditContradictsTheClaim) {
  Stream draws({.seed = 1, .client = kServer, .purpose = Purpose::kAudit});
  CanaryScores scores{.kind = "gradient", .guesses = 100};
  for (int i = 0; i < 200; ++i) {
    scores.in.push_back(draws.uniform() < 0.5);
    scores.scores.push_back(scores.in.back() ? 1 : -1);
  }
  run_.change_summary([&](Summary& summary) { summary.audit = audit_of(scores, *summary.privacy); });
  ASSERT_TRUE(audit_contradicts(run_.open().summary()));
  put(run_.path() / kAuditFile, to_json_text(scores));
  const std::string experiment = run_.open().read_file(kExperimentFile);
  put(run_.path() / kExperimentFile,
      "[audit]\nkind = \"gradient\"\ncanaries = 200\nguesses = 100\nnoise = \"on\"\n\n" + experiment);
  const Verification found = verify_run(run_.path());
  EXPECT_THAT(found.differences, IsEmpty());
  EXPECT_THAT(found.notes, Contains(HasSubstr("contradicts the claimed epsilon of ")));
}

TEST_F(Verify, FindsLossesBelowZero) {
  run_.change_rounds([](RoundRecord& round) {
    if (round.round == 2) round.test_loss = -1;
  });
  EXPECT_THAT(run_.differences(),
              ElementsAre("rounds.jsonl: round 2 test_loss is -1; recomputed: at least 0"));
}

// All three clients take part in round 1, and ifca has two models where its settings do not say how many.
TEST_F(Verify, FindsChoicesThatNoRoundCanHave) {
  const RecordedRun run(folder_ / "other", {.policy = "none", .label = "ifca"});
  const auto with = [&](const std::vector<ModelChoice>& choices) {
    run.change_rounds([&](RoundRecord& round) {
      if (round.round != 1) return;
      round.choices = choices;
      round.observed = {{"hypothesis-0", 1}, {"hypothesis-1", 2}};
    });
    return run.differences();
  };
  EXPECT_THAT(with({{0, 1}, {1, 0}, {2, 1}}), IsEmpty());
  const std::string choices = "rounds.jsonl: choices of round 1 is ";
  const std::string count = "rounds.jsonl: hypothesis-1 of round 1 is 2; recomputed: 1";
  EXPECT_THAT(with({{0, 1}, {1, 0}}), ElementsAre(choices + "2; recomputed: 3, as clients", count));
  EXPECT_THAT(with({{0, 1}, {1, 0}, {3, 1}}),
              ElementsAre(choices + "of client 3; recomputed: of clients that took part"));
  EXPECT_THAT(with({{0, 1}, {1, 0}, {2, 7}}), ElementsAre(choices + "model 7; recomputed: below 2", count));
}

TEST_F(Verify, RecomputesTheCellsOfTheTable) {
  const Scratch folder;
  const RecordedRun first(folder / "dp-fedavg-seed-1", {});
  const RecordedRun second(folder / "dp-fedavg-seed-2",
                           {.seed = 2, .accesses = [](auto, auto) { return private_steps(12); }});
  std::vector<FoundRun> runs = find_runs(std::vector{folder.path()});
  const Verification good = verify_table(runs);
  EXPECT_THAT(good.differences, IsEmpty());
  EXPECT_EQ(good.values, 9);
  // The smaller epsilon of the two seeds in place of the larger one.
  runs[1].summary->privacy->rdp = runs[0].summary->privacy->rdp;
  const Verification bad = verify_table(runs);
  ASSERT_THAT(bad.differences, SizeIs(1));
  EXPECT_EQ(bad.differences[0].field, "dp-fedavg epsilon (RDP)");
}

// Which the run's own check tells; of the table there is nothing to say.
TEST_F(Verify, LooksAtNoClaimOfALedgerOfAnotherPolicy) {
  const Scratch folder;
  const RecordedRun run(folder / "dp-fedavg-seed-1", {});
  run.edit(kLedgerFile, "\"unit\": \"record\"", "\"unit\": \"client\"");
  EXPECT_NO_THROW(verify_table(find_runs(std::vector{folder.path()})));
}

TEST_F(Verify, RecomputesTheCellsOfRowsThatDifferInASetting) {
  const Scratch folder;
  const RecordedRun first(folder / "a/dp-fedavg-seed-1", {});
  const RecordedRun second(folder / "b/dp-fedavg-seed-1", {});
  first.edit(kExperimentFile, "every = 1\n", "every = 1\nvalidation_fraction = 0.1\n");
  second.edit(kExperimentFile, "every = 1\n", "every = 1\nvalidation_fraction = 0.2\n");
  const Verification good = verify_table(find_runs(std::vector{folder.path()}));
  EXPECT_THAT(good.differences, IsEmpty());
  EXPECT_EQ(good.values, 18);
}

// Models that diverged all guess, and the mean of three times 0.1 is no 0.1.
TEST_F(Verify, TakesTheRoundingOfEqualSeedsForNoDeviation) {
  const Scratch folder;
  for (const std::int64_t seed : {1, 2, 3}) {
    RecordedRun(folder / fmt::format("fedavg-seed-{}", seed),
                {.policy = "none", .label = "fedavg", .seed = seed, .accuracy = 0.1});
  }
  std::vector<FoundRun> runs = find_runs(std::vector{folder.path()});
  EXPECT_THAT(verify_table(runs).differences, IsEmpty());
  runs[1].summary->final_test_accuracy = 0.1 + 1e-9;
  std::vector<std::string> fields;
  for (const Difference& difference : verify_table(runs).differences) fields.push_back(difference.field);
  EXPECT_THAT(fields,
              ElementsAre("fedavg accuracy", "fedavg accuracy deviation", "fedavg accuracy half-width"));
}

}  // namespace
}  // namespace fedarena::results
