// Clients that are tested with models of their own.
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "harness/wire/wire.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

class PersonalModels : public PrivateRuns {
 protected:
  PersonalModels() {
    algorithm.on_personalise = [](Client& client, const Message& downlink) {
      Params own = downlink[kModel];
      own.add_scaled(-0.3, client.oracle.gradient(own, {.batch_size = 5}));
      return own;
    };
  }
  SimulationSetup tested(const PrivacyPolicy& policy = NoPolicy{}) const {
    SimulationSetup result = setup(policy);
    result.client_tests = &tests_;
    return result;
  }
  /// A copy of the setup under which clients are tested with the global model.
  SimulationSetup tested_alike(const PrivacyPolicy& policy) {
    algorithm.on_personalise = {};
    return tested(policy);
  }

 private:
  Partition tests_{{0, 1, 2}, {3, 4}, {}, {5, 6}};
};

// The answer is always class k mod 2.
TEST_F(PersonalModels, AreWhatTheirClientsAreTestedWith) {
  algorithm.on_personalise = [](Client& client, const Message& downlink) {
    Params own = zeros_like(downlink[kModel]);
    own.flat()[own.flat().numel() - 2 + client.id % 2] = 1;  // a bias
    return own;
  };
  Simulation simulation(tested());
  const results::RoundRecord record = simulation.next_round();
  EXPECT_TRUE(record.personal);
  std::vector<double> accuracies;
  for (const results::ClientScore& score : record.client_scores) accuracies.push_back(score.accuracy);
  EXPECT_THAT(accuracies, ElementsAre(2.0 / 3, 0.5, 0.5));  // of labels 010, 10 and 10, by 0, 1 and 1
  EXPECT_DOUBLE_EQ(record.per_client->accuracy_worst, 0.5);
  // The test set as a whole is the global model's.
  const results::RoundRecord alike = Simulation(tested_alike(NoPolicy{})).next_round();
  EXPECT_FALSE(alike.personal);
  EXPECT_EQ(record.test_loss, alike.test_loss);
}

// A model of no numbers still answers with a class.
TEST_F(PersonalModels, ThatDivergedAreCounted) {
  algorithm.on_personalise = [](Client& client, const Message& downlink) {
    return (client.id == 1 ? std::nan("") : 1.0) * downlink[kModel];
  };
  const results::RoundRecord record = Simulation(tested()).next_round();
  EXPECT_TRUE(std::isfinite(*record.test_loss));
  EXPECT_EQ(record.per_client->diverged, 1);
  EXPECT_TRUE(record.client_scores.at(1).diverged);
}

TEST_F(PersonalModels, AreMadeOfWhatTheNextRoundSends) {
  std::set<std::pair<std::int64_t, Bytes>> seen;
  algorithm.on_personalise = [&](Client& client, const Message& downlink) {
    seen.emplace(client.round, encode(downlink));
    return downlink[kModel];
  };
  BegunRun simulation(tested(), 1);
  EXPECT_THAT(seen, ElementsAre(std::pair(std::int64_t{2}, simulation.next_downlink())));
}

TEST_F(PersonalModels, SeeTheStateOfTheRoundAndLeaveItAlone) {
  std::map<std::int64_t, std::int64_t> visits;
  algorithm.on_personalise = [&](Client& client, const Message& downlink) {
    visits[client.id] = client.state.get_or(kVisits, std::int64_t{0});
    client.state.put(kVisits, std::int64_t{100});
    return downlink[kModel];
  };
  SimulationSetup everyone = tested();
  everyone.cohort_size = 4;
  BegunRun simulation(everyone, 1);
  EXPECT_THAT(visits, ElementsAre(std::pair(0, 1), std::pair(1, 1), std::pair(3, 1)));
  simulation.next_round();
  EXPECT_THAT(visits, ElementsAre(std::pair(0, 2), std::pair(1, 2), std::pair(3, 2)));
}

