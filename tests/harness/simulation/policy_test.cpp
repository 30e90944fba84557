// Rounds under privacy policies: what the ledger holds of them, and what they answer.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/base/overload.hpp"

#include "harness/oracle/noise_source.hpp"
#include "harness/simulation/checkpoint.hpp"
#include "harness/simulation/cohort.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

using test::message_of;

using Policies = PrivateRuns;

std::optional<double> odometer_reading(const Ledger& ledger) {
  return Odometer(AccountSettings()).epsilon(ledger).epsilon;
}

TEST_F(Policies, OnRecordsWriteEveryStepOfEveryParticipant) {
  Simulation simulation(setup(records_hidden()));
  Ledger expected(Unit::kRecord);
  for (const auto& [client, record] : simulation.ledger().clients())
    expected.add_client(client, record.examples);
  while (!simulation.finished()) {
    const results::RoundRecord record = simulation.next_round();
    for (const std::int64_t client : choose_cohort(4, record.round, 4, 2)) {
      const auto examples = static_cast<double>(partition[static_cast<std::size_t>(client)].size());
      expected.record(
          record.round, client,
          RoundAccesses(
              {{SampledGaussian{Sampling::kPoisson, 5 / examples, {1.2}, Adjacency::kZeroOut}, 4}}));
    }
    EXPECT_EQ(simulation.ledger(), expected);
    EXPECT_EQ(record.epsilon, odometer_reading(expected));
    EXPECT_GT(*record.epsilon, 0);
  }
}

TEST_F(Policies, OnClientsWriteOneEventARoundForThePopulation) {
  Simulation simulation(setup(clients_hidden()));
  while (!simulation.finished()) {
    const results::RoundRecord record = simulation.next_round();
    const std::vector<Ledger::Segment> expected{
        {1,
         record.round,
         record.round,
         {{SampledGaussian{Sampling::kPoisson, 0.5, {1.2}, Adjacency::kZeroOut}, 1}}}};
    EXPECT_EQ(simulation.ledger().population(), expected);
    EXPECT_TRUE(simulation.ledger().as_if().empty());
    EXPECT_EQ(record.epsilon, odometer_reading(simulation.ledger()));
  }
  // What clients did on their own stays with them: written down, not charged.
  std::int64_t gradients = 0, participations = 0;
  for (const auto& [client, record] : simulation.ledger().clients()) {
    for (const Ledger::Segment& segment : record.segments) {
      EXPECT_EQ(segment.accesses, (std::vector<Access>{{ExactAccess{"gradient"}, 4}}));
      gradients += 4 * segment.participations;
      participations += segment.participations;
    }
  }
  EXPECT_EQ(gradients, algorithm.trained * 4);
  EXPECT_EQ(participations, algorithm.trained);
  EXPECT_TRUE(std::isfinite(*odometer_reading(simulation.ledger())));
}

TEST_F(Policies, OnMessagesWriteEachOfThemAndNothingThatStaysWithTheClient) {
  algorithm.on_train = [](Client& client) { (void)client.oracle.exact_batch(); };
  algorithm.on_aggregate = [](Server& server, const Uplink& uplink) {
    EXPECT_EQ(uplink.each().size(), 2U);
    server.params += uplink.mean(kUpdate, kExamples);
  };
  Simulation simulation(setup(messages_hidden()));
  Ledger expected(Unit::kLocal);
  for (const auto& [client, record] : simulation.ledger().clients())
    expected.add_client(client, record.examples);
  while (!simulation.finished()) {
    const results::RoundRecord record = simulation.next_round();
    for (const std::int64_t client : choose_cohort(4, record.round, 4, 2))
      expected.record(record.round, client, RoundAccesses({{Gaussian{1.2, Adjacency::kReplaceOne}, 1}}));
    EXPECT_EQ(simulation.ledger(), expected);
    EXPECT_EQ(record.epsilon, odometer_reading(expected));
    EXPECT_TRUE(std::isfinite(*record.epsilon));
  }
}

