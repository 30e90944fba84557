#include "harness/simulation/observed_means.hpp"

#include <functional>

#include <gmock/gmock.h>

#include "tests/harness/simulation/small_runs.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

using test::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr Key<Params> kObservedMeansModel{"model"};

// Leaves the model alone and observes what a test wants.
class Observing final : public Algorithm {
 public:
  void start(Server& server) const override { server.observed.add("before", 1); }
  Message broadcast(const Server& server) const override {
    server.observed.add("sent", static_cast<double>(server.round));
    return {{kObservedMeansModel, server.params}};
  }
  Message train(Client& client, const Message& downlink) const override {
    on_train(client);
    return {{kObservedMeansModel, downlink[kObservedMeansModel]}};
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    server.params = uplink.mean(kObservedMeansModel);
    server.observed.add("radius", 0.5);
  }

  std::function<void(Client&)> on_train = [](Client& client) {
    client.observed.add("loss-of-own", 0.1 * static_cast<double>(client.id));
    client.observed.add("loss-of-own", 0.7 / static_cast<double>(client.round));
  };
};

class ObservedMeans : public SmallRuns<Observing> {
 protected:
  ObservedMeans() : SmallRuns({2, 2, 3, 4, 1}) {}
};

TEST_F(ObservedMeans, AreOverAllValuesOfARound) {
  Simulation simulation(setup_on(pool, 2, 5));
  const double clients = 0.1 * (0 + 1 + 2 + 3 + 4) / 10;
  EXPECT_THAT(simulation.next_round().observed,
              ElementsAre(Pair("loss-of-own", ::testing::DoubleNear(clients + 0.35, 1e-15)),
                          Pair("radius", 0.5), Pair("sent", 1)));
  EXPECT_THAT(simulation.next_round().observed,
              ElementsAre(Pair("loss-of-own", ::testing::DoubleNear(clients + 0.175, 1e-15)),
                          Pair("radius", 0.5), Pair("sent", 2)));
}

TEST_F(ObservedMeans, AreTheSameBitsForAnyNumberOfWorkers) {
  const WorkPool one(1, use_one_torch_thread), many(5, use_one_torch_thread);
  Simulation alone(setup_on(one, 1, 5)), together(setup_on(many, 1, 5));
  EXPECT_EQ(alone.next_round().observed, together.next_round().observed);
}

// A client's own numbers do not pass the mechanism that hides clients; the server's are made of what did.
TEST_F(ObservedMeans, OfClientsAreLeftOutWhereClientsAreHidden) {
  ClientPolicy policy;
  policy.clip_norm = 1;
  policy.noise_multiplier = 1;
  Simulation simulation(setup_on(pool, 1, 5, policy));
  EXPECT_THAT(simulation.next_round().observed, ElementsAre(Pair("radius", 0.5), Pair("sent", 1)));
}

TEST_F(ObservedMeans, MayNotBeCalledLikeAMeasure) {
  algorithm.on_train = [](Client& client) { client.observed.add("accuracy", 1); };
  Simulation simulation(setup_on(pool, 1, 5));
  EXPECT_THAT(message_of([&] { simulation.next_round(); }),
              HasSubstr("the algorithm observes \"accuracy\", which the harness measures"));
  EXPECT_EQ(simulation.rounds_done(), 0);
}

TEST_F(ObservedMeans, OfNothingAreNone) { EXPECT_THAT(observed_means({}), IsEmpty()); }

}  // namespace
}  // namespace fedarena
