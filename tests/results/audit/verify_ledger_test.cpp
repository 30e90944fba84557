// A ledger against the experiment of its run: also one that was forged together with all that follows from
// it.
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/base/stream.hpp"

#include "results/audit/verify.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

// Clients of 100, 101 and 20 examples, batches of 20: 5, 6 and 1 steps an epoch.
constexpr std::array<std::int64_t, 3> kSizes = {100, 101, 20};
constexpr std::int64_t kRounds = 4;

using Settings = std::map<std::string, std::string>;

class ForgedRun : public testing::Test {
 protected:
  // As `to_toml` writes it, under these settings instead of the usual ones.
  static std::string toml(const std::string& policy, const Settings& changed = {}) {
    Settings settings = {{"name", "\"dp-fedavg\""},
                         {"batch_size", "20"},
                         {"local_epochs", "2"},
                         {"local_steps", "0"},
                         {"sampling", "\"poisson\""},
                         {"noise_multiplier", "2.0"},
                         {"clip_norm", "1.0"},
                         {"noise_source", "\"stream\""},
                         {"public_classes", "false"},
                         {"adaptive_clipping", "false"},
                         {"count_noise", "0.0"},
                         {"as_if_cohort", "0"},
                         {"as_if_population", "0"},
                         {"size", "0"},
                         {"seeds", "[1]"},
                         {"clients", "3"},
                         {"held_out_clients", "0.0"}};
    for (const auto& [name, value] : changed) settings[name] = value;
    const auto line = [&](const std::string& name) {
      return fmt::format("{} = {}\n", name, settings.at(name));
    };
    std::string text = "[experiment]\n" + line("seeds") + "\n[partition]\n" + line("clients") +
                       "\n[evaluation]\n" + line("held_out_clients") + "\n[cohort]\n" + line("size") +
                       "\n[[algorithms]]\n";
    for (const char* name : {"name", "batch_size", "local_epochs", "local_steps"}) text += line(name);
    for (const char* name : {"assign", "hypotheses"}) {
      if (settings.contains(name)) text += line(name);
    }
    text += fmt::format("\n[algorithms.privacy]\npolicy = \"{}\"\n", policy);
    for (const char* name : {"clip_norm", "noise_multiplier", "sampling", "noise_source", "public_classes",
                             "adaptive_clipping", "count_noise", "as_if_cohort", "as_if_population"})
      text += line(name);
    for (const char* name : {"mechanism", "by_tensor", "budget", "epsilon", "stages"}) {
      if (settings.contains(name)) text += line(name);
    }
    return text;
  }

  static SampledGaussian gaussian(double rate, double noise_multiplier = 2) {
    return {Sampling::kPoisson, rate, {noise_multiplier}, Adjacency::kZeroOut};
  }
  static RoundAccesses accesses(const Event& event, std::int64_t count) {
    return RoundAccesses({{event, count}});
  }

  // What that experiment does to a client in every round under the policy "record".
  static RoundAccesses honest(std::int64_t client) {
    constexpr std::array<std::int64_t, 3> kSteps = {10, 12, 2};
    const auto index = static_cast<std::size_t>(client);
    const auto size = static_cast<double>(kSizes.at(index));
    return accesses(gaussian(std::min(1.0, 20 / size)), kSteps.at(index));
  }

  using Train = std::function<RoundAccesses(std::int64_t client)>;