// The server, the wire and an attack on the uplink see one and the same noisy message.
TEST_F(Policies, OnMessagesHideThemFromTheServer) {
  std::vector<Params> seen;
  algorithm.on_aggregate = [&](Server&, const Uplink& uplink) {
    for (const Message& message : uplink.each()) seen.push_back(message[kUpdate]);
  };
  LocalPolicy policy = messages_hidden();
  policy.clip_norm = 1e-9;  // the messages are noise
  Simulation simulation(setup(policy));
  const std::int64_t first = choose_cohort(4, 1, 4, 2)[0];
  const Params attacked = simulation.next_uplink(first).message[kUpdate];
  simulation.next_round();
  EXPECT_TRUE(torch::equal(seen.at(0).flat(), attacked.flat()));
  EXPECT_LT(norm(seen.at(0)), 1e-7);
  EXPECT_TRUE(seen.at(0).flat().ne(seen.at(1).flat()).all().item<bool>()) << "noise of its own";
}

TEST_F(Policies, OnMessagesDropWhatPassesNoMechanism) {
  algorithm.on_train = [](Client& client) { client.observed.add("norm", 1); };
  Simulation simulation(setup(messages_hidden()));
  EXPECT_TRUE(simulation.next_round().observed.empty());
}

// Whether an entry is there, data may have decided, and no noise is on its name.
TEST_F(Policies, OnMessagesRefuseEntriesThatNobodyDeclared) {
  algorithm.on_send = [](Client& client, Message& uplink) {
    if (client.oracle.label_counts()[0].item<std::int64_t>() > 0)
      uplink.put(Key<Params>{"holds-class-0"}, uplink[kUpdate]);
  };
  SimulationSetup named = setup(messages_hidden());
  named.algorithm_name = "algorithm \"leaky\"";
  Simulation simulation(named);
  const Bytes before = simulation.save();
  EXPECT_EQ(message_of([&] { simulation.next_round(); }).substr(0, 7), "client ");
  EXPECT_THAT(message_of([&] { simulation.next_round(); }),
              HasSubstr(" of algorithm \"leaky\" in round 1 sends \"holds-class-0\", parameters, which its "
                        "algorithm does not declare, under the policy \"local\""));
  EXPECT_EQ(simulation.save(), before);
  // Where the mechanism is the oracle's, whatever is made of its answers may be sent.
  EXPECT_NO_THROW(Simulation(setup(records_hidden())).next_round());
}

TEST_F(Policies, OnRecordsRefuseObservationsFromInsideOfAVote) {
  algorithm.on_train = [](Client& client) {
    const Vote vote = [&](const Voters& voters) {
      client.observed.add("sum", voters.examples.inputs.sum().item<double>());
      return torch::zeros({voters.size(), 1, 1});
    };
    (void)client.oracle.noisy_sum(vote, {});
  };
  Simulation simulation(setup(records_hidden()));
  const Bytes before = simulation.save();
  EXPECT_THAT(message_of([&] { simulation.next_round(); }), HasSubstr("recorded inside of a vote"));
  EXPECT_EQ(simulation.save(), before);
}

TEST_F(Policies, WriteTheCountOfAdaptiveClipping) {
  Simulation simulation(setup(clients_hidden_adaptively()));
  simulation.next_round();
  const auto event = std::get<SampledGaussian>(simulation.ledger().population().at(0).accesses.at(0).event);
  ASSERT_EQ(event.noise_multipliers.size(), 2U);
  EXPECT_EQ(event.noise_multipliers[1], 10);
  EXPECT_NEAR(joint_noise_multiplier(event), 1.2, 1e-12);
}

TEST_F(Policies, CarryTheClipNormToTheNextRound) {
  Simulation simulation(setup(clients_hidden_adaptively()));
  const auto clip_norm = [&] { return unpack_checkpoint(simulation.save(), model).clip_norm; };
  std::set<double> norms{clip_norm()};
  EXPECT_EQ(clip_norm(), 0.8);
  while (!simulation.finished()) {
    simulation.next_round();
    norms.insert(clip_norm());
  }
  EXPECT_EQ(norms.size(), 7U);
  EXPECT_EQ(simulation.ledger().population().size(), 1U);  // multipliers do not depend on the norm
}

