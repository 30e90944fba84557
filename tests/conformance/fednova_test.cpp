// FedNova on clients that make different numbers of steps, against Wang et al. (NeurIPS 2020) written out
// once more: x <- x - tau_eff * sum p_i * rate * G_i a_i / ||a_i||_1. Every client holds copies of one
// example, so that each batch has its exact gradient and the number of batches is its size over that of a
// batch.
#include <cmath>
#include <string>
#include <vector>

#include "tests/conformance/quadratics.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kBatch = 3;

// One example a client: loss 1/2 (z'x - y)^2, where z ends with the bias' one.
struct Copies {
  Vector z;
  double y = 0;
  std::int64_t count = 0;

  std::int64_t steps(std::int64_t epochs) const { return epochs * ((count + kBatch - 1) / kBatch); }
  double square() const {
    double sum = 0;
    for (const double value : z) sum += value * value;
    return sum;
  }
};

const std::vector<Copies> kClients{
    {{0.9, 1}, 1.5, 3}, {{-0.4, 1}, -1, 20}, {{0.3, 1}, 2, 7}, {{-1.1, 1}, 0.5, 12}};

QuadraticFederation federation_of_copies() {
  std::vector<Quadratic> quadratics;
  Partition partition;
  std::vector<double> inputs, targets;
  for (const Copies& client : kClients) {
    const torch::Tensor z = torch::tensor(client.z, torch::kFloat64);
    quadratics.push_back({z.outer(z), client.y * client.z, static_cast<double>(client.count)});
    std::vector<std::int64_t>& shard = partition.emplace_back();
    for (std::int64_t i = 0; i < client.count; ++i) {
      shard.push_back(static_cast<std::int64_t>(targets.size()));
      inputs.push_back(client.z[0]);
      targets.push_back(client.y);
    }
  }
  return {regression_task(torch::tensor(inputs, torch::kFloat64).view({-1, 1}),
                          torch::tensor(targets, torch::kFloat64).view({-1, 1}), std::move(partition)),
          std::move(quadratics)};
}

struct FednovaCase {
  std::string name;
  std::int64_t epochs = 2;
  double rate = 0.1;
  double momentum = 0, mu = 0, weight_decay = 0, server_rate = 1, effective_steps = 0;
  bool by_examples = true;
  std::int64_t cohort_size = 4;

  Settings settings() const {
    return {{"local_epochs", epochs},
            {"batch_size", kBatch},
            {"rate", rate},
            {"momentum", momentum},
            {"mu", mu},
            {"weight_decay", weight_decay},
            {"server_rate", server_rate},
            {"effective_steps", effective_steps},
            {"weighting", by_examples ? "examples" : "uniform"}};
  }
};

// Where a client has gone, in units of -rate, if its gradient is one in step `when` and zero otherwise.
double response(const FednovaCase& wanted, std::int64_t steps, std::int64_t when) {
  double moved = 0, velocity = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    velocity = wanted.momentum * velocity + (step == when ? 1 : 0) - wanted.rate * wanted.mu * moved;
    moved += velocity;
  }
  return moved;
}

// a_i as the paper gives it, with momentum or a proximal term; each number by itself where there are both.
Vector weights_of(const FednovaCase& wanted, std::int64_t steps) {
  Vector weights;
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto left = static_cast<double>(steps - step);
    const double rho = wanted.momentum, alpha = wanted.rate * wanted.mu;
    if (rho > 0 && alpha > 0) {
      weights.push_back(response(wanted, steps, step));
    } else if (rho > 0) {
      weights.push_back((1 - std::pow(rho, left)) / (1 - rho));
    } else {
      weights.push_back(std::pow(1 - alpha, left - 1));
    }
  }
  return weights;
}

// The gradients of a client's local steps, without the proximal term.
std::vector<Vector> local_gradients(const FednovaCase& wanted, const Quadratic& client, const Vector& start,
                                    std::int64_t steps) {
  std::vector<Vector> gradients;
  Vector local = start, velocity(start.size());
  for (std::int64_t step = 0; step < steps; ++step) {
    gradients.push_back(client.gradient(local) + wanted.weight_decay * local);
    velocity = wanted.momentum * velocity + (gradients.back() + wanted.mu * (local - start));
    local = local - wanted.rate * velocity;
  }
  return gradients;
}

Vector next_round(const FednovaCase& wanted, const QuadraticFederation& federation,
                  const std::vector<std::int64_t>& cohort, const Vector& x) {
  double all = 0, effective = 0;
  Vector direction(x.size());
  for (const std::int64_t k : cohort) {
    const auto index = static_cast<std::size_t>(k);
    const Quadratic& client = federation.clients[index];
    const double p = wanted.by_examples ? client.examples : 1;
    const Vector weights = weights_of(wanted, kClients[index].steps(wanted.epochs));
    const std::vector<Vector> gradients =
        local_gradients(wanted, client, x, static_cast<std::int64_t>(weights.size()));
    double norm = 0;
    Vector sum(x.size());
    for (std::size_t step = 0; step < weights.size(); ++step) {
      norm += std::abs(weights[step]);
      sum = sum + weights[step] * gradients[step];
    }
    direction = direction + p / norm * sum;
    effective += p * norm;
    all += p;
  }
  if (wanted.effective_steps > 0) effective = wanted.effective_steps * all;
  return x - wanted.server_rate * (effective / all) * wanted.rate * (1 / all * direction);
}