  static Ledger ledger_of_records(const Train& train, std::int64_t most_accesses = 0) {
    Ledger ledger(Unit::kRecord, most_accesses);
    for (std::int64_t client = 0; client < 3; ++client)
      ledger.add_client(client, kSizes.at(static_cast<std::size_t>(client)));
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      for (std::int64_t client = 0; client < 3; ++client) ledger.record(round, client, train(client));
    }
    return ledger;
  }

  static Ledger ledger_of_clients(const RoundAccesses& population, const RoundAccesses& as_if = {}) {
    Ledger ledger(Unit::kClient);
    for (std::int64_t client = 0; client < 3; ++client) ledger.add_client(client, 100);
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      for (std::int64_t client = 0; client < 3; ++client) ledger.record(round, client, {});
      ledger.record_population(round, population);
      if (!as_if.list().empty()) ledger.record_as_if(round, as_if);
    }
    return ledger;
  }

  // What verify_ledger() says of a run with that ledger, without the folder.
  std::vector<std::string> differences(const std::string& toml, const Ledger& ledger,
                                       std::int64_t examples = 20 * (10 + 12 + 2),
                                       std::int64_t held_out_clients = 0,
                                       const std::optional<PrivacyClaim>& claim = {}) {
    const std::filesystem::path path = scratch_ / std::to_string(++runs_);
    Summary summary = unfinished("dp-fedavg", 1, 0);
    summary.rounds = kRounds;
    summary.clients = 3;
    summary.held_out_clients = held_out_clients;
    if (claim) summary.policy = claim->unit;
    summary.privacy = claim;
    RunDirectory run = RunDirectory::create(path, toml, "{}", summary);
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      RoundRecord record = round_record(round);
      record.clients = 3;
      record.examples = examples;
      run.append(record);
    }
    run.write_file_atomically(kLedgerFile, ledger.to_json());
    summary.rounds_done = kRounds;
    run.write_summary(summary);
    std::vector<std::string> lines;
    for (Difference difference : verify_ledger(path).differences) {
      difference.file = difference.file.filename();
      lines.push_back(describe(difference));
    }
    return lines;
  }

 private:
  const Scratch scratch_;
  int runs_ = 0;
};

TEST_F(ForgedRun, IsNotWhatTheExperimentGives) {
  EXPECT_THAT(differences(toml("record"), ledger_of_records(honest)), IsEmpty());
  EXPECT_THAT(differences(toml("client"), ledger_of_clients(accesses(gaussian(1), 1))), IsEmpty());
  // "none" lets everybody see everything, and still says who took part.
  Ledger nothing(Unit::kNothing);
  for (std::int64_t client = 0; client < 3; ++client) nothing.add_client(client, 100);
  for (std::int64_t round = 1; round <= kRounds; ++round) nothing.record(round, 0, {});
  EXPECT_THAT(differences(toml("none"), nothing),
              ElementsAre("ledger.json: rounds of client 1 and 1 more is 0; recomputed: 4"));
}

TEST_F(ForgedRun, IsNoticedByTheMessagesOfItsClients) {
  const auto with = [&](const Settings& settings, const RoundAccesses& sent) {
    Ledger ledger(Unit::kLocal);
    for (std::int64_t client = 0; client < 3; ++client) ledger.add_client(client, 100);
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      for (std::int64_t client = 0; client < 3; ++client) ledger.record(round, client, sent);
    }
    Settings all = {{"mechanism", "\"gaussian\""}, {"by_tensor", "false"}};
    for (const auto& [name, value] : settings) all[name] = value;
    return differences(toml("local", all), ledger);
  };
  const auto differ = [](const std::string& what) {
    return ElementsAre("ledger.json: message of client 0 and 2 more is " + what);
  };
  const Settings laplace = {{"mechanism", "\"laplace\""}, {"clip_norm", "3.0"}};
  Settings metric = laplace, relative = laplace, by_tensor = laplace;
  metric["clip_norm"] = "0.0";
  relative["mechanism"] = "\"laplace-relative\"";
  by_tensor["by_tensor"] = "true";
  EXPECT_THAT(with({}, accesses(Gaussian{2, Adjacency::kReplaceOne}, 1)), IsEmpty());
  EXPECT_THAT(with({}, accesses(Gaussian{3, Adjacency::kReplaceOne}, 1)),
              differ("Gaussian (noise multiplier 3, replace-one); recomputed: Gaussian (noise multiplier 2, "
                     "replace-one)"));
  EXPECT_THAT(
      with({}, accesses(Gaussian{2}, 1)),
      differ("Gaussian (noise multiplier 2); recomputed: Gaussian (noise multiplier 2, replace-one)"));
  EXPECT_THAT(with({}, {}), ElementsAre(HasSubstr("messages in a round of client 0 and 2 more is 0")));
  EXPECT_THAT(with(laplace, accesses(Laplace{11, 1}, 1)), IsEmpty());
  EXPECT_THAT(with(laplace, accesses(Laplace{11, 1}, 2)),
              ElementsAre(HasSubstr("messages in a round of client 0 and 2 more is 2")));
  EXPECT_THAT(with(by_tensor, accesses(Laplace{11, 1}, 2)), IsEmpty());
  EXPECT_THAT(with(laplace, accesses(Laplace{11, 0.5}, 1)),
              differ("Laplace in R^1 (epsilon 0.5); recomputed: Laplace in R^1 (epsilon 1)"));
  EXPECT_THAT(with(metric, accesses(MetricLaplace{11, 2}, 1)), IsEmpty());
  EXPECT_THAT(with(metric, accesses(MetricLaplace{11, 20}, 1)),
              differ("metric Laplace in R^1 (scale 20); recomputed: metric Laplace in R^1 (scale 2)"));
  const Event exact = ExactAccess{"messages, under noise scaled by their own norm"};
  EXPECT_THAT(with(relative, RoundAccesses({{exact, 1}, {Nominal{"n/nu", 5.5}, 1}})), IsEmpty());
  EXPECT_THAT(
      with(relative, accesses(MetricLaplace{11, 2}, 1)),
      differ("metric Laplace in R^1 (scale 2); recomputed: exact access (messages, under noise scaled by "
             "their own norm)"));
}