TEST_F(Policies, WriteBothEventsOfARescaledRun) {
  ClientPolicy policy = clients_hidden();
  policy.as_if_cohort = 1'000;
  policy.as_if_population = 50'000;
  Simulation simulation(setup(policy));
  for (int round = 0; round < 3; ++round) simulation.next_round();
  using Accesses = std::vector<Access>;
  EXPECT_EQ(simulation.ledger().charged_as_if(),
            (Accesses{{SampledGaussian{Sampling::kPoisson, 0.02, {1.2}, Adjacency::kZeroOut}, 3}}));
  EXPECT_EQ(
      simulation.ledger().charged(0),
      (Accesses{{SampledGaussian{Sampling::kPoisson, 0.5, {1.2 * (2.0 / 1'000)}, Adjacency::kZeroOut}, 3}}));
}

TEST_F(Policies, ClaimNothingWithoutAPolicy) {
  Simulation simulation(setup(NoPolicy{}));
  EXPECT_EQ(simulation.next_round().epsilon, std::nullopt);
  EXPECT_EQ(simulation.ledger().unit(), Unit::kNothing);
  EXPECT_TRUE(simulation.ledger().population().empty());
}

TEST_F(Policies, ChargeInfinityForAnExactAccessToRecords) {
  Simulation simulation(setup(records_hidden()));
  EXPECT_TRUE(std::isfinite(*simulation.next_round().epsilon));
  const std::int64_t careless = choose_cohort(4, 2, 4, 2)[1];
  algorithm.on_train = [&](Client& client) {
    if (client.id == careless) (void)client.oracle.label_counts();
  };
  EXPECT_EQ(simulation.next_round().epsilon, kInfinity);
  const auto& accesses = simulation.ledger().clients().at(careless).segments.back().accesses;
  EXPECT_EQ(accesses.back(), (Access{ExactAccess{"label counts"}, 1}));
}

TEST_F(Policies, ChargeInfinityForRawMessagesOfHiddenClients) {
  algorithm.on_aggregate = [](Server&, const Uplink& uplink) { (void)uplink.each(); };
  Simulation hidden_clients(setup(clients_hidden())), hidden_records(setup(records_hidden()));
  EXPECT_EQ(hidden_clients.next_round().epsilon, kInfinity);
  // Of hidden records, messages are what is left after the mechanism.
  EXPECT_TRUE(std::isfinite(*hidden_records.next_round().epsilon));
}

TEST_F(Policies, ChargeNothingWhenNothingIsAsked) {
  algorithm.on_aggregate = [](Server&, const Uplink&) {};
  Simulation simulation(setup(clients_hidden_adaptively()));
  EXPECT_EQ(simulation.next_round().epsilon, 0);
  EXPECT_EQ(unpack_checkpoint(simulation.save(), model).clip_norm, 0.8);
}

TEST_F(Policies, AllowWeightsWhereOnlyRecordsAreHidden) {
  algorithm.on_aggregate = [](Server& server, const Uplink& uplink) {
    server.params += uplink.mean(kUpdate, kExamples);
  };
  Simulation hidden_records(setup(records_hidden()));
  EXPECT_NO_THROW(hidden_records.next_round());
  Simulation hidden_clients(setup(clients_hidden()));
  const Bytes before = hidden_clients.save();
  EXPECT_THAT(message_of([&] { hidden_clients.next_round(); }),
              HasSubstr("weighted by \"examples\" under the policy \"client\""));
  EXPECT_EQ(hidden_clients.save(), before);
}

TEST_F(Policies, SampleClientsOnlyWhereClientsAreHidden) {
  std::mutex mutex;
  std::map<std::int64_t, std::vector<std::int64_t>> cohorts;
  algorithm.on_train = [&](Client& client) {
    const std::lock_guard lock(mutex);
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
                poisson ? sample_cohort(4, record.round, 4, 2) : choose_cohort(4, record.round, 4, 2));
    }
    if (poisson) {
      EXPECT_GT(sizes.size(), 3U);
    } else {
      EXPECT_EQ(sizes, std::set<std::int64_t>{2});
    }
  }
}

// Without anyone, a round is noise alone, and costs what every round costs.
TEST_F(Policies, RunRoundsWithoutClients) {
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

TEST_F(Policies, RepeatARoundUnlessTheSystemNoisesIt) {
  RecordPolicy policy = records_hidden();
  EXPECT_TRUE(Simulation(setup(policy)).repeatable());
  EXPECT_TRUE(Simulation(setup(NoPolicy{})).repeatable());
  policy.noise_source = kSystemNoise;
  Simulation one(setup(policy)), two(setup(policy));
  EXPECT_FALSE(one.repeatable());
  EXPECT_EQ(one.next_round().epsilon, two.next_round().epsilon);
  EXPECT_EQ(one.ledger(), two.ledger());
  EXPECT_TRUE(one.params().flat().ne(two.params().flat()).all().item<bool>());
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
    Simulation simulation(of);
    simulation.next_round();
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
  RecordPolicy records = records_hidden();
  records.noise_source = kSystemNoise;
  const std::vector<std::int64_t> drawn = choose_cohort(4, 1, 64, 32);
  EXPECT_EQ(first_cohort(setup(records)), std::set<std::int64_t>(drawn.begin(), drawn.end()));
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
  Simulation whole(system), stopped(system);
  while (!whole.finished()) whole.next_round();
  stopped.next_round();
  const Ledger made = stopped.ledger();
  stopped.charge_rest();
  EXPECT_EQ(stopped.ledger().made(), made);
  EXPECT_TRUE(stopped.ledger().clients() == made.clients());
  EXPECT_NEAR(*odometer_reading(stopped.ledger()), *odometer_reading(whole.ledger()), 1e-9);
}

// Two rows of one table that added the same noise would, subtracted, have none.
TEST_F(Policies, NoiseEveryCellByItself) {
  for (const PrivacyPolicy& noisy : private_policies()) {
    const auto params_of = [&](const PrivacyPolicy& policy, std::uint64_t cell) {
      SimulationSetup of_cell = setup(policy);
      of_cell.cell = cell;
      Simulation simulation(of_cell);
      simulation.next_round();
      return simulation.params().flat().clone();
    };
    const torch::Tensor one = params_of(noisy, 1);
    EXPECT_TRUE(torch::equal(params_of(noisy, 1), one));
    EXPECT_TRUE(params_of(noisy, 2).ne(one).all().item<bool>());
    PrivacyPolicy silent = noisy;  // all else is common to the cells
    std::visit(Overload{[](NoPolicy&) {}, [](LabelPolicy&) {},
                        [](auto& policy) { policy.noise_multiplier = 0, policy.clip_norm = 1e9; }},
               silent);
    EXPECT_TRUE(torch::equal(params_of(silent, 1), params_of(silent, 2)));
  }
}

// Whoever stops when the numbers look good has looked at them: the plan is what was fixed before.
TEST_F(Policies, ChargeThePlanWhenDataEndTheRun) {
  for (const PrivacyPolicy& policy : private_policies()) {
    Simulation whole(setup(policy));
    while (!whole.finished()) whole.next_round();
    Simulation stopped(setup(policy));
    stopped.next_round();
    const Ledger made = stopped.ledger();
    ASSERT_TRUE(std::ranges::any_of(made.clients(), [](const auto& entry) {
      return entry.second.segments.empty();
    })) << "no client is left whose accesses have to be found out";
    stopped.charge_rest();
    EXPECT_EQ(stopped.rounds_done(), 1);
    EXPECT_NEAR(*odometer_reading(stopped.ledger()), *odometer_reading(whole.ledger()), 1e-9);
    EXPECT_EQ(stopped.ledger().made(), made);

    const Ledger charged = stopped.ledger();
    Simulation resumed(setup(policy));
    resumed.restore(stopped.save());
    resumed.charge_rest();
    EXPECT_EQ(resumed.ledger(), charged);
  }
}

// In a round of three clients send something, not in the first, which costs nothing.
TEST_F(Policies, ChargeThePlanWhenRoundsDifferInCost) {
  const auto is_silent = [](std::int64_t round) { return round % 3 != 0; };
  algorithm.entries = [=](std::int64_t round) {
    return is_silent(round) ? std::vector<UplinkEntry>() : std::vector<UplinkEntry>{kUpdate};
  };
  algorithm.on_send = [=](Client& client, Message& uplink) {
    Message all = std::exchange(uplink, {});
    if (!is_silent(client.round)) uplink.put(kUpdate, all[kUpdate]);
  };
  algorithm.on_aggregate = [=](Server& server, const Uplink& uplink) {
    if (!is_silent(server.round)) server.params += uplink.mean(kUpdate);
  };
  ClientPolicy as_if = clients_hidden();
  as_if.as_if_cohort = 20;
  as_if.as_if_population = 100;
  const std::vector<PrivacyPolicy> policies{clients_hidden(), as_if, messages_hidden()};
  for (const PrivacyPolicy& policy : policies) {
    const auto epsilons_of = [](const Ledger& ledger) {
      return std::pair(*odometer_reading(ledger),
                       *Odometer(AccountSettings()).epsilon(ledger.charged_as_if()).epsilon);
    };
    const SimulationSetup everyone = setup_on(pool, 6, 4, policy);
    Simulation whole(everyone);
    while (!whole.finished()) whole.next_round();
    const auto [all, all_as_if] = epsilons_of(whole.ledger());
    for (const int made : {1, 3, 5}) {
      Simulation stopped(everyone);
      for (int round = 0; round < made; ++round) stopped.next_round();
      stopped.charge_rest();
      const auto [charged, charged_as_if] = epsilons_of(stopped.ledger());
      EXPECT_GE(charged, all * (1 - 1e-12)) << made;
      EXPECT_GE(charged_as_if, all_as_if * (1 - 1e-12)) << made;
    }
  }
}

// Whoever sees which test examples a client is tested on can count what it holds.
TEST_F(Policies, ChargeTestsThatTellLabelCounts) {
  for (PrivacyPolicy policy : {PrivacyPolicy(records_hidden()), PrivacyPolicy(clients_hidden())}) {
    SimulationSetup tested = setup(policy);
    tested.tests_tell_label_counts = true;
    Simulation exact(tested);
    EXPECT_EQ(exact.next_round().epsilon, kInfinity);
    std::visit(Overload{[](NoPolicy&) {}, [](auto& private_one) { private_one.public_label_counts = true; }},
               policy);
    tested.policy = policy;
    Simulation declared(tested), untested(setup(policy));
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(declared.next_round().epsilon, untested.next_round().epsilon);
    }
    EXPECT_TRUE(any_event(declared.ledger().charged(0),
                          [](const Event& event) { return event == Event(DeclaredPublic{"label counts"}); }));
    EXPECT_FALSE(declared.ledger().varies());
  }
}

// What is looked at outside of the mechanisms is a premise of epsilon.
TEST_F(Policies, DeclareWhatEpsilonTakesAsPublic) {
  const Partition client_tests = {{0, 1}, {2, 3}, {4, 5}, {6}};
  const auto declared = [&](const PrivacyPolicy& policy) {
    SimulationSetup looking = setup(policy);
    looking.client_tests = &client_tests;
    looking.proxy = torch::zeros({2, 3}, torch::kFloat64);
    Simulation simulation(looking);
    simulation.next_round();
    Simulation resumed(looking);
    resumed.restore(simulation.save());
    EXPECT_EQ(resumed.ledger(), simulation.ledger());
    return simulation.ledger().public_data();
  };
  const std::string proxy = "the server's proxy data", tests = "the clients' own test examples";
  EXPECT_THAT(declared(NoPolicy{}), IsEmpty());
  EXPECT_THAT(declared(records_hidden()), ElementsAre(proxy));
  EXPECT_THAT(declared(clients_hidden()), ElementsAre(proxy, tests));
  dataset.fitted = "means of the features";
  EXPECT_THAT(declared(messages_hidden()), ElementsAre(proxy, dataset.fitted, tests));
  EXPECT_THAT(Simulation(setup(records_hidden())).ledger().public_data(), ElementsAre(dataset.fitted));
}

// By which a rule may end a run, and anybody may choose the round that is kept.
TEST_F(Policies, DeclareTheScoresThatRulesLookAt) {
  dataset.validation = dataset.test;
  SimulationSetup validating = setup(records_hidden());
  validating.held_out = {3};
  EXPECT_THAT(Simulation(validating).ledger().public_data(),
              ElementsAre("the validation examples", "the scores of held-out clients"));
  validating.policy = NoPolicy{};
  EXPECT_THAT(Simulation(validating).ledger().public_data(), IsEmpty());
}

// Four batches and a gradient of the whole shard are planned; data take fewer batches, and no gradient of the
// whole shard in most rounds, which costs far more than any batch.
class PlannedRounds : public Policies {
 protected:
  PlannedRounds() {
    algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{5, 4}, {0, 1}}}; };
  }
  void ask_for(std::int64_t batches, bool whole) {
    algorithm.steps_in = [batches](std::int64_t) { return batches; };
    algorithm.on_train = [whole](Client& client) {
      const Params at = Params::zeros(client.model.layout(), client.model.options());
      if (whole) (void)client.oracle.gradient(at, {});
    };
  }
};

TEST_F(PlannedRounds, ChargeWhatWasPlannedByItsKind) {
  RecordPolicy filtered = records_hidden();
  filtered.budget = 1e6;
  Simulation whole(setup(records_hidden())), less(setup(records_hidden())), with_budget(setup(filtered));
  for (int round = 0; round < 6; ++round) {
    ask_for(4, true);
    const results::RoundRecord all = whole.next_round();
    ask_for(1 + round % 4, round == 0);
    const results::RoundRecord record = less.next_round();
    EXPECT_NEAR(*record.epsilon, *all.epsilon, 1e-9) << "round " << record.round;
    with_budget.next_round();
  }
  EXPECT_GT(*odometer_reading(less.ledger()), *odometer_reading(less.ledger().made()));
  // A budget is no plan: it does not know either what would have been asked for.
  EXPECT_EQ(with_budget.ledger(), less.ledger());
  EXPECT_FALSE(less.ledger().varies());
}

// Whoever asked for nothing at all is charged as well.
TEST_F(PlannedRounds, ChargeClientsThatWereNeverAsked) {
  ask_for(4, true);
  Simulation whole(setup(records_hidden()));
  whole.next_round();
  ask_for(0, false);
  Simulation nothing(setup(records_hidden()));
  EXPECT_NEAR(*nothing.next_round().epsilon, *odometer_reading(whole.ledger()), 1e-9);
}

TEST_F(PlannedRounds, ChargeThePlanOfRoundsThatDataLeaveOut) {
  for (const PerClient& budget : {PerClient(0), PerClient(1e6), PerClient(std::vector<double>{1e6})}) {
    RecordPolicy policy = records_hidden();
    policy.budget = budget;
    ask_for(4, true);
    Simulation whole(setup(policy));
    while (!whole.finished()) whole.next_round();
    ask_for(1, false);
    Simulation stopped(setup(policy));
    stopped.next_round();
    const Ledger made = stopped.ledger().made();
    stopped.charge_rest();
    EXPECT_NEAR(*odometer_reading(stopped.ledger()), *odometer_reading(whole.ledger()), 1e-9);
    EXPECT_EQ(stopped.ledger().ended_after(), 1);
    EXPECT_EQ(odometer_reading(stopped.ledger().made()), odometer_reading(made));
  }
}

// A crash lost the round, or, after the end, the charge for rounds that were left out.
TEST_F(PlannedRounds, ChargeThePlanOfARoundThatWasLost) {
  RecordPolicy policy = records_hidden();
  policy.noise_source = kSystemNoise;
  ask_for(1, false);
  Simulation killed(setup(policy)), resumed(setup(policy)), ended(setup(policy));
  killed.next_round();
  resumed.charge_lost(killed.ledger());
  EXPECT_NEAR(*odometer_reading(resumed.ledger()), *odometer_reading(killed.ledger()), 1e-9);
  ended.restore(killed.save());
  const Ledger made = killed.ledger();
  killed.charge_rest();
  ended.charge_lost(killed.ledger());
  EXPECT_EQ(ended.ledger(), made);
}

// A plan may differ from round to round, as long as it is public: a client that has made something once needs
// it no more.
TEST_F(PlannedRounds, MayDifferFromRoundToRound) {
  const auto has_begun = [](const Client& client) { return client.state.contains(kVisits.name); };
  algorithm.plan = [=](const Client& client) {
    return AccessPlan{.gradients = {{5, has_begun(client) ? 0 : 4}}};
  };
  algorithm.steps = 0;
  algorithm.on_train = [=](Client& client) {
    const Params at = Params::zeros(client.model.layout(), client.model.options());
    for (int step = 0; step < 4 && !has_begun(client); ++step)
      (void)client.oracle.gradient(at, {.batch_size = 5});
  };
  Simulation whole(setup(records_hidden())), stopped(setup(records_hidden()));
  while (!whole.finished()) whole.next_round();
  EXPECT_FALSE(whole.ledger().varies());
  stopped.next_round();
  stopped.charge_rest();
  EXPECT_NEAR(*odometer_reading(stopped.ledger()), *odometer_reading(whole.ledger()), 1e-9);
}

TEST_F(PlannedRounds, HoldClientsToTheirPlan) {
  const auto refusal = [&](const std::function<void(Client&)>& ask) {
    algorithm.steps = 0;
    algorithm.on_train = [&](Client& client) {
      if (client.id == 2) ask(client);
    };
    SimulationSetup everyone = setup_on(pool, 6, 4, records_hidden());
    everyone.algorithm_name = "algorithm \"scripted\"";
    Simulation simulation(everyone);
    const Bytes before = simulation.save();
    const std::string message = message_of([&] { simulation.next_round(); });
    EXPECT_EQ(simulation.save(), before);
    return message;
  };
  const auto gradients = [](Client& client, std::int64_t batch_size, int count) {
    const Params at = Params::zeros(client.model.layout(), client.model.options());
    for (int i = 0; i < count; ++i) (void)client.oracle.gradient(at, {.batch_size = batch_size});
  };
  EXPECT_THAT(
      refusal([&](Client& client) {
        gradients(client, 5, 5);
        gradients(client, 0, 1);
      }),
      StartsWith("algorithm \"scripted\" asked client 2 in round 1 for 1 gradient of the whole shard, 5 "
                 "gradients of batches of 5; allowed: what its plan has, which is what epsilon charges: 1 "
                 "gradient of the whole shard, 4 gradients of batches of 5"));
  // Not a batch of another size, nor a vote, in the place of what is planned.
  EXPECT_THAT(refusal([&](Client& client) { gradients(client, 6, 1); }),
              HasSubstr("1 gradient of batches of 6;"));
  EXPECT_THAT(refusal([&](Client& client) { gradients(client, 0, 2); }),
              HasSubstr("2 gradients of the whole shard;"));
  EXPECT_THAT(refusal([](Client& client) {
                (void)client.oracle.noisy_sum(
                    [](const Voters& voters) { return voters.examples.inputs.sum(1).unsqueeze(1); },
                    {.parts = 2, .numbers = 3});
              }),
              HasSubstr("for 1 vote of parts;"));
  // Where nothing is charged, nobody is held to anything.
  algorithm.on_train = [&](Client& client) { gradients(client, 6, 9); };
  EXPECT_NO_THROW(Simulation(setup(NoPolicy{})).next_round());
}

TEST_F(Policies, RefuseTheCheckpointsOfOthers) {
  const std::vector<PrivacyPolicy> all{NoPolicy{}, records_hidden(), clients_hidden()};
  for (const PrivacyPolicy& theirs : all) {
    Simulation other(setup(theirs));
    other.next_round();
    for (const PrivacyPolicy& mine : all) {
      if (theirs.index() == mine.index()) continue;
      Simulation simulation(setup(mine));
      const Bytes before = simulation.save();
      EXPECT_EQ(message_of([&] { simulation.restore(other.save()); }),
                "the checkpoint is of another privacy policy");
      EXPECT_EQ(simulation.save(), before);
    }
  }
}

}  // namespace
}  // namespace fedarena
