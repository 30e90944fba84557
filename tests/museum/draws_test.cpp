// Exhibits 9 and 15: batches that are not drawn as they are accounted.
// Error rates: each statistical comparison raises a false alarm with probability 1e-6 over seeds.
#include <chrono>
#include <mutex>
#include <set>

#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <torch/types.h>

#include "fedarena/base/error.hpp"

#include "tests/harness/oracle/bench.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

class FixedBatches : public ::testing::Test {
 protected:
  static constexpr std::int64_t kExamples = 1'250, kBatch = 32, kSteps = 200;  // rate 0.0256

  Ledger run() const {
    RecordPolicy policy;
    policy.sampling = kWithoutReplacement;
    const Federation federation({kExamples});
    const Exhibit algorithm(sgd(kSteps, kBatch));
    Simulation simulation(federation.setup(algorithm, policy));
    EXPECT_EQ(simulation.next_round().examples, kBatch * kSteps);
    return simulation.ledger();
  }
  const double as_if_poisson = poisson_epsilon(1, 0.0256, kSteps);
};

TEST_F(FixedBatches, AreNotAccountedAsPoissonSamples) {
  EXPECT_NEAR(as_if_poisson, 2.79, 0.005);
  const Account proven = account(run(), {});
  EXPECT_EQ(proven.adjacency, Adjacency::kReplaceOne);
  EXPECT_GT(proven.rdp.epsilon.value(), 8 * as_if_poisson);
  EXPECT_GT(proven.pld.epsilon.value(), 5 * as_if_poisson);
}

// Whoever claims the adjacency of Poisson sampling for them gets no number from either accountant.
TEST_F(FixedBatches, AreUnprovenWhenAUnitIsAddedOrRemoved) {
  Access access = run().charged(0).at(0);
  std::get<SampledGaussian>(access.event).adjacency = Adjacency::kAddRemove;
  Ledger claimed(Unit::kRecord);
  claimed.add_client(0, kExamples);
  claimed.record(1, 0, RoundAccesses({access}));
  const Account result = account(claimed, {});
  EXPECT_FALSE(result.rdp.epsilon.has_value());
  EXPECT_FALSE(result.pld.epsilon.has_value());
  for (const Claim& claim : {result.rdp, result.pld}) EXPECT_THAT(claim.unproven, HasSubstr("fixed-size"));
}

TEST_F(FixedBatches, AreTakenForPoissonSamplesOnRequestAndTheClaimSaysSo) {
  const results::PrivacyClaim claim = claim_of(run(), "record", {.assume = "poisson"});
  EXPECT_NEAR(claim.rdp.value().epsilon.value(), as_if_poisson, 1e-9);
  EXPECT_TRUE(claim.assumed);
}

// Exhibits 16e and 16f: randomness that hangs on the clock, and noise that an algorithm's own draws decide.

// A round under noise; `before_each_access` is what the algorithm does on the way.
Params end_of_run(const std::function<void(Client&, std::int64_t step)>& before_each_access,
                  std::uint64_t seed = 6) {
  const Federation federation({40, 30, 20});
  const Exhibit algorithm([&](Client& client, const Params& start) {
    Params local = start;
    for (std::int64_t step = 0; step < 6; ++step) {
      before_each_access(client, step);
      local.add_scaled(-0.1, client.oracle.gradient(local, {.batch_size = 5}));
    }
    return local;
  });
  SimulationSetup setup = federation.setup(algorithm, RecordPolicy(), 3);
  setup.seed = seed;
  Simulation simulation(setup);
  finish(simulation);
  return simulation.params();
}

void nothing(Client&, std::int64_t) {}

// As augmentation that takes its seed from the clock, in the place where noise is drawn next.
void reseed_by_the_clock(Client&, std::int64_t) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  torch::manual_seed(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count() % 100'000));
}

TEST(Randomness, IsAFunctionOfTheSeedAlone) {
  const Params first = end_of_run(nothing);
  EXPECT_TRUE(same_bits(end_of_run(nothing), first));
  EXPECT_FALSE(same_bits(end_of_run(nothing, 7), first));
}

TEST(Noise, IsOutOfReachOfTheGlobalGenerator) {
  const Params first = end_of_run(nothing);
  EXPECT_TRUE(same_bits(end_of_run(reseed_by_the_clock), first));
  const auto reseed_alike = [](Client& client, std::int64_t step) {
    reseed_by_the_clock(client, step);
    torch::manual_seed(5);
  };
  EXPECT_TRUE(same_bits(end_of_run(reseed_alike), first));
}

// Exhibit 18b: every new network takes its weights from the clock, and the noise goes on from there.
TEST(Noise, IsNotReseededWhereANetworkIsMade) {
  const auto make_network = [](Client& client, std::int64_t step) {
    reseed_by_the_clock(client, step);
    Stream weights = client.streams(Purpose::kSynthetic, static_cast<std::uint64_t>(step));
    EXPECT_GT(norm(client.model.initial(weights)), 0);
  };
  EXPECT_TRUE(same_bits(end_of_run(make_network), end_of_run(nothing)));
}

TEST(Noise, DoesNotDependOnWhatTheAlgorithmDraws) {
  const auto draw = [](Client& client, std::int64_t) {
    for (const Purpose purpose : {Purpose::kAlgorithm, Purpose::kSynthetic}) {
      Stream stream = client.streams(purpose);
      for (int i = 0; i < 10; ++i) stream.normal();
    }
  };
  EXPECT_TRUE(same_bits(end_of_run(draw), end_of_run(nothing)));
}

// Answers that are noise but for a billionth: no two accesses share any of it, though the algorithm reseeds
// torch before each.
TEST(Noise, IsNewForEveryAccess) {
  constexpr std::int64_t kRounds = 20, kAccesses = 10;
  const Federation federation({5, 5});
  std::mutex mutex;
  std::multiset<double> numbers;
  const Exhibit algorithm([&](Client& client, const Params& start) {
    for (std::int64_t access = 0; access < kAccesses; ++access) {
      torch::manual_seed(5);
      const Params answer = client.oracle.gradient(start, {.batch_size = 0});
      const std::lock_guard lock(mutex);
      const std::vector<double> parts = numbers_of(answer);
      numbers.insert(parts.begin(), parts.end());
    }
    return start;
  });
  RecordPolicy policy;
  policy.noise_multiplier = 1e9;
  Simulation simulation(federation.setup(algorithm, policy, kRounds));
  finish(simulation);
  EXPECT_EQ(numbers.size(), std::size_t(kRounds * kAccesses * 2 * 8));
  EXPECT_EQ(std::set<double>(numbers.begin(), numbers.end()).size(), numbers.size());
}

// Who could draw the noise again could subtract it.
TEST(Noise, CannotBeDrawnByAnAlgorithm) {
  const Federation federation({5, 5});
  for (const Purpose purpose : {Purpose::kNoise, Purpose::kBatches, Purpose::kCohort}) {
    const Exhibit on_client([&](Client& client, const Params& start) {
      client.streams(purpose);
      return start;
    });
    Simulation of_client(federation.setup(on_client, RecordPolicy(), 1));
    EXPECT_THROW(finish(of_client), Error);
    const Exhibit on_server({}, [&](Server& server, const Uplink&) { server.streams(purpose); });
    Simulation of_server(federation.setup(on_server, ClientPolicy(), 1));
    EXPECT_THROW(finish(of_server), Error);
  }
}

}  // namespace
}  // namespace fedarena
