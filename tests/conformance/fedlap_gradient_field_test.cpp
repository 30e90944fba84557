// FedLAP where the optimum is known: a linear model's gradient field is fixed by the second moments of its
// examples, so that a few synthetic points can stand for all of them, exactly or as near as matching comes.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/conformance/federations.hpp"
#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

constexpr Key<torch::Tensor> kImages{"images"};
constexpr Key<torch::Tensor> kLabels{"labels"};
constexpr Key<std::int64_t> kExamples{"examples"};
constexpr double kFedlapGradientFieldRate = 0.2;
constexpr std::int64_t kFedlapGradientFieldSteps = 25;

// FedLAP's server with clients that send given sets.
class GivenSets final : public Algorithm {
 public:
  GivenSets(const Settings& settings, std::vector<Batch> sets)
      : inner_(plugins().create("fedlap", settings)), sets_(std::move(sets)) {}
  Message broadcast(const Server& server) const override { return inner_->broadcast(server); }
  Message train(Client& client, const Message& /*downlink*/) const override {
    const Batch& set = sets_[static_cast<std::size_t>(client.id)];
    return {{kImages, set.inputs}, {kLabels, set.targets}, {kExamples, client.oracle.size()}};
  }
  void aggregate(Server& server, const Uplink& uplink) const override { inner_->aggregate(server, uplink); }

 private:
  std::unique_ptr<const Algorithm> inner_;
  std::vector<Batch> sets_;
};

// The fewest points, one more than columns, with the mean and the covariance of the given rows: deviations
// sqrt(count) Q L', where Q's columns are orthonormal and orthogonal to ones, and L L' is the covariance.
torch::Tensor points_of_the_same_moments(const torch::Tensor& rows) {
  const torch::Tensor mean = rows.mean(0);
  const torch::Tensor deviations = rows - mean;
  const torch::Tensor covariance = deviations.t().mm(deviations) / rows.size(0);
  const std::int64_t count = rows.size(1) + 1;
  Stream stream({.seed = 4});
  torch::Tensor basis = normal(stream, {count, count});
  basis.select(1, 0).fill_(1);
  const torch::Tensor directions = std::get<0>(torch::linalg_qr(basis)).slice(1, 1);
  return mean + std::sqrt(static_cast<double>(count)) * directions.mm(torch::linalg_cholesky(covariance).t());
}

TEST(FedLapGradientField, OfFewPointsTakesTheServerWhereTheExamplesWould) {
  const QuadraticFederation federation = quadratic_federation({40, 90});
  const Model model = linear_model_of(federation.dataset);
  std::vector<Batch> sets;
  for (const auto& shard : federation.partition) {
    const torch::Tensor positions = torch::tensor(shard, torch::kInt64);
    const Examples& train = federation.dataset.train;
    const torch::Tensor points = points_of_the_same_moments(
        torch::cat({train.inputs.index_select(0, positions), train.targets.index_select(0, positions)}, 1)
            .to(torch::kFloat64));
    const std::int64_t features = train.inputs.size(1);
    sets.push_back({points.slice(1, 0, features).contiguous(), points.slice(1, features).contiguous()});
    ASSERT_EQ(sets.back().size(), 5);
  }
  // One step of the server a round shows all of its way. The reference is the closed form for the examples.
  const auto expect_same_way = [&](const Quadratic& objective, const Settings& more,
                                   const QuadraticFederation& who, const std::vector<Batch>& sent) {
    Settings settings{{"server_epochs", std::int64_t{1}}, {"rate", kFedlapGradientFieldRate}};
    settings.insert(settings.end(), more.begin(), more.end());
    TestRun run(who.dataset, who.partition, model, std::make_unique<GivenSets>(settings, sent),
                {.rounds = kFedlapGradientFieldSteps});
    const Vector start = values_of(run->params());
    for (std::int64_t step = 1; step <= kFedlapGradientFieldSteps; ++step) {
      run->next_round();
      const Vector expected = descend(objective, start, kFedlapGradientFieldRate, step);
      EXPECT_LE(length(values_of(run->params()) - expected), 1e-12) << "step " << step;
    }
    EXPECT_GT(length(values_of(run->params()) - start), 0.5);
  };
  const Settings weighted{{"server_radius", std::string("none")},
                          {"server_descent", std::string("weighted")}};
  const Settings united{{"server_radius", std::string("none")}, {"server_descent", std::string("union")}};

  const Quadratic &first = federation.clients[0], &second = federation.clients[1];
  expect_same_way({.hessian = (4 / 13.0) * first.hessian + (9 / 13.0) * second.hessian,
                   .slope = (4 / 13.0) * first.slope + (9 / 13.0) * second.slope},
                  weighted, federation, sets);
  QuadraticFederation alone = federation;
  alone.partition.resize(1);
  expect_same_way(first, weighted, alone, {sets[0]});
  expect_same_way(first, united, alone, {sets[0]});
}