TEST_F(ForgedRun, IsNoticedByTheReleaseOfItsLabels) {
  const auto with = [&](const Settings& settings, const std::vector<Access>& released,
                        const RoundAccesses& of_a_client = {}) {
    Ledger ledger(Unit::kLabel);
    for (std::int64_t client = 0; client < 3; ++client) ledger.add_client(client, 100);
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      for (std::int64_t client = 0; client < 3; ++client) ledger.record(round, client, of_a_client);
    }
    if (!released.empty()) ledger.record_population(1, RoundAccesses(released));
    Settings all = {{"epsilon", "1.5"}, {"stages", "1"}};
    for (const auto& [name, value] : settings) all[name] = value;
    return differences(toml("label", all), ledger);
  };
  const Event release = RandomizedResponse{10, 1.5};
  EXPECT_THAT(with({}, {{release, 1}}), IsEmpty());
  EXPECT_THAT(with({}, {{release, 1}}, accesses(Nominal{"label epsilon of synthetic images", 1, true}, 2)),
              IsEmpty());
  EXPECT_THAT(with({{"stages", "2"}}, {{RandomizedResponse{2, 1.5}, 1}}), IsEmpty());
  EXPECT_THAT(with({{"stages", "2"}}, {{release, 1}}),
              ElementsAre("ledger.json: release of labels is 10-ary randomised response (epsilon 1.5); "
                          "recomputed: 2-ary randomised response (epsilon 1.5)"));
  EXPECT_THAT(with({}, {{RandomizedResponse{10, 0.5}, 1}}), ElementsAre(HasSubstr("release of labels is")));
  EXPECT_THAT(with({}, {}), ElementsAre(HasSubstr("releases of labels is 0; recomputed: 1")));
  EXPECT_THAT(with({}, {{release, 2}}), ElementsAre(HasSubstr("releases of labels is 2; recomputed: 1")));
  EXPECT_THAT(with({{"noise_source", "\"system\""}}, {{release, 2}}), IsEmpty());
  EXPECT_THAT(with({}, {{release, 1}}, accesses(gaussian(1), 1)),
              ElementsAre(HasSubstr("access of client 0 and 2 more is")));
  EXPECT_THAT(with({}, {{release, 1}, {DeclaredPublic{"label counts"}, 1}}),
              ElementsAre(HasSubstr("public label counts of all clients is declared")));
}

// Nobody can recompute how far the centres of a round lay apart: not less than nothing, and the same for all.
TEST_F(ForgedRun, IsNoticedByMessagesAroundCentres) {
  const auto with = [&](const std::string& assign, const std::function<double(std::int64_t client)>& noise) {
    Ledger ledger(Unit::kLocal);
    for (std::int64_t client = 0; client < 3; ++client) ledger.add_client(client, 100);
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      for (std::int64_t client = 0; client < 3; ++client) {
        const double spread = 1 / static_cast<double>(round);
        ledger.record(round, client,
                      accesses(Gaussian{noise(client) / (1 + spread), Adjacency::kReplaceOne}, 1));
      }
    }
    return differences(
        toml("local",
             {{"mechanism", "\"gaussian\""}, {"name", "\"ifca\""}, {"assign", assign}, {"hypotheses", "2"}}),
        ledger);
  };
  EXPECT_THAT(with("\"k-means\"", [](std::int64_t) { return 2; }), IsEmpty());
  EXPECT_THAT(with("\"clients\"", [](std::int64_t) { return 2; }),
              ElementsAre(HasSubstr("message of client 0 and 11 more is")));
  EXPECT_THAT(with("\"k-means\"", [](std::int64_t) { return 5; }),
              ElementsAre(HasSubstr("message of client 0 and 11 more is Gaussian (noise multiplier 2.5")));
  EXPECT_THAT(with("\"k-means\"", [](std::int64_t client) { return client == 1 ? 1.5 : 2; }),
              ElementsAre("ledger.json: message around centres of client 1 and 3 more is Gaussian (noise "
                          "multiplier 0.75, replace-one); recomputed: Gaussian (noise multiplier 1, "
                          "replace-one) as of client 0"));
}

