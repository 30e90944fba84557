// Exhibits 9 and 15: batches that are not drawn as they are accounted.
// Error rates: each statistical comparison raises a false alarm with probability 1e-6 over seeds.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"

#include "results/audit/compute_claim.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

using ::testing::HasSubstr;

// A loader that deals 300 examples in batches of 64 makes five of them, but 1/5 is not the sampling rate.
TEST(SamplingRate, OfTheLedgerIsThatOfTheSampler) {
  constexpr std::int64_t kExamples = 300, kBatch = 64, kSteps = 300;
  constexpr double kRate = double(kBatch) / kExamples;
  const Federation federation({kExamples});
  const Exhibit algorithm(sgd(kSteps, kBatch));
  Simulation simulation(federation.setup(algorithm, RecordPolicy()));
  const results::RoundRecord record = simulation.next_round();
  const double trials = double(kExamples) * kSteps;
  const auto z = [&](double rate) {
    return (static_cast<double>(record.examples) - trials * rate) / std::sqrt(trials * rate * (1 - rate));
  };
  EXPECT_LT(std::abs(z(kRate)), kNormalBound);
  EXPECT_GT(std::abs(z(1.0 / 5)), kNormalBound);
  const std::vector<Access> charged = simulation.ledger().charged(0);
  ASSERT_EQ(charged.size(), 1U);
  EXPECT_EQ(std::get<SampledGaussian>(charged[0].event).rate, kRate);
  EXPECT_EQ(charged[0].count, kSteps);
}

class FixedBatches : public ::testing::Test {
 protected:
  static constexpr std::int64_t kExamples = 1'250, kBatch = 32, kSteps = 200;  // rate 0.0256

  Ledger run() const {
    RecordPolicy policy;
    policy.sampling = kFixedSize;
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
  results::Summary summary;
  summary.algorithm = "fedavg";
  results::plan_privacy(summary, "record", {.assume = "poisson"}, 0);
  results::compute_claim(summary, run());
  EXPECT_NEAR(summary.privacy.value().rdp.value().epsilon.value(), as_if_poisson, 1e-9);
  EXPECT_TRUE(summary.privacy.value().assumed);
}

// Examples that two samples share.
double overlap(const std::vector<std::int64_t>& left, const std::vector<std::int64_t>& right) {
  std::vector<std::int64_t> both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
  return static_cast<double>(both.size());
}

// Two fresh samples share n q^2 examples, a sample that is drawn once shares n q with itself.
TEST(Samples, AreFreshForEveryAccess) {
  constexpr std::int64_t kExamples = 40, kBatch = 8, kPairs = 250;
  constexpr double kRate = double(kBatch) / kExamples, kBoth = kRate * kRate;
  const Beacons beacons(kExamples);
  const RecordPolicy exact = record_policy(kNoClipping, 0);
  const auto sample = [&](RecordOracle& oracle) {
    return beacons.lit(oracle.gradient(beacons.zero(), {.batch_size = kBatch}));
  };
  double within_a_round = 0, from_round_to_round = 0, of_two_clients = 0;
  for (std::int64_t pair = 0; pair < kPairs; ++pair) {
    const auto oracle_of = [&](std::int64_t round, std::int64_t client) {
      return beacons.record(exact, Streams(1, round, client));
    };
    RecordOracle first = oracle_of(2 * pair, 0), next = oracle_of(2 * pair + 1, 0),
                 other = oracle_of(2 * pair, 1);
    const std::vector<std::int64_t> base = sample(first);
    within_a_round += overlap(base, sample(first));
    from_round_to_round += overlap(base, sample(next));
    of_two_clients += overlap(base, sample(other));
  }
  for (const double shared : {within_a_round, from_round_to_round, of_two_clients}) {
    const double trials = double(kExamples) * kPairs;
    EXPECT_LT(std::abs(shared - trials * kBoth) / std::sqrt(trials * kBoth * (1 - kBoth)), kNormalBound);
  }
}

}  // namespace
}  // namespace fedarena