// Keeps the last set that the only client sent.
class Keeper final : public Algorithm {
 public:
  Keeper(const Settings& settings, Batch& sent) : inner_(plugins().create("fedlap", settings)), sent_(sent) {}
  Message broadcast(const Server& server) const override { return inner_->broadcast(server); }
  Message train(Client& client, const Message& downlink) const override {
    Message message = inner_->train(client, downlink);
    sent_ = {message[kImages], message[kLabels]};
    return message;
  }
  void aggregate(Server& /*server*/, const Uplink& /*uplink*/) const override {}

 private:
  std::unique_ptr<const Algorithm> inner_;
  Batch& sent_;
};

// Three classes of small images, and a regression on their labels: again the field is that of second moments.
class FedLapMatching : public ::testing::Test {
 protected:
  FedLapMatching() {
    Stream stream({.seed = 21});
    examples = {normal(stream, {60, 1, 2, 2}), torch::arange(60).remainder(3)};
    examples.inputs.select(2, 0) += 0.7 * examples.targets.view({-1, 1, 1}).to(torch::kFloat64);
    task.train = {examples.inputs, examples.targets};
    task.test = task.train;
    task.classes = 3;
    everything.emplace_back();
    for (std::int64_t i = 0; i < 60; ++i) everything[0].push_back(i);
  }

  Batch set_after(std::int64_t trajectories) {
    Batch sent;
    const Settings settings{{"images_per_class", std::int64_t{4}},
                            {"image_init", std::string("noise")},
                            {"server_radius", std::string("none")},
                            {"trajectories", trajectories},
                            {"outer_steps", std::int64_t{5}},
                            {"real_batches", std::int64_t{1}},
                            {"image_updates", std::int64_t{2}},
                            {"model_steps", std::int64_t{5}},
                            {"batch_size", std::int64_t{0}},
                            {"image_rate", 0.5},
                            {"rate", kFedlapGradientFieldRate},
                            {"criterion", std::string("squared")},
                            {"augmentation", std::string("none")}};
    TestRun run(task, everything, model, std::make_unique<Keeper>(settings, sent), {.rounds = 1});
    origin = run->params();
    run->next_round();
    return sent;
  }

  // Points of gradient descent on a batch, from where the client started.
  std::vector<Params> way(const Batch& batch) const {
    std::vector<Params> points{origin};
    for (std::int64_t step = 0; step < kFedlapGradientFieldSteps; ++step) {
      points.push_back(points.back() - kFedlapGradientFieldRate * model.gradient(points.back(), batch));
    }
    return points;
  }

  struct Distances {
    double gradients = 0;     // mean over the way on the examples
    double trajectories = 0;  // where both end
  };
  Distances distances(const Batch& set) const {
    const std::vector<Params> real = way(examples);
    Distances result;
    for (const Params& point : real) {
      result.gradients += norm(model.gradient(point, set) - model.gradient(point, examples)) /
                          static_cast<double>(real.size());
    }
    result.trajectories = norm(way(set).back() - real.back());
    return result;
  }

  Model model{{.input_shape = {1, 2, 2},
               .outputs = 3,
               .layers = {Flatten{}, Linear{4, 3}},
               .loss = Loss::kSquaredError},
              torch::kFloat64};
  Dataset task;
  Batch examples;
  Partition everything;
  Params origin;
};

// Measured: 0.0054 of the gradients' distance after one walk and 0.0060 of the trajectories'; longer matching
// brings both down further, to 0.0004 after a thousand walks.
TEST_F(FedLapMatching, BringsTheWayOnNoiseToThatOnTheExamples) {
  const Distances early = distances(set_after(1)), late = distances(set_after(200));
  EXPECT_GT(early.trajectories, 0.2);
  EXPECT_LT(late.gradients, 0.02 * early.gradients);
  EXPECT_LT(late.trajectories, 0.02 * early.trajectories);
}

}  // namespace
}  // namespace fedarena