TEST_F(ForgedRun, IsNoticedByTheNoiseOfEachClient) {
  const auto with = [&](const std::string& list) {
    const auto noised = [](std::int64_t client) {
      std::vector<Access> all = honest(client).list();
      std::get<SampledGaussian>(all[0].event).noise_multipliers = {client == 1 ? 3.5 : 2};
      return RoundAccesses(all);
    };
    return differences(toml("record", {{"noise_multiplier", list}}), ledger_of_records(noised));
  };
  EXPECT_THAT(with("[2.0, 3.5]"), IsEmpty());
  EXPECT_THAT(with("[2.0, 3.5, 2.0, 9.0]"), IsEmpty());
  EXPECT_THAT(with("[2.0, 3.6]"),
              ElementsAre("ledger.json: noise multiplier of client 1 is 3.5; recomputed: 3.6"));
  EXPECT_THAT(with("[2.5, 3.5]"),
              ElementsAre("ledger.json: noise multiplier of client 0 and 1 more is 2; recomputed: 2.5"));
  EXPECT_THROW(with("[2.0, x]"), Error);
  EXPECT_THROW(with("[]"), Error);
}

// Every message costs the same, so that a budget is worth a number of rounds.
TEST_F(ForgedRun, IsNoticedByTheBudgetOfEachClient) {
  const RoundAccesses message = accesses(Laplace{11, 1}, 1);  // epsilon 1 a round
  const auto with = [&](const std::string& budgets, const std::vector<std::int64_t>& rounds) {
    Ledger ledger(Unit::kLocal);
    for (std::int64_t client = 0; client < 3; ++client) ledger.add_client(client, 100);
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      for (std::size_t client = 0; client < 3; ++client) {
        if (round <= rounds[client]) ledger.record(round, static_cast<std::int64_t>(client), message);
      }
    }
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

// Each setting of the experiment by itself, where the ledger stays as it was.
TEST_F(ForgedRun, IsNoticedByEverySettingOfItsExperiment) {
  const Ledger ledger = ledger_of_records(honest);
  const auto with = [&](const std::string& name, const std::string& value) {
    return differences(toml("record", {{name, value}}), ledger);
  };
  EXPECT_THAT(with("noise_multiplier", "9.0"),
              ElementsAre("ledger.json: noise multiplier of client 0 and 2 more is 2; recomputed: 9"));
  EXPECT_THAT(with("sampling", "\"without-replacement\""),
              Contains("ledger.json: sampling of client 0 and 2 more is poisson; recomputed: "
                       "without-replacement"));
  EXPECT_THAT(with("batch_size", "10"),
              Contains("ledger.json: sampling rate of client 0 and 1 more is 0.2; recomputed: 0.1 or 1"));
  EXPECT_THAT(with("local_epochs", "1"),
              Contains("ledger.json: accesses in a round of client 0 and 2 more is 10; recomputed: 5"));
  EXPECT_THAT(with("local_steps", "7"),
              Contains("ledger.json: accesses in a round of client 0 and 2 more is 10; recomputed: 7"));
  EXPECT_THAT(with("clients", "4"), ElementsAre("ledger.json: clients of the partition is 3; recomputed: 4"));
  EXPECT_THAT(with("size", "2"), Contains(StartsWith("ledger.json: rounds of client ")));
}

TEST_F(ForgedRun, WithLessNoiseThanItsLedgerSays) {
  const auto quieter = [](std::int64_t client) {
    std::vector<Access> list = honest(client).list();
    std::get<SampledGaussian>(list.front().event).noise_multipliers = {8};
    return RoundAccesses(list);
  };
  EXPECT_THAT(differences(toml("record"), ledger_of_records(quieter)),
              ElementsAre("ledger.json: noise multiplier of client 0 and 2 more is 8; recomputed: 2"));
}

TEST_F(ForgedRun, WithRarerSamplesOrFewerAccesses) {
  const auto rarer = [](std::int64_t client) {
    return client == 0 ? accesses(gaussian(0.02), 10) : honest(client);
  };
  EXPECT_THAT(differences(toml("record"), ledger_of_records(rarer)),
              Contains("ledger.json: sampling rate of client 0 is 0.02; recomputed: 0.2 or 1"));
  const auto fewer = [](std::int64_t client) {
    return client == 1 ? accesses(gaussian(20.0 / 101), 3) : honest(client);
  };
  EXPECT_THAT(differences(toml("record"), ledger_of_records(fewer)),
              Contains("ledger.json: accesses in a round of client 1 is 3; recomputed: 12"));
}

// A walk may end early, but it is charged in full.
TEST_F(ForgedRun, WhoseBoundOnAccessesIsAnother) {
  EXPECT_THAT(differences(toml("record"), ledger_of_records(honest, 15)),
              ElementsAre("ledger.json: most_accesses is 15; recomputed: 0"));
  const std::string walks = toml("record", {{"name", "\"fedlap-dp\""},
                                            {"local_epochs",
                                             "2\ntrajectories = 3\nouter_steps = 2\n"
                                             "real_batches = 2"}});
  EXPECT_THAT(differences(walks, ledger_of_records(honest, 12)), IsEmpty());
  EXPECT_THAT(differences(walks, ledger_of_records(honest, 2)),
              ElementsAre("ledger.json: most_accesses is 2; recomputed: 12"));
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

TEST_F(ForgedRun, WhereAnotherKindOfAccessStandsForTheNoise) {
  const auto with = [&](const Event& event, const std::string& public_classes) {
    const auto train = [&](std::int64_t client) {
      std::vector<Access> list = honest(client).list();
      list.push_back({event, 1});
      return RoundAccesses(list);
    };
    return differences(toml("record", {{"public_classes", public_classes}}), ledger_of_records(train));
  };
  EXPECT_THAT(with(DeclaredPublic{"classes"}, "true"), IsEmpty());
  EXPECT_THAT(with(DeclaredPublic{"classes"}, "false"),
              ElementsAre("ledger.json: public classes of client 0 and 2 more is declared; recomputed: not "
                          "declared"));
  EXPECT_THAT(with(ExactAccess{"classes"}, "false"), IsEmpty());
  EXPECT_THAT(with(ExactAccess{"classes"}, "true"),
              ElementsAre("ledger.json: public classes of client 0 and 2 more is not declared; recomputed: "
                          "declared"));
  EXPECT_THAT(with(DeclaredPublic{"label counts"}, "true"),
              ElementsAre(HasSubstr("public label counts of ")));
  EXPECT_THAT(with(Laplace{1, 0.1}, "false"), ElementsAre(HasSubstr("recomputed: none of that kind")));
}

// A cohort is a matter of seed and round.
TEST_F(ForgedRun, WhoseCohortsAreOthers) {
  const auto recorded = [&](const std::function<std::vector<std::int64_t>(std::int64_t)>& cohort) {
    Ledger ledger(Unit::kNothing);
    for (std::int64_t client = 0; client < 3; ++client) ledger.add_client(client, 100);
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      for (const std::int64_t client : cohort(round)) ledger.record(round, client, {});
    }
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

// One of three clients, of whom the others take part in every round.
TEST_F(ForgedRun, WhereAHeldOutClientTrains) {
  const std::string experiment = toml("none", {{"held_out_clients", "0.3"}});
  Stream stream({.seed = 1, .round = 0, .client = kServer, .purpose = Purpose::kCohort, .index = 0});
  const std::int64_t held_out = stream.sample_without_replacement(3, 1).front();
  const auto recorded = [&](bool trains, std::int64_t counted = 1) {
    Ledger ledger(Unit::kNothing);
    for (std::int64_t client = 0; client < 3; ++client) ledger.add_client(client, 100);
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      for (std::int64_t client = 0; client < 3; ++client)
        if (trains || client != held_out) ledger.record(round, client, {});
    }
    return differences(experiment, ledger, 0, counted);
  };
  EXPECT_THAT(recorded(false), IsEmpty());
  EXPECT_THAT(recorded(true),
              Contains(fmt::format("ledger.json: rounds of client {} is 4; recomputed: 0", held_out)));
  EXPECT_THAT(recorded(false, 0), Contains(HasSubstr("summary.json: held_out_clients is 0")));
}

TEST_F(ForgedRun, UnderThePolicyOfClients) {
  const auto fixed = [](double rate, std::vector<double> noise_multipliers) {
    return SampledGaussian{Sampling::kWithoutReplacement, rate, std::move(noise_multipliers),
                           Adjacency::kReplaceOne};
  };
  const Settings settings = {{"sampling", "\"without-replacement\""}};
  const auto with = [&](const Settings& more, const RoundAccesses& population,
                        const RoundAccesses& as_if = {}) {
    Settings all = settings;
    all.insert(more.begin(), more.end());
    return differences(toml("client", all), ledger_of_clients(population, as_if));
  };
  EXPECT_THAT(with({}, accesses(fixed(1, {2}), 1)), IsEmpty());
  EXPECT_THAT(with({}, accesses(fixed(0.5, {2}), 1)),
              ElementsAre("ledger.json: sampling rate is 0.5; recomputed: 1"));
  EXPECT_THAT(with({}, accesses(fixed(1, {3}), 1)),
              ElementsAre("ledger.json: noise multiplier is 3; recomputed: 2"));
  EXPECT_THAT(with({}, accesses(fixed(1, {2}), 2)),
              ElementsAre("ledger.json: accesses in a round is 2; recomputed: 1"));
  EXPECT_THAT(with({}, {}), ElementsAre("ledger.json: accesses in a round is 0; recomputed: 1"));
  EXPECT_THAT(with({}, accesses(ExactAccess{"messages"}, 3)), IsEmpty());

  // The count of adaptive clipping: 3 is 5 of the sum and 3.75 of the bit, whose norm is a half.
  EXPECT_THAT(with({{"adaptive_clipping", "true"}, {"noise_multiplier", "3.0"}, {"count_noise", "1.875"}},
                   accesses(fixed(1, {5, 3.75}), 1)),
              IsEmpty());
  // Three clients stand for 30 of 300: a tenth of the noise, charged as all of it at a rate of 0.1.
  const Settings larger = {{"as_if_cohort", "30"}, {"as_if_population", "300"}};
  EXPECT_THAT(with(larger, accesses(fixed(1, {0.2}), 1), accesses(fixed(0.1, {2}), 1)), IsEmpty());
  EXPECT_THAT(with(larger, accesses(fixed(1, {0.2}), 1), accesses(fixed(0.01, {2}), 1)),
              ElementsAre("ledger.json: sampling rate as if is 0.01; recomputed: 0.1"));
  EXPECT_THAT(with(larger, accesses(fixed(1, {0.2}), 1)),
              ElementsAre("ledger.json: accesses as if is none; recomputed: some"));
}

// A round that was lost may have been answered, so it is charged too.
TEST_F(ForgedRun, MayChargeMoreWhereNoiseCannotBeDrawnAgain) {
  const auto more = [](std::int64_t client) {
    std::vector<Access> list = honest(client).list();
    list.front().count += 5;
    return RoundAccesses(list);
  };
  EXPECT_THAT(differences(toml("record", {{"noise_source", "\"system\""}}), ledger_of_records(more)),
              IsEmpty());
  EXPECT_THAT(differences(toml("record"), ledger_of_records(more)),
              Contains("ledger.json: accesses in a round of client 0 and 2 more is 15; recomputed: 10"));
}

TEST_F(ForgedRun, WithAnExperimentOfAnyNumbers) {
  for (const char* value : {"9223372036854775807", "-5", "nan", "1e300", "\"x\"", "[]", ""}) {
    for (const char* name : {"batch_size", "local_epochs", "local_steps", "size", "clients", "seeds",
                             "as_if_cohort", "count_noise", "noise_multiplier"}) {
      for (const std::string policy : {"record", "client"}) {
        try {
          const auto ledger =
              policy == "record" ? ledger_of_records(honest) : ledger_of_clients(accesses(gaussian(1), 1));
          differences(toml(policy, {{name, value}}), ledger);
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), HasSubstr("experiment.toml"));
        }
      }
    }
  }
}

}  // namespace
}  // namespace fedarena::results
