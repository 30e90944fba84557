// Who takes part in rounds under privacy policies, and who can know.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/simulation/cohort.hpp"
#include "tests/harness/simulation/budgets.hpp"
#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {
namespace {

using PrivateCohorts = PrivateRuns;

TEST_F(PrivateCohorts, AreSampledOnlyWhereClientsAreHidden) {
  std::map<std::int64_t, std::vector<std::int64_t>> cohorts;
  algorithm.on_train = [&](Client& client) {
    std::vector<std::int64_t>& cohort = cohorts[client.round];
    cohort.insert(std::upper_bound(cohort.begin(), cohort.end(), client.id), client.id);
  };
  for (const PrivacyPolicy& policy : private_policies()) {
    cohorts.clear();
    SimulationSetup long_run = setup(policy);
    long_run.rounds = 40;
    Simulation simulation(long_run);
    const auto* clients = std::get_if<ClientPolicy>(&policy);
    const bool poisson = clients != nullptr && clients->sampling == kPoisson;
    std::set<std::int64_t> sizes;
    while (!simulation.finished()) {
      const results::RoundRecord record = simulation.next_round();
      sizes.insert(record.clients);
      EXPECT_EQ(cohorts[record.round],
                draw_cohort(4, record.round, 4, 2, poisson ? kPoisson : kWithoutReplacement));
    }
    if (poisson) {
      EXPECT_GT(sizes.size(), 3U);
    } else {
      EXPECT_EQ(sizes, std::set<std::int64_t>{2});
    }
  }
}

// Without anyone, a round is noise alone, and costs what every round costs.
TEST_F(PrivateCohorts, MayBeEmpty) {
  SimulationSetup sparse = setup(clients_hidden());
  sparse.rounds = 60;
  sparse.cohort_size = 1;
  Simulation simulation(sparse);
  int empty = 0;
  while (!simulation.finished()) {
    const Params before = simulation.params();
    const results::RoundRecord record = simulation.next_round();
    if (record.clients > 0) continue;
    ++empty;
    EXPECT_EQ(record.uplink_bytes, 0);
    EXPECT_EQ(record.examples, 0);
    EXPECT_GT(norm(simulation.params() - before), 0);
  }
  EXPECT_GT(empty, 5);  // expected 19; fewer by chance: 1e-5
  EXPECT_EQ(simulation.ledger().population().at(0).participations, 60);
}

// Bytes pass no mechanism, and tables print them.
TEST_F(PrivateCohorts, WhoseMessagesDifferInSizeAreAnExactAccess) {
  algorithm.on_send = [](Client& client, Message& uplink) {
    if (client.id == 2 && client.round == 2) uplink.put(Key<std::int64_t>{"more"}, std::int64_t{0});
  };
  SimulationSetup everybody = setup(clients_hidden());
  everybody.cohort_size = 4;
  Simulation simulation(everybody);
  const auto tells_sizes = [&] {
    simulation.next_round();
    return std::ranges::any_of(simulation.ledger().population(), [](const Ledger::Segment& segment) {
      return contains(segment.accesses, Access{ExactAccess{kUndeclaredMessages}, 1});
    });
  };
  EXPECT_FALSE(tells_sizes());
  EXPECT_TRUE(tells_sizes());
  // Examples have decided it, and no budget covers that.
  everybody.policy = with_budget(clients_hidden(), 1e6);
  BegunRun limited(everybody, 1);
  EXPECT_THROW(limited.next_round(), BudgetSpent);
  EXPECT_TRUE(std::isinf(*odometer_reading(limited.ledger())));
}

// All of them may be alike, and there may be one alone: there is nothing to compare them with but what the
// algorithm declares.
TEST_F(PrivateCohorts, SendWhatIsDeclaredOrTellTheSizesOfMessages) {
  ClientPolicy alone = clients_hidden();
  alone.sampling = kWithoutReplacement;
  for (const auto& [policy, cohort] : {std::pair(alone, 1), {clients_hidden(), 4}}) {
    const auto tells_sizes = [&, policy, cohort] {
      SimulationSetup any = setup(policy);
      any.cohort_size = cohort;
      BegunRun simulation(any, 1);
      return !std::isfinite(odometer_reading(simulation.ledger()).value_or(0));
    };
    algorithm.on_send = {};
    algorithm.entries = {};
    EXPECT_FALSE(tells_sizes());
    algorithm.on_send = [](Client&, Message& uplink) {
      uplink.put(Key<torch::Tensor>{"more"}, torch::zeros({7}));
    };
    EXPECT_TRUE(tells_sizes());
    algorithm.on_send = [](Client&, Message& uplink) {  // a name as long
      uplink = {{Key<Params>{"Update"}, uplink[kUpdate]},
                {kControl, uplink[kControl]},
                {kExamples, uplink[kExamples]}};
    };
    algorithm.on_aggregate = [](Server&, const Uplink&) {};
    EXPECT_TRUE(tells_sizes());
    algorithm.on_send = {};
    EXPECT_FALSE(tells_sizes());
    algorithm.on_aggregate = {};
    algorithm.entries = [](std::int64_t) -> std::vector<UplinkEntry> { throw Error::of("tells nobody"); };
    EXPECT_TRUE(tells_sizes());
  }
}

// So many clients that two cohorts agree once in 10^18.
class SecretCohorts : public SmallRuns<ScriptedSgd> {
 protected:
  SecretCohorts() : SmallRuns(std::vector<std::int64_t>(64, 1)) {}