class FedNovaTrajectory : public ::testing::TestWithParam<FednovaCase> {};

TEST_P(FedNovaTrajectory, FollowsThePaper) {
  const FednovaCase& wanted = GetParam();
  const QuadraticFederation federation = federation_of_copies();
  expect_rounds(federation, "fednova", wanted.settings(),
                {.seed = 13, .rounds = 7, .cohort_size = wanted.cohort_size},
                [&](const Vector& x, const std::vector<std::int64_t>& cohort, std::int64_t) {
                  return next_round(wanted, federation, cohort, x);
                });
}

INSTANTIATE_TEST_SUITE_P(
    Settings, FedNovaTrajectory,
    ::testing::Values(FednovaCase{.name = "Plain"}, FednovaCase{.name = "Uniform", .by_examples = false},
                      FednovaCase{.name = "PartialParticipation", .cohort_size = 2},
                      FednovaCase{.name = "Momentum", .momentum = 0.6},
                      FednovaCase{.name = "Proximal", .mu = 2},
                      FednovaCase{.name = "ProximalThatOvershoots", .mu = 13},
                      FednovaCase{.name = "MomentumAndProximal", .momentum = 0.5, .mu = 3},
                      FednovaCase{.name = "WeightDecay", .weight_decay = 0.2},
                      FednovaCase{.name = "ServerRate", .server_rate = 0.4},
                      FednovaCase{.name = "EffectiveSteps", .effective_steps = 2.5},
                      FednovaCase{.name = "AllTogether",
                                  .epochs = 3,
                                  .momentum = 0.3,
                                  .mu = 1,
                                  .weight_decay = 0.1,
                                  .server_rate = 0.8,
                                  .effective_steps = 4,
                                  .by_examples = false,
                                  .cohort_size = 3}),
    [](const auto& info) { return info.param.name; });

// Its promise: the minimum of sum p_i F_i, and not that of a sum in which clients count by their steps. Where
// both methods stop is known: the weighted sum of what clients travel is zero.
TEST(FedNova, StopsCloserToTheOptimumThanFedAvg) {
  const QuadraticFederation federation = federation_of_copies();
  constexpr double kRate = 0.01;
  const auto stop = [&](bool normalised) {
    Matrix left = torch::zeros({2, 2}, torch::kFloat64);
    Vector right(2);
    for (std::size_t k = 0; k < kClients.size(); ++k) {
      const auto tau = static_cast<double>(kClients[k].steps(2));
      const double travelled = (1 - std::pow(1 - kRate * kClients[k].square(), tau)) / kClients[k].square() /
                               (normalised ? tau : 1);
      const double weight = federation.clients[k].examples * travelled;
      left = left + weight * federation.clients[k].hessian;
      right = right + weight * federation.clients[k].slope;
    }
    return solve(left, right);
  };
  const Vector optimum = federation.optimum(true);
  const auto reached = [&](const std::string& algorithm) {
    return trained(federation.task, algorithm, {{"local_epochs", 2}, {"batch_size", kBatch}, {"rate", kRate}},
                   {.rounds = 2000, .evaluate_every = 5000});
  };
  const Vector fednova = reached("fednova"), fedavg = reached("fedavg");
  EXPECT_LE(length(fednova - stop(true)), 1e-9 * length(optimum));
  EXPECT_LE(length(fedavg - stop(false)), 1e-9 * length(optimum));
  EXPECT_LE(length(fednova - optimum), 0.2 * length(fedavg - optimum));
}

TEST(FedNova, WithEqualStepsIsFedAvgOrFedProx) {
  const Task task = quadratic_federation({9, 30, 14, 6}).task;
  for (const double mu : {0.0, 0.7}) {
    for (const double momentum : {0.0, 0.5}) {
      const auto train = [&](const std::string& algorithm) {
        const Settings settings{{"local_steps", 5},     {"batch_size", 4},    {"rate", 0.1},
                                {"momentum", momentum}, {"server_rate", 0.9}, {"mu", mu}};
        return trained(task, algorithm, declared_by(algorithm, settings), {.rounds = 5, .cohort_size = 3});
      };
      const Vector expected = train(mu > 0 ? "fedprox" : "fedavg");
      EXPECT_LE(length(train("fednova") - expected), 1e-12 * length(expected)) << mu << ", " << momentum;
    }
  }
}

// Weights by examples have no bounded influence, and the number of steps tells how many examples there are.
TEST(FedNova, IsRefusedOrInfiniteUnderThePolicyClientUnlessItsMeansSuffice) {
  const Task task = image_task("logistic", {});
  const auto first_round = [&](const Settings& settings) {
    return TestRun(task, "fednova", settings, {.rounds = 2, .policy = ClientPolicy()})->next_round();
  };
  const std::string message = message_of([&] { first_round({}); });
  EXPECT_THAT(message, has_all("a mean of \"update\" weighted by \"examples\" under the policy \"client\"",
                               "Set weighting = \"uniform\" for this algorithm"));
  EXPECT_EQ(first_round({{"weighting", "uniform"}}).epsilon, kInfinity);
  EXPECT_LT(first_round({{"weighting", "uniform"}, {"effective_steps", 5.0}}).epsilon, kInfinity);
}

}  // namespace
}  // namespace fedarena
