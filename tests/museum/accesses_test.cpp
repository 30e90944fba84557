// Exhibit 6: one round's epsilon for a whole run.
#include <cmath>
#include <vector>

#include <gmock/gmock.h>

#include "results/audit/privacy_report.hpp"
#include "tests/infinity.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

// Every round begins with new objects, as a client that is started anew for each round.
TEST(OneRoundsEpsilon, GrowsAlthoughEveryRoundStartsAnew) {
  constexpr std::int64_t kExamples = 4'000, kBatch = 32, kEpoch = 125;
  constexpr double kRate = double(kBatch) / kExamples;
  const Federation federation({kExamples});
  const Exhibit algorithm(sgd(kEpoch, kBatch));
  const SimulationSetup setup = federation.setup(algorithm, RecordPolicy(), 3);
  Bytes saved = Simulation(setup).save();
  Ledger ledger;
  for (std::int64_t round = 1; round <= 3; ++round) {
    Simulation simulation(setup);
    simulation.restore(saved);
    const double epsilon = simulation.next_round().epsilon.value();
    EXPECT_NEAR(epsilon, poisson_epsilon(1, kRate, round * kEpoch), 1e-12 * epsilon);
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

// Exhibit 18a: from iteration 0 to the last one, which is one more than is accounted.
TEST(OneIterationMore, IsInTheLedger) {
  constexpr std::int64_t kExamples = 400, kBatch = 32, kIterations = 20, kAccesses = 10;
  const Federation federation({kExamples});
  const Exhibit algorithm([](Client& client, const Params& start) {
    for (std::int64_t iteration = 0; iteration <= kIterations; ++iteration)
      sgd(kAccesses, kBatch)(client, start);
    return start;
  });
  Simulation simulation(federation.setup(algorithm, RecordPolicy()));
  const double epsilon = finish(simulation);
  constexpr double kRate = double(kBatch) / kExamples;
  EXPECT_NEAR(epsilon, poisson_epsilon(1, kRate, (kIterations + 1) * kAccesses), 1e-12 * epsilon);
  EXPECT_GT(epsilon, 1.01 * poisson_epsilon(1, kRate, kIterations * kAccesses));
}

// The published loop: 100 accesses in each of 1,001 iterations under noise that is calibrated for 1,000.
TEST(OneIterationMore, CostsLittleInPsg) {
  constexpr double kRate = 256.0 / 60'000, kNoise = 0.96562;
  EXPECT_LE(poisson_epsilon(kNoise, kRate, 100'000), 10);
  EXPECT_NEAR(poisson_epsilon(kNoise, kRate, 100'100), 10.006, 0.001);
}

// Exhibits 11 and 16d: releases that look harmless and that nothing privatised.

// Keeps the largest tenth of the numbers and cuts them to +-0.01; no noise anywhere.
void keep_the_largest(Params& update) {
  const torch::Tensor sizes = update.flat().abs();
  const torch::Tensor threshold = std::get<0>(sizes.sort()).slice(0, sizes.numel() * 9 / 10, {})[0];
  update.flat().mul_(sizes.ge(threshold)).clamp_(-0.01, 0.01);
}

Params largest_part_of(const Params& start, Params gradient) {
  keep_the_largest(gradient);
  return start - gradient;
}

double epsilon_of(const Exhibit& algorithm, const PrivacyPolicy& policy) {
  const Federation federation({30, 20, 10});
  Simulation simulation(federation.setup(algorithm, policy, 2));
  return finish(simulation);
}

TEST(Percentiles, OfExactGradientsMakeEpsilonInfinite) {
  const Exhibit by_plugin([](Client& client, const Params& start) {
    return largest_part_of(start, client.model.gradient(start, client.oracle.exact_batch()));
  });
  EXPECT_EQ(epsilon_of(by_plugin, RecordPolicy()), kInfinity);
  const Exhibit of_messages({}, [](Server& server, const Uplink& uplink) {
    for (const Message& message : uplink.each()) {
      Params update = message[kUpdate];
      keep_the_largest(update);
      server.params += update;
    }
  });
  EXPECT_EQ(epsilon_of(of_messages, ClientPolicy()), kInfinity);
}

// After the mechanism the same percentiles cost nothing more.
TEST(Percentiles, OfPrivatisedGradientsCostNothing) {
  const Exhibit filtered([](Client& client, const Params& start) {
    return largest_part_of(start, client.oracle.gradient(start, {.batch_size = 4}));
  });
  EXPECT_EQ(epsilon_of(filtered, RecordPolicy()), epsilon_of(Exhibit(sgd(1, 4)), RecordPolicy()));
}

// A batch that is drawn once and kept has to be taken out of the oracle first.
TEST(KeptBatches, MakeEpsilonInfinite) {
  const Exhibit keeps([](Client& client, const Params& start) {
    const Batch all = client.oracle.exact_batch();
    Stream draws = client.streams(Purpose::kAlgorithm);
    const Batch kept = all.select(
        torch::tensor(draws.sample_without_replacement(all.size(), all.size() / 2), torch::kInt64));
    Params local = start;
    for (int step = 0; step < 5; ++step) local.add_scaled(-0.1, client.model.gradient(local, kept));
    return local;
  });
  EXPECT_EQ(epsilon_of(keeps, RecordPolicy()), kInfinity);
}

struct Careless {
  std::string name;
  std::int64_t client, round;
  std::string access;
  std::function<void(Oracle&, const Params&)> look;
};

class ExactAccesses : public ::testing::TestWithParam<Careless> {};

// One look of one client in one round is enough, and is found by name.
TEST_P(ExactAccesses, AreNamedWithPluginClientAndRound) {
  const Careless& careless = GetParam();
  const Federation federation({30, 20, 10});
  const Exhibit algorithm([&](Client& client, const Params& start) {
    if (client.id == careless.client && client.round == careless.round) careless.look(client.oracle, start);
    return sgd(2, 4)(client, start);
  });
  const Scratch scratch;
  SimulationSetup setup = federation.setup(algorithm, RecordPolicy(), 4);
  Simulation simulation(setup);
  const results::RunDirectory run = record(scratch / "run", simulation, 4, "radius", "record");
  const std::vector<results::RoundRecord> rounds = run.rounds();
  ASSERT_EQ(rounds.size(), 4U);
  for (const results::RoundRecord& round : rounds) {
    EXPECT_EQ(std::isinf(round.epsilon.value()), round.round >= careless.round) << round.round;
  }
  const results::PrivacyReport report = results::privacy_report(run);
  const results::PrivacyClaim& claim = report.summary.privacy.value();
  EXPECT_EQ(claim.rdp.value().epsilon, kInfinity);
  EXPECT_EQ(claim.pld.value().epsilon, kInfinity);
  EXPECT_EQ(claim.exact_access, fmt::format("radius: {} of client {}, round {}", careless.access,
                                            careless.client, careless.round));
  EXPECT_EQ(report.plugin, "radius-plugin");
  ASSERT_EQ(report.exact.size(), 1U);
  EXPECT_EQ(report.exact[0].client, careless.client);
  EXPECT_EQ(report.exact[0].first_round, careless.round);
  EXPECT_EQ(report.exact[0].access, careless.access);
}

INSTANTIATE_TEST_SUITE_P(
    All, ExactAccesses,
    ::testing::Values(Careless{"LabelCounts", 2, 1, "label counts",
                               [](Oracle& oracle, const Params&) { (void)oracle.label_counts(); }},
                      Careless{"Loss", 0, 3, "loss",
                               [](Oracle& oracle, const Params& at) { (void)oracle.loss(at); }},
                      Careless{"Examples", 1, 4, "examples",
                               [](Oracle& oracle, const Params&) { (void)oracle.exact_batch(); }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace fedarena
