// What the server sees of a client: its message as it was sent, or a sum that it drowns in.

#include "harness/simulation/cohort.hpp"
#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {
namespace {

class SeenUplinks : public PrivateRuns {
 protected:
  SeenUplinks() { algorithm.steps = 1; }

  bool same(const Params& left, const Params& right) const { return norm(left - right) == 0; }
};

TEST_F(SeenUplinks, AreWhatTheServerReceives) {
  for (const PrivacyPolicy& policy : {PrivacyPolicy(NoPolicy{}), PrivacyPolicy(records_hidden())}) {
    Params received;
    algorithm.on_aggregate = [&](Server& server, const Uplink& uplink) {
      received = uplink.each().back()[kUpdate];
      server.params += uplink.mean(kUpdate);
    };
    BegunRun simulation(setup(policy), 1);
    const std::int64_t client = draw_cohort(4, 2, 4, 2).back();
    const Bytes before = simulation.save();
    const SeenUplink seen = simulation.next_uplink(client);
    EXPECT_EQ(simulation.save(), before);
    simulation.next_round();
    EXPECT_TRUE(same(seen.message[kUpdate], received));
    EXPECT_EQ(seen.gradients, 1);
  }
}

// One exact gradient step: the examples explain the update.
TEST_F(SeenUplinks, ComeWithTheExamplesOfTheirLastGradient) {
  Simulation simulation(setup(NoPolicy{}));
  const SeenUplink seen = simulation.next_uplink(2);
  EXPECT_EQ(seen.examples.size(), algorithm.batch_size);
  const Params expected = -0.05 * model.gradient(simulation.params(), seen.examples);
  EXPECT_LE(norm(seen.message[kUpdate] - expected), 1e-12);
  EXPECT_GT(norm(expected), 1e-3);
  EXPECT_TRUE(same(seen.asked_at, simulation.params()));
  EXPECT_LE(norm(seen.unnoised[kUpdate] + 0.05 * seen.sum), 1e-12);
}

TEST_F(SeenUplinks, AreThePrivatisedMeansWhereClientsAreHidden) {
  ClientPolicy policy = clients_hidden();
  policy.sampling = kWithoutReplacement;
  Params mean;
  algorithm.on_aggregate = [&](Server&, const Uplink& uplink) { mean = uplink.mean(kUpdate); };
  Simulation simulation(setup(policy));
  const SeenUplink seen = simulation.next_uplink(draw_cohort(4, 1, 4, 2).front());
  simulation.next_round();
  EXPECT_TRUE(same(seen.message[kUpdate], mean));
  EXPECT_FALSE(seen.message.contains(kExamples.name));
  EXPECT_LE(norm(seen.unnoised[kUpdate] + 0.05 * seen.sum), 1e-12);
}

}  // namespace
}  // namespace fedarena
