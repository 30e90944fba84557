// Exhibit 4: noise for a plain mean on a mean that is weighted by examples.
#include <gmock/gmock.h>

#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kWeightedMeanClients = 20, kCohort = 4, kRounds = 100;

// The first client holds 15 % of all examples, three times its share.
std::vector<std::int64_t> shard_sizes() {
  std::vector<std::int64_t> sizes(kWeightedMeanClients, 51);
  sizes[0] = 171;
  return sizes;
}

class WeightedMean : public ::testing::Test {
 protected:
  std::unique_ptr<const Algorithm> fedavg(const std::string& weighting) const {
    return plugins().create(
        "fedavg",
        {{"weighting", weighting}, {"local_steps", std::int64_t{1}}, {"batch_size", std::int64_t{0}}});
  }
  SimulationSetup setup(const Algorithm& algorithm) const {
    SimulationSetup result = federation.setup(algorithm, ClientPolicy(), kRounds);
    result.cohort_size = kCohort;
    return result;
  }

  Federation federation{shard_sizes()};
};

TEST_F(WeightedMean, IsRefusedWithTheReason) {
  const auto algorithm = fedavg("examples");
  Simulation simulation(setup(*algorithm));
  const std::string message = message_of([&] { simulation.next_round(); });
  EXPECT_THAT(message, HasSubstr("weighted by \"examples\" under the policy \"client\""));
  EXPECT_THAT(message, HasSubstr("the clip norm bounds what one client can change only there"));
  EXPECT_EQ(simulation.rounds_done(), 0);
}

// Three times the share is three times the distance between neighbours, hence a third of the noise.
TEST_F(WeightedMean, WouldHaveCostTenTimesTheEpsilon) {
  const auto algorithm = fedavg("uniform");
  Simulation simulation(setup(*algorithm));
  EXPECT_NEAR(finish(simulation), 15.97, 0.005);
  const double share = 171.0 / static_cast<double>(federation.dataset.train.size()) * kWeightedMeanClients;
  EXPECT_DOUBLE_EQ(share, 3);
  EXPECT_NEAR(poisson_epsilon(1 / share, static_cast<double>(kCohort) / kWeightedMeanClients, kRounds), 153, 0.1);
}

}  // namespace
}  // namespace fedarena