// What is trained, what is remembered and what is charged do not depend on them.
TEST_F(PersonalModels, AreListedAsKeptAndChargedNothing) {
  for (const PrivacyPolicy& policy : private_policies()) {
    Simulation with(tested(policy));
    std::vector<std::optional<double>> epsilons;
    while (!with.finished()) epsilons.push_back(with.next_round().epsilon);
    const auto own = algorithm.on_personalise;
    Simulation without(tested_alike(policy));
    for (const std::optional<double>& epsilon : epsilons) EXPECT_EQ(without.next_round().epsilon, epsilon);
    algorithm.on_personalise = own;
    EXPECT_EQ(norm(with.params() - without.params()), 0);
    const std::vector<Access> one{{ExactAccess{"gradient"}, 1}};
    for (const auto& [client, record] : with.ledger().clients()) {
      EXPECT_EQ(record.segments, without.ledger().clients().at(client).segments);
      EXPECT_EQ(with.ledger().charged(client), without.ledger().charged(client));
      // Client 2 has no test examples.
      const std::vector<Ledger::Segment> kept{{1, 6, 6, one}};
      EXPECT_EQ(record.kept, client == 2 ? std::vector<Ledger::Segment>() : kept);
    }
    EXPECT_EQ(Ledger::from_json(with.ledger().to_json()), with.ledger());
  }
}

TEST_F(PersonalModels, AreKeptAfterEvaluatedRoundsAlone) {
  SimulationSetup rarely = tested();
  rarely.evaluate_every = 2;
  rarely.rounds = 5;
  FinishedRun simulation(rarely);
  const std::vector<Access> one{{ExactAccess{"gradient"}, 1}};
  const std::vector<Ledger::Segment> kept{{2, 5, 3, one}};
  EXPECT_EQ(simulation.ledger().clients().at(0).kept, kept);
  // Another look at the last round takes nothing anew.
  results::RoundRecord last;
  last.round = 5;
  simulation.evaluate(last);
  EXPECT_EQ(simulation.ledger().clients().at(0).kept, kept);
}

// Clients 1 and 3 of four.
TEST_F(PersonalModels, OfClientsThatAreHeldOutValidate) {
  SimulationSetup setup = tested();
  setup.held_out = {1, 3};
  std::set<std::int64_t> trained;
  std::int64_t population = 0;
  algorithm.on_train = [&](Client& client) { trained.insert(client.id); };
  algorithm.on_aggregate = [&](Server& server, const Uplink& uplink) {
    population = server.population;
    server.params += uplink.mean(kUpdate);
  };
  algorithm.on_personalise = [](Client& client, const Message& downlink) {
    Params own = zeros_like(downlink[kModel]);
    own.flat()[own.flat().numel() - 2 + client.id / 3] = 1;  // client 3 answers class 1, the others class 0
    client.oracle.loss(own);
    return own;
  };
  Simulation simulation(setup);
  const results::RoundRecord record = simulation.next_round();
  while (!simulation.finished()) simulation.next_round();
  EXPECT_THAT(trained, ElementsAre(0, 2));
  EXPECT_EQ(population, 2);
  ASSERT_EQ(record.client_scores.size(), 1U);  // of client 0, since client 2 has no test examples
  EXPECT_EQ(record.client_scores.front().client, 0);
  EXPECT_DOUBLE_EQ(*record.validation_accuracy, 0.5);  // of labels 10 and 10
  // Logits 1 and 0, of which the first is right once and wrong once.
  EXPECT_NEAR(*record.validation_loss, std::log1p(std::exp(1.0)) - 0.5, 1e-12);
  for (const std::int64_t client : setup.held_out) {
    EXPECT_TRUE(simulation.ledger().clients().at(client).segments.empty());
    EXPECT_EQ(Ledger::participations_of(simulation.ledger().clients().at(client).kept), 6);
  }
}

}  // namespace
}  // namespace fedarena
