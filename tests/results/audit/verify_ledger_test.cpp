// A ledger against the experiment of its run, also one that was forged together with all that follows from
// it: who took part, and how often data were looked at. What was released: verify_releases_test.cpp.
#include "fedarena/base/stream.hpp"

#include "tests/matchers.hpp"
#include "tests/results/audit/forged_run.hpp"

namespace fedarena::results {
namespace {

TEST_F(ForgedRun, IsNotWhatTheExperimentGives) {
  EXPECT_THAT(differences(toml("record"), ledger_of_records(honest)), IsEmpty());
  EXPECT_THAT(differences(toml("client"), ledger_of_clients(accesses(gaussian(1), 1))), IsEmpty());
  // "none" lets everybody see everything, and still says who took part.
  const Rounds of_the_first = [](auto, std::int64_t client) {
    return client == 0 ? std::optional(RoundAccesses()) : std::nullopt;
  };
  EXPECT_THAT(differences(toml("none"), ledger_of(Unit::kNothing, of_the_first)),
              differs("rounds of client 1 and 1 more is 0; recomputed: 4"));
}

// Every message costs the same, so that a budget is worth a number of rounds.
TEST_F(ForgedRun, IsNoticedByTheBudgetOfEachClient) {
  const RoundAccesses message = accesses(Laplace{1000, 1}, 1);  // epsilon 1 a round
  const auto with = [&](const std::string& budgets, const std::vector<std::int64_t>& rounds) {
    const Ledger ledger = ledger_of(Unit::kLocal, [&](std::int64_t round, std::int64_t client) {
      const bool pays = round <= rounds[static_cast<std::size_t>(client)];
      return pays ? std::optional(message) : std::nullopt;
    });
    const PrivacyClaim claim{.unit = "local", .per_client = true, .budget = PerClient(std::vector{1.0})};
    return differences(
        toml("local", {{"mechanism", "\"laplace\""}, {"budget", budgets}, {"noise_multiplier", "2.0"}}),
        ledger, 0, 0, claim);
  };
  EXPECT_THAT(with("[2.0, 3.5]", {2, 3, 2}), IsEmpty());
  EXPECT_THAT(with("[2.0, 3.5, 9.0]", {2, 3, 4}), IsEmpty());
  EXPECT_THAT(with("[2.0, 3.5, 9.0]", {3, 3, 4}),
              Contains(MatchesRegex(
                  "ledger.json: epsilon of client 0 is [0-9.]+; recomputed: at most the budget 2")));
  EXPECT_THAT(with("[2.0, 3.5, 9.0]", {2, 2, 4}),
              Contains("ledger.json: rounds of client 1 is 2; recomputed: 4, because the budget 3.5 pays for "
                       "another one"));
}

// The server of most algorithms sends the model and nothing else, and their clients its change beside a
// number.
TEST_F(ForgedRun, TellsTheSizeOfItsModelByWhatWasSent) {
  const auto with = [&](const std::string& name, const std::string& value) {
    return differences(toml("record", {{name, value}}), ledger_of_records(honest));
  };
  EXPECT_THAT(with("dtype", "\"float32\""), IsEmpty());
  EXPECT_THAT(
      with("dtype", "\"float64\""),
      ElementsAre("rounds.jsonl: downlink_bytes of round 1 and 3 more is 12096; recomputed: 8032 to each "
                  "of 3 clients",
                  "rounds.jsonl: uplink_bytes of round 1 and 3 more is 12153; recomputed: 8051 by each of 3 "
                  "clients"));
  EXPECT_THAT(with("name", "\"theirs\""), Not(Contains(HasSubstr("link_bytes"))));
}

// It counts the gradients of examples, and those alone.
TEST_F(ForgedRun, TellsHowManyGradientsThereAreByItsExamples) {
  test_gradients(2);
  EXPECT_THAT(
      differences(toml("record"), ledger_of_records(honest)),
      ElementsAre(
          "rounds.jsonl: gradients of round 1 and 3 more is 960; recomputed: 480, one of each example"));
  EXPECT_THAT(differences(toml("record", {{"name", "\"ditto\""}}), ledger_of_records(honest)),
              Not(Contains(HasSubstr("gradients"))));
}

// Each setting of the experiment by itself, where the ledger stays as it was.
TEST_F(ForgedRun, IsNoticedByEverySettingOfItsExperiment) {
  const Ledger ledger = ledger_of_records(honest);
  const auto with = [&](const std::string& name, const std::string& value) {
    return differences(toml("record", {{name, value}}), ledger);
  };
  EXPECT_THAT(with("noise_multiplier", "9.0"), ElementsAre(of_all("noise multiplier", "2", "9")));
  EXPECT_THAT(with("sampling", "\"without-replacement\""),
              Contains(of_all("sampling", "poisson", "without-replacement")));
  EXPECT_THAT(with("batch_size", "10"),
              Contains("ledger.json: sampling rate of client 0 and 1 more is 0.2; recomputed: 0.1 or 1"));
  EXPECT_THAT(with("local_epochs", "1"), Contains(of_all("accesses in a round", "10", "5")));
  EXPECT_THAT(with("local_steps", "7"), Contains(of_all("accesses in a round", "10", "7")));
  EXPECT_THAT(with("clients", "4"), differs("clients of the partition is 3; recomputed: 4"));
  EXPECT_THAT(with("size", "2"), Contains(StartsWith("ledger.json: rounds of client ")));
}

TEST_F(ForgedRun, WithRarerSamplesOrFewerAccesses) {
  const auto rarer = [](std::int64_t client) {
    return client == 0 ? accesses(gaussian(0.02), 10) : honest(client);
  };
  EXPECT_THAT(differences(toml("record"), ledger_of_records(rarer)),
              Contains("ledger.json: sampling rate of client 0 is 0.02; recomputed: 0.2 or 1"));
  // Whoever else has a plugin may ask for batches of any size.
  EXPECT_THAT(differences(toml("record", {{"name", "\"of-others\""}}), ledger_of_records(rarer)),
              Not(Contains(HasSubstr("sampling rate"))));
  const auto fewer = [](std::int64_t client) {
    return client == 1 ? accesses(gaussian(20.0 / 101), 3) : honest(client);
  };
  EXPECT_THAT(differences(toml("record"), ledger_of_records(fewer)),
              Contains("ledger.json: accesses in a round of client 1 is 3; recomputed: 12"));
}

// A walk may end early, but it is charged in full, by the kinds of its accesses: 12 over batches, and one of
// the whole shard.
TEST_F(ForgedRun, WhosePlanIsAnother) {
  const std::string walks = toml("record", {{"name", "\"fedlap-dp\""},
                                            {"local_epochs",
                                             "2\ntrajectories = 3\nouter_steps = 2\nreal_batches = 2\n"
                                             "server_radius = \"constant\"\nserver_calibration = true"}});
  const auto planned = [](std::int64_t batches, std::int64_t whole) {
    return [=](std::int64_t client) {
      const Event batch = honest(client).list().front().event;
      RoundAccesses round = honest(client);
      std::vector<Access> unmade{{batch, batches - round.list().front().count}};
      if (whole > 0) unmade.push_back({gaussian(1), whole});
      round.leave_unmade(unmade);
      return round;
    };
  };
  const auto other_plan = [](const std::string& planned) {
    return of_all("accesses planned for a round", planned + " of the whole shard",
                  "12 over samples, 1 of the whole shard");
  };
  // Clients make 10, 12 and 2 of theirs; batches of the last one are its whole shard.
  EXPECT_THAT(differences(walks, ledger_of_records(planned(13, 1))),
              ElementsAre(other_plan("13 over samples, 1")));
  EXPECT_THAT(differences(walks, ledger_of_records(planned(14, 0))),
              Contains(other_plan("14 over samples, 0")));
  EXPECT_THAT(differences(walks, ledger_of_records(honest)), Contains(other_plan("10 over samples, 0")));
  const auto right = [&](std::int64_t client) {
    RoundAccesses round = honest(client);
    const Access& made = round.list().front();
    std::vector<Access> unmade{{gaussian(1), 1}};
    if (made.count < 12) unmade.push_back({made.event, 12 - made.count});
    round.leave_unmade(unmade);
    return round;
  };
  EXPECT_THAT(differences(walks, ledger_of_records(right)), IsEmpty());
  // Less noise was planned than for the rest.
  const auto noisier = [&](std::int64_t client) {
    RoundAccesses round = right(client);
    std::vector<Access> unmade = *round.unmade();
    unmade.front().event = gaussian(1, 9);
    round.leave_unmade(unmade);
    return round;
  };
  EXPECT_THAT(differences(walks, ledger_of_records(noisier)),
              ElementsAre(of_all("noise multiplier", "9", "2")));
  // Local SGD asks for all of its plan, which is its steps.
  EXPECT_THAT(differences(toml("record"), ledger_of_records(right)),
              Contains(of_all("accesses planned for a round", "12 over samples, 1 of the whole shard",
                              "10 over samples, 0 of the whole shard")));
  const Ledger unplanned =
      ledger_of(Unit::kRecord, [](auto, std::int64_t client) { return RoundAccesses(honest(client).list()); },
                {.sizes = kSizes});
  EXPECT_THAT(differences(toml("record"), unplanned), ElementsAre(of_all("plan of a round", "none", "one")));
}

// What a rule stopped is charged for all rounds that were planned, whatever the rounds say.
TEST_F(ForgedRun, WhoseStopIsLeftOut) {
  const auto stopped = [&](std::int64_t charged, bool says_so) {
    return differences_after_a_stop(2, toml("record"), ledger_of_records(honest, charged, says_so ? 2 : 0));
  };
  EXPECT_THAT(stopped(kRounds, true), IsEmpty());
  EXPECT_THAT(stopped(2, false), differs("ended_after is 0; recomputed: 2"));
  EXPECT_THAT(stopped(kRounds, false), Contains("ledger.json: ended_after is 0; recomputed: 2"));
  EXPECT_THAT(stopped(3, true), Contains(of_all("rounds", "3", "4")));
  // Of the others nothing was made.
  const Rounds as_left_out = [](std::int64_t round, std::int64_t client) {
    const RoundAccesses all = honest(client);
    return round <= 2 ? all : RoundAccesses({}, all.list());
  };
  const auto left_out = [&](std::int64_t ended_after) {
    const Ledger ledger =
        ledger_of(Unit::kRecord, as_left_out, {.sizes = kSizes, .ended_after = ended_after});
    return differences_after_a_stop(2, toml("record"), ledger);
  };
  EXPECT_THAT(left_out(2), IsEmpty());
  EXPECT_THAT(left_out(0), Contains(of_all("accesses in a round", "0", "10")));
}

// Each client's examples vote once on its walk.
TEST_F(ForgedRun, WhoseWalksAreVotedOnOnce) {
  const auto file = [](const std::string& region, const std::string& server_radius) {
    return toml("record", {{"name", "\"fedlap\""},
                           {"local_epochs",
                            "2\ntrajectories = 3\nouter_steps = 2\nreal_batches = 2\nserver_epochs = 5\n"
                            "region = \"" +
                                region + "\"\nserver_radius = \"" + server_radius + "\""}});
  };
  // Twelve batches are planned; what is not made of them is charged, and so are `left` of the whole shard.
  const auto walking = [](const std::vector<Access>& more, std::int64_t left) {
    return ledger_of_records([=](std::int64_t client) {
      std::vector<Access> made = honest(client).list(), unmade;
      const Access batches = made.front();
      made.insert(made.end(), more.begin(), more.end());
      if (batches.count < 12) unmade.push_back({batches.event, 12 - batches.count});
      if (left > 0) unmade.push_back({gaussian(1), left});
      return RoundAccesses(made, unmade);
    });
  };
  const auto votes = [](std::int64_t count) {
    return std::vector<Access>{{Gaussian{2, Adjacency::kZeroOut}, count}};
  };
  const auto other_plan = [](const std::string& whole) {
    return of_all("accesses planned for a round", "12 over samples, " + whole + " of the whole shard",
                  "12 over samples, 1 of the whole shard");
  };
  EXPECT_THAT(differences(file("votes", "median"), walking(votes(1), 0)), IsEmpty());
  EXPECT_THAT(differences(file("votes", "median"), walking({}, 1)), IsEmpty());
  EXPECT_THAT(differences(file("votes", "median"), walking({}, 0)), ElementsAre(other_plan("0")));
  EXPECT_THAT(
      differences(file("votes", "median"), walking(votes(2), 0)),
      ElementsAre("ledger.json: accesses in a round of client 1 is 14; recomputed: 0-13", other_plan("2")));
  EXPECT_THAT(differences(file("votes", "constant"), walking({}, 0)), IsEmpty());
  EXPECT_THAT(differences(file("gradient", "median"), walking({}, 5)), IsEmpty());
  // Whoever looks at exact losses after answers plans none.
  const auto unplanned = [](const std::vector<Access>& more) {
    const auto made = [=](std::int64_t /*round*/, std::int64_t client) {
      std::vector<Access> all = honest(client).list();
      all.insert(all.end(), more.begin(), more.end());
      return RoundAccesses(all);
    };
    return ledger_of(Unit::kRecord, made, {.sizes = kSizes});
  };
  EXPECT_THAT(differences(file("loss", "median"), unplanned({{ExactAccess{"loss"}, 6}})), IsEmpty());
  EXPECT_THAT(differences(file("loss", "median"), unplanned({})),
              ElementsAre(of_all("exact access (loss)", "missing", "in rounds 1 to 4")));
  EXPECT_THAT(differences(file("loss", "median"), walking({{ExactAccess{"loss"}, 6}}, 0)),
              ElementsAre(of_all("plan of a round", "some", "none")));
}

// A private generator draws batches of a size of its own.
TEST_F(ForgedRun, WhoseGeneratorHasItsOwnBatches) {
  const auto file = [](const std::string& generator) {
    return toml("record", {{"name", "\"pppfl\""},
                           {"local_epochs", "2\ngenerator = \"" + generator + "\"\npsg_batch_size = 10"}});
  };
  const auto tens = [](std::int64_t client) {
    return accesses(gaussian(10.0 / static_cast<double>(kSizes.at(static_cast<std::size_t>(client)))), 1);
  };
  EXPECT_THAT(differences(file("psg"), ledger_of_records(tens), 30), IsEmpty());
  EXPECT_THAT(differences(file("dp-merf"), ledger_of_records(tens), 30),
              ElementsAre(of_all("sampling rate", "0.1", "0.2 or 1")));
}

TEST_F(ForgedRun, WithFewerVotesThanItsAlgorithmPlans) {
  const auto votes = [](std::int64_t count) {
    return [count](std::int64_t) {
      return RoundAccesses({{Gaussian{2, Adjacency::kZeroOut}, count}}, std::vector<Access>());
    };
  };
  const std::string feddm = toml(
      "record", {{"name", "\"feddm\""},
                 {"public_classes", "true"},
                 {"local_epochs",
                  "2\nclasses = \"all\"\nimage_init = \"noise\"\nclass_means = \"votes\"\niterations = 3"}});
  EXPECT_THAT(differences(feddm, ledger_of_records(votes(3))), Not(Contains(HasSubstr("accesses"))));
  EXPECT_THAT(
      differences(feddm, ledger_of_records(votes(2))),
      Contains(HasSubstr("accesses planned for a round of client 0 and 2 more is 0 over samples, 2 of")));
}

// Votes stand in no round, so that only settings and budgets say how many there must be.
TEST_F(ForgedRun, WithFewerVotesForItsSyntheticExamplesIsNoticed) {
  const auto file = [](const std::string& budget) {
    Settings settings = {
        {"name", "\"pppfl\""},
        {"local_epochs",
         "2\ngenerator = \"datalens\"\ngenerator_steps = 2\ngenerator_batch_size = 20\npsg_models = 1"}};
    if (!budget.empty()) settings["budget"] = budget;
    return toml("record", settings);
  };
  const auto ledger_of_votes = [](std::int64_t votes, const Event& vote) {
    return ledger_of(Unit::kRecord, [&](std::int64_t round, auto) {
      std::vector<Access> made;
      if (round == 1) made.push_back({vote, votes});
      return RoundAccesses(made, std::vector<Access>());
    });
  };
  const auto found = [&](const std::string& budget, std::int64_t votes,
                         const Event& vote = Gaussian{2, Adjacency::kReplaceOne}) {
    const PrivacyClaim claim{.unit = "record", .settings = {.delta = 1e-5}};
    return differences(file(budget), ledger_of_votes(votes, vote), 0, 0, claim);
  };
  const std::string fewer = "ledger.json: answers for synthetic examples of client 0 and 2 more is ";
  EXPECT_THAT(found("", 40), IsEmpty());
  EXPECT_THAT(found("", 4), ElementsAre(fewer + "4; recomputed: 40"));
  // Samples, which amplification makes cheaper, are no votes.
  EXPECT_THAT(found("", 40, gaussian(0.2)), Contains(fewer + "0; recomputed: 40"));
  // Two votes cost 7.08, three 9.01.
  EXPECT_THAT(found("8.0", 2), IsEmpty());
  EXPECT_THAT(found("8.0", 1), ElementsAre(fewer + "1; recomputed: 40, or as many as the budget pays for"));
}

// Where no setting says how often examples are looked at, the rounds do: 480 of them a round.
TEST_F(ForgedRun, OfAnAlgorithmThatNobodyKnowsIsNoticedByItsRounds) {
  const std::string file = toml("record", {{"name", "\"theirs\""}});
  EXPECT_THAT(differences(file, ledger_of_records(honest)), IsEmpty());
  // As far from the mean as chance may bring it.
  EXPECT_THAT(differences(file, ledger_of_records(honest), 20 * 24 + 90), IsEmpty());
  const auto once = [](std::int64_t client) {
    return RoundAccesses({{honest(client).list().front().event, 1}});
  };
  EXPECT_THAT(differences(file, ledger_of_records(once)),
              Contains("rounds.jsonl: round 1 examples is 480; recomputed: 60 by the ledger"));
}

// A cohort is a matter of seed and round.
TEST_F(ForgedRun, WhoseCohortsAreOthers) {
  const auto recorded = [&](const std::function<std::vector<std::int64_t>(std::int64_t)>& cohort) {
    const Ledger ledger = ledger_of(Unit::kNothing, [&](std::int64_t round, std::int64_t client) {
      const std::vector<std::int64_t> drawn = cohort(round);
      return std::ranges::count(drawn, client) > 0 ? std::optional(RoundAccesses()) : std::nullopt;
    });
    return differences(toml("none", {{"size", "2"}}), ledger);
  };
  const auto drawn = [](std::int64_t round) {
    Stream stream({.seed = 1, .round = round, .client = kServer, .purpose = Purpose::kCohort, .index = 0});
    return stream.sample_without_replacement(3, 2);
  };
  EXPECT_THAT(recorded(drawn), IsEmpty());
  EXPECT_THAT(recorded([](std::int64_t) {
                return std::vector<std::int64_t>{0, 1};
              }),
              Contains(StartsWith("ledger.json: rounds of client ")));
}

// Nobody knows which cohorts the system's generator drew, nor who was in an attempt that a crash lost.
TEST_F(ForgedRun, MayHaveAnyCohortsWhereTheyAreSecret) {
  const RoundAccesses answer = accesses(gaussian(1.0 / 3), 1);
  const auto recorded = [&](const std::string& source, bool lost) {
    Ledger ledger(Unit::kClient);
    for (std::int64_t client = 0; client < 3; ++client) ledger.add_client(client, 100);
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      if (lost && round == 2) {
        ledger.record(round, 1, {});
        ledger.record_population(round, answer);
      }
      ledger.record(round, 2, {});
      ledger.record_population(round, answer);
    }
    return differences(toml("client", {{"size", "1"}, {"noise_source", source}}), ledger);
  };
  EXPECT_THAT(recorded("\"system\"", false), IsEmpty());
  EXPECT_THAT(recorded("\"system\"", true), IsEmpty());
  EXPECT_THAT(recorded("\"stream\"", false), Contains(StartsWith("ledger.json: rounds of client ")));
  // Still, nobody takes part who never trains.
  const Settings held_out = {{"held_out_clients", "0.3"}, {"noise_source", "\"system\""}};
  Ledger ledger = ledger_of_clients(accesses(gaussian(1), 1));
  ledger.declare_public({"the scores of held-out clients"});
  EXPECT_THAT(differences(toml("client", held_out), ledger, 0, 1),
              ElementsAre(MatchesRegex("ledger.json: rounds of client . is 4; recomputed: at most 0")));
}

// One of three clients, of whom the others take part in every round.
TEST_F(ForgedRun, WhereAHeldOutClientTrains) {
  const std::string experiment = toml("none", {{"held_out_clients", "0.3"}});
  Stream stream({.seed = 1, .round = 0, .client = kServer, .purpose = Purpose::kCohort, .index = 0});
  const std::int64_t held_out = stream.sample_without_replacement(3, 1).front();
  const auto recorded = [&](bool trains, std::int64_t counted = 1) {
    const Ledger ledger = ledger_of(Unit::kNothing, [&](auto, std::int64_t client) {
      return trains || client != held_out ? std::optional(RoundAccesses()) : std::nullopt;
    });
    return differences(experiment, ledger, 0, counted);
  };
  EXPECT_THAT(recorded(false), IsEmpty());
  EXPECT_THAT(recorded(true),
              Contains(fmt::format("ledger.json: rounds of client {} is 4; recomputed: 0", held_out)));
  EXPECT_THAT(recorded(false, 0), Contains(HasSubstr("summary.json: held_out_clients is 0")));
}

// A round that was lost may have been answered, so it is charged too; but each attempt asks for what a round
// asks for.
TEST_F(ForgedRun, MayChargeAttemptsWhereNoiseCannotBeDrawnAgain) {
  const auto with_attempt = [](const Train& train) {
    Ledger ledger = ledger_of_records(honest);
    for (std::int64_t client = 0; client < 3; ++client) ledger.record(kRounds, client, train(client));
    return ledger;
  };
  const auto more = [](std::int64_t client) {
    std::vector<Access> list = honest(client).list();
    list.front().count += 5;
    return RoundAccesses(list);
  };
  const std::string system = toml("record", {{"noise_source", "\"system\""}});
  EXPECT_THAT(differences(system, with_attempt(honest)), IsEmpty());
  EXPECT_THAT(differences(system, with_attempt(more)),
              Contains(of_all("accesses in a round", "25 by 2 attempts", "10")));
  EXPECT_THAT(differences(system, ledger_of_records(more)),
              Contains(of_all("accesses in a round", "15", "10")));
}

// After which no budget paid for its next attempt.
TEST_F(ForgedRun, MayEndBeforeARoundThatWasLost) {
  const auto with_lost = [](Ledger ledger, const ForgedRun::Train& train, const RoundAccesses& population) {
    Ledger written = ledger;
    for (std::int64_t client = 0; client < 3; ++client) written.record(kRounds + 1, client, train(client));
    if (ledger.unit() == Unit::kClient) written.record_population(kRounds + 1, population);
    ledger.add_lost(written, kRounds + 1);
    return ledger;
  };
  const auto nothing = [](std::int64_t) { return RoundAccesses(); };
  const Ledger records = with_lost(ledger_of_records(honest), honest, {});
  const RoundAccesses sum = accesses(gaussian(1), 1);
  const Ledger clients = with_lost(ledger_of_clients(sum), nothing, sum);
  const Settings system = {{"noise_source", "\"system\""}};
  EXPECT_THAT(differences(toml("record", system), records), IsEmpty());
  EXPECT_THAT(differences(toml("client", system), clients), IsEmpty());
  EXPECT_THAT(differences(toml("record"), records),
              ElementsAre(StartsWith("ledger.json: rounds of a segment of client 0 and 2 more is 0 of ")));
}

TEST_F(ForgedRun, WithAnExperimentOfAnyNumbers) {
  int refused = 0;
  for (const char* value : {"9223372036854775807", "-5", "nan", "1e300", "\"x\"", "[]", ""}) {
    for (const char* name : {"batch_size", "local_epochs", "local_steps", "size", "clients", "seeds",
                             "as_if_cohort", "count_noise", "noise_multiplier"}) {
      for (const std::string policy : {"record", "client"}) {
        try {
          const auto ledger =
              policy == "record" ? ledger_of_records(honest) : ledger_of_clients(accesses(gaussian(1), 1));
          differences(toml(policy, {{name, value}}), ledger);
        } catch (const Error& error) {
          ++refused;
          EXPECT_THAT(error.what(), HasSubstr("experiment.toml"));
        }
      }
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace fedarena::results
