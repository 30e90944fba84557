// Exhibits 6, 10 and 16c: one round's epsilon for a whole run, steps and rounds that somebody wrote down
// instead of counting them.
#include <vector>

#include <gtest/gtest.h>

#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kExamples = 4'000, kBatch = 32, kEpoch = 125;
constexpr double kEveryStepCountsRate = double(kBatch) / kExamples;

// Every round begins with new objects, as a client that is started anew for each round.
TEST(OneRoundsEpsilon, GrowsAlthoughEveryRoundStartsAnew) {
  const Federation federation({kExamples});
  const Exhibit algorithm(sgd(kEpoch, kBatch));
  const SimulationSetup setup = federation.setup(algorithm, RecordPolicy(), 3);
  Bytes saved = Simulation(setup).save();
  Ledger ledger;
  for (std::int64_t round = 1; round <= 3; ++round) {
    Simulation simulation(setup);
    simulation.restore(saved);
    const double epsilon = simulation.next_round().epsilon.value();
    EXPECT_NEAR(epsilon, poisson_epsilon(1, kEveryStepCountsRate, round * kEpoch), 1e-12 * epsilon);
    if (round == 1) {
      EXPECT_NEAR(epsilon, 1.12, 0.005);
    }
    saved = simulation.save();
    ledger = simulation.ledger();
  }
  // On to a hundred rounds like these.
  const RoundAccesses again(ledger.clients().at(0).segments.at(0).accesses);
  for (std::int64_t round = 4; round <= 100; ++round) ledger.record(round, 0, again);
  EXPECT_NEAR(account(ledger, {}).rdp.epsilon.value(), 5.88, 0.005);
}

// What hyper-parameters say about steps has no way into the ledger.
TEST(Steps, AreThoseThatWereMade) {
  const Federation federation({100});
  for (const std::int64_t steps : {1, 7, 40}) {
    const Exhibit algorithm(sgd(steps, 10));
    const auto plugin =
        plugins().create("fedavg", {{"local_steps", steps}, {"batch_size", std::int64_t{10}}});
    for (const Algorithm* trained : {static_cast<const Algorithm*>(&algorithm), plugin.get()}) {
      Simulation simulation(federation.setup(*trained, RecordPolicy(), 2));
      const double epsilon = finish(simulation);
      EXPECT_NEAR(epsilon, poisson_epsilon(1, 0.1, 2 * steps), 1e-12 * epsilon);
      EXPECT_EQ(simulation.ledger().charged(0).at(0).count, 2 * steps);
    }
  }
}

TEST(Rounds, AreThoseThatWereRun) {
  const Federation federation({50});
  const Exhibit algorithm(sgd(2, 5));
  double last = 0;
  for (const std::int64_t rounds : {28, 29, 30}) {
    Simulation simulation(federation.setup(algorithm, RecordPolicy(), rounds));
    const double epsilon = finish(simulation);
    const Ledger::Segment& segment = simulation.ledger().clients().at(0).segments.at(0);
    EXPECT_EQ(segment.participations, rounds);
    EXPECT_EQ(segment.last_round, rounds);
    EXPECT_NEAR(epsilon, poisson_epsilon(1, 0.1, 2 * rounds), 1e-12 * epsilon);
    EXPECT_GT(epsilon, last);
    last = epsilon;
  }
}

}  // namespace
}  // namespace fedarena