  SimulationSetup setup(const PrivacyPolicy& policy) const { return setup_on(pool, 3, 32, policy); }
  static std::set<std::int64_t> participants(const Ledger& ledger) {
    std::set<std::int64_t> clients;
    for (const auto& [client, record] : ledger.clients()) {
      if (!record.segments.empty()) clients.insert(client);
    }
    return clients;
  }
  static std::set<std::int64_t> first_cohort(const SimulationSetup& of) {
    BegunRun simulation(of, 1);
    return participants(simulation.ledger());
  }
  static ClientPolicy with(const std::string& source, const std::string& sampling = kPoisson) {
    ClientPolicy policy = clients_hidden();
    policy.noise_source = source;
    policy.sampling = sampling;
    return policy;
  }
};

TEST_F(SecretCohorts, ComeFromNoSeedWhereTheClaimCountsOnThem) {
  for (const char* sampling : {kPoisson, kWithoutReplacement}) {
    EXPECT_EQ(first_cohort(setup(with(kStreamNoise, sampling))),
              first_cohort(setup(with(kStreamNoise, sampling))));
    EXPECT_NE(first_cohort(setup(with(kSystemNoise, sampling))),
              first_cohort(setup(with(kSystemNoise, sampling))));
  }
  EXPECT_EQ(first_cohort(setup(with(kSystemNoise, kWithoutReplacement))).size(), 32U);
  // Of other units nothing is amplified by them, and who takes part is public.
  const std::vector<std::int64_t> drawn = draw_cohort(4, 1, 64, 32);
  EXPECT_EQ(first_cohort(setup(records_hidden(kSystemNoise))),
            std::set<std::int64_t>(drawn.begin(), drawn.end()));
}

// A crash lost the round after it was answered; the next attempt has clients of its own.
TEST_F(SecretCohorts, AreDrawnAnewForARoundThatWasLost) {
  const SimulationSetup system = setup(with(kSystemNoise));
  Simulation first(system), second(system), third(system);
  const double once = first.next_round().epsilon.value();
  second.charge_lost(first.ledger());
  const double twice = second.next_round().epsilon.value();
  third.charge_lost(second.ledger());
  const double thrice = third.next_round().epsilon.value();
  EXPECT_LT(once, twice);
  EXPECT_LT(twice, thrice);
  EXPECT_EQ(third.ledger().charged(0).size(), 3U);
  const auto before = participants(first.ledger()), after = participants(second.ledger());
  EXPECT_TRUE(std::ranges::includes(after, before)) << "who was in it stays listed";
  EXPECT_GT(after.size(), before.size());  // none is new by chance: 1e-8
  third.next_round();
  EXPECT_EQ(third.ledger().charged(0).size(), 4U);
}

// Nobody knows who would have been in cohorts that were never drawn, and all are charged, whoever it was.
TEST_F(SecretCohorts, AreNotMadeUpForRoundsThatWereLeftOut) {
  const SimulationSetup system = setup(with(kSystemNoise));
  FinishedRun whole(system);
  BegunRun stopped(system, 1);
  const Ledger made = stopped.ledger();
  stopped.charge_rest();
  EXPECT_EQ(stopped.ledger().made(), made);
  EXPECT_TRUE(stopped.ledger().clients() == made.clients());
  EXPECT_NEAR(*odometer_reading(stopped.ledger()), *odometer_reading(whole.ledger()), 1e-9);
}

}  // namespace
}  // namespace fedarena
