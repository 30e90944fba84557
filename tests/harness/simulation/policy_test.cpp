// Rounds under privacy policies: what the ledger holds of them, and what they answer.
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fedarena/base/overload.hpp"

#include "harness/oracle/random_source.hpp"
#include "harness/simulation/checkpoint.hpp"
#include "harness/simulation/cohort.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using Policies = PrivateRuns;

TEST_F(Policies, OnRecordsWriteEveryStepOfEveryParticipant) {
  Simulation simulation(setup(records_hidden()));
  Ledger expected(Unit::kRecord);
  for (const auto& [client, record] : simulation.ledger().clients())
    expected.add_client(client, record.examples);
  while (!simulation.finished()) {
    const results::RoundRecord record = simulation.next_round();
    for (const std::int64_t client : draw_cohort(4, record.round, 4, 2)) {
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
    for (const std::int64_t client : draw_cohort(4, record.round, 4, 2))
      expected.record(record.round, client,
                      RoundAccesses({{Gaussian{1.2, Adjacency::kReplaceOne}, 1}}, {{}}));
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
  const std::int64_t first = draw_cohort(4, 1, 4, 2)[0];
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

// Nothing that is known after the training of a client, or of a round, moves a name.
TEST_F(Policies, OnMessagesAskForEntriesBeforeAnythingIsTrained) {
  algorithm.entries = [&](std::int64_t) -> std::vector<UplinkEntry> {
    if (algorithm.trained > 0) return {kExamples};
    return {kUpdate, kControl, kExamples};
  };
  Simulation simulation(setup(messages_hidden()));
  EXPECT_NO_THROW(simulation.next_round());
  EXPECT_NO_THROW(simulation.next_round());
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
  EXPECT_THAT(
      refused_round(simulation),
      AllOf(StartsWith("client "),
            HasSubstr(" of algorithm \"leaky\" in round 1 sends \"holds-class-0\", parameters, which its "
                      "algorithm does not declare, under the policy \"local\"")));
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
  EXPECT_THAT(refused_round(simulation), HasSubstr("recorded inside of a vote"));
}

TEST_F(Policies, WriteTheCountOfAdaptiveClipping) {
  BegunRun simulation(setup(clients_hidden_adaptively()), 1);
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
  BegunRun simulation(setup(policy), 3);
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

TEST_F(Policies, ChargeInfinityForRawMessagesOfHiddenClients) {
  algorithm.on_aggregate = [](Server&, const Uplink& uplink) { (void)uplink.each(); };
  Simulation hidden_clients(setup(clients_hidden())), hidden_records(setup(records_hidden()));
  EXPECT_EQ(hidden_clients.next_round().epsilon, kInfinity);
  // Of hidden records, messages are what is left after the mechanism.
  EXPECT_TRUE(std::isfinite(*hidden_records.next_round().epsilon));
}

// Noised answers would decide whether a run is infinite: one that is not would promise what its neighbour
// does not keep.
TEST_F(Policies, RefuseAFirstExactLookAtMessagesAfterNoisedAnswers) {
  const auto look = [](const Uplink& uplink) { (void)uplink.each(); };
  const auto ask_for_another = [](const Uplink& uplink) { (void)uplink.mean(Key<Params>{"other"}); };
  const auto answer = [](const Uplink& uplink) { (void)uplink.mean(kUpdate); };
  const auto nothing = [](const Uplink&) {};
  using Ask = std::function<void(const Uplink&)>;
  // In rounds 1 and 2, one after the other.
  const auto refused = [&](const std::vector<std::vector<Ask>>& rounds) {
    algorithm.on_aggregate = [&](Server& server, const Uplink& uplink) {
      for (const Ask& ask : rounds.at(static_cast<std::size_t>(server.round - 1))) ask(uplink);
    };
    BegunRun simulation(setup(clients_hidden()), 1);
    ResumedRun resumed(setup(clients_hidden()), simulation);
    try {
      resumed.next_round();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("messages exactly for the first time after noised answers"));
      return true;
    }
    EXPECT_EQ(odometer_reading(resumed.ledger()), kInfinity);
    return false;
  };
  EXPECT_TRUE(refused({{answer}, {look}}));
  EXPECT_TRUE(refused({{answer}, {ask_for_another}}));
  EXPECT_TRUE(refused({{nothing}, {answer, look}}));
  EXPECT_FALSE(refused({{nothing}, {look, answer}}));
  EXPECT_FALSE(refused({{look, answer}, {answer, look}}));
}

TEST_F(Policies, RefuseAFirstExactLookAtExamplesThatNoPlanHasAfterNoisedAnswers) {
  // Looks before or after the gradients of some rounds.
  const auto refused = [&](bool plans, std::int64_t first_look, bool before) {
    algorithm.plan = [plans](const Client&) {
      return plans ? std::optional(AccessPlan{.gradients = {{5, 4}}}) : std::nullopt;
    };
    algorithm.steps = 0;
    algorithm.on_train = [=](Client& client) {
      const auto look = [&] {
        if (client.round >= first_look)
          (void)client.oracle.loss(Params::zeros(client.model.layout(), client.model.options()));
      };
      if (before) look();
      take_gradients(client, 5, 4);
      if (!before) look();
    };
    Simulation simulation(setup_on(pool, 2, 4, records_hidden()));
    try {
      while (!simulation.finished()) simulation.next_round();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("examples exactly for the first time after noised answers"));
      return true;
    }
    EXPECT_EQ(odometer_reading(simulation.ledger()), kInfinity);
    return false;
  };
  for (const bool before : {true, false}) EXPECT_TRUE(refused(true, 2, before));
  EXPECT_TRUE(refused(true, 1, false));
  EXPECT_FALSE(refused(true, 1, true));
  EXPECT_FALSE(refused(false, 2, false)) << "which is noted where there is no plan";
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

// Two rows of one table that added the same noise would, subtracted, have none.
TEST_F(Policies, NoiseEveryCellByItself) {
  for (const PrivacyPolicy& noisy : private_policies()) {
    const auto params_of = [&](const PrivacyPolicy& policy, std::uint64_t cell) {
      SimulationSetup of_cell = setup(policy);
      of_cell.cell = cell;
      BegunRun simulation(of_cell, 1);
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
    BegunRun simulation(looking, 1);
    ResumedRun resumed(looking, simulation);
    EXPECT_EQ(resumed.ledger(), simulation.ledger());
    return simulation.ledger().public_data();
  };
  const std::string proxy = "the server's proxy data", tests = "the clients' own test examples";
  EXPECT_THAT(declared(NoPolicy{}), IsEmpty());
  EXPECT_THAT(declared(records_hidden()), ElementsAre(proxy));
  EXPECT_THAT(declared(clients_hidden()), ElementsAre(proxy, tests));
  dataset.read_off = {"the classes", "means of the features"};
  EXPECT_THAT(declared(messages_hidden()), ElementsAre(proxy, "the classes", "means of the features", tests));
  EXPECT_THAT(Simulation(setup(records_hidden())).ledger().public_data(),
              testing::ElementsAreArray(dataset.read_off));
}

TEST_F(Policies, DeclareTheWeightsThatRunsBeginFrom) {
  const Simulation drawn(setup(records_hidden()));
  const Params weights = 0.5 * drawn.params();
  for (const PrivacyPolicy& policy : {PrivacyPolicy(records_hidden()), PrivacyPolicy(NoPolicy{})}) {
    SimulationSetup begun = setup(policy);
    begun.initial_weights = &weights;
    const Simulation simulation(begun);
    EXPECT_TRUE(simulation.params().flat().equal(weights.flat()));
    const std::vector<std::string> declared = {"the initial weights"};
    EXPECT_EQ(simulation.ledger().public_data(),
              unit(policy) == Unit::kNothing ? std::vector<std::string>() : declared);
  }
  EXPECT_THAT(drawn.ledger().public_data(), IsEmpty());
}

TEST_F(Policies, DeclareTestExamplesOfClientsThatAreNotTestedOneByOne) {
  const auto declared = [&](const PrivacyPolicy& policy) {
    SimulationSetup looking = setup(policy);
    looking.tests_are_of_clients = true;
    return Simulation(looking).ledger().public_data();
  };
  EXPECT_THAT(declared(clients_hidden()), ElementsAre("the clients' own test examples"));
  EXPECT_THAT(declared(messages_hidden()), ElementsAre("the clients' own test examples"));
  EXPECT_THAT(declared(records_hidden()), IsEmpty());
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

TEST_F(Policies, RefuseTheCheckpointsOfOthers) {
  const std::vector<PrivacyPolicy> all{NoPolicy{}, records_hidden(), clients_hidden()};
  for (const PrivacyPolicy& theirs : all) {
    BegunRun other(setup(theirs), 1);
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
