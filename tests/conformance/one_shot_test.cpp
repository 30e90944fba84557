// One-shot FedAvg needs no algorithm of its own: it is FedAvg with rounds = 1 and much local work. The server
// then averages models that clients trained without ever hearing of each other.
#include <string>

#include <gtest/gtest.h>

#include "tests/conformance/federations.hpp"
#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

const Settings kLongTraining{
    {"local_steps", std::int64_t{300}}, {"batch_size", std::int64_t{0}}, {"rate", 0.2}};

TEST(OneShotFedAvg, IsTheMeanOfModelsThatClientsTrainAlone) {
  const QuadraticFederation federation = quadratic_federation({9, 30, 14});
  const Model model = linear_model_of(federation.dataset);
  const auto train = [&](const Partition& partition) {
    return TestRun(federation.dataset, partition, model, plugins().create("fedavg", kLongTraining),
                   {.rounds = 1})
        .finish()
        .values();
  };
  Vector mean(4);
  for (std::size_t k = 0; k < 3; ++k) {
    mean = mean + federation.clients[k].examples / federation.examples() * train({federation.partition[k]});
  }
  EXPECT_LE(length(train(federation.partition) - mean), 1e-12 * length(mean));
}

}  // namespace
}  // namespace fedarena
