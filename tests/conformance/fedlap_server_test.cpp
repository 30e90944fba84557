// FedLAP's server against the definitions of its paper: the descent and its radius, the post-hoc calibration
// of magnitudes, and a regression whose gradient field a few synthetic points reproduce exactly.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/synthetic_sets.hpp"

#include "tests/conformance/quadratics.hpp"
#include "tests/conformance/workbench.hpp"
#include "tests/harness/sdk/finite_differences.hpp"
#include "tests/harness/sdk/forwarding.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

constexpr Key<double> kRadius{"radius"};
constexpr Key<torch::Tensor> kNorms{"norms"};
constexpr double kServerRate = 0.3;
const std::vector<double> kShares{4 / 15.0, 9 / 15.0, 2 / 15.0};

// A logistic regression in double precision, and clients whose "synthetic" sets are their own examples.
class FedLapServer : public ::testing::Test {
 protected:
  FedLapServer() {
    Stream stream({.seed = 3});
    for (const std::int64_t size : {4, 9, 2}) {
      sets.push_back({normal(stream, {size, 1, 2, 2}), torch::arange(size).remainder(3)});
    }
    start = bench.model.initial(stream);
  }

  std::vector<Message> messages(const std::vector<double>& radii = {9, 9, 9}) const {
    std::vector<Message> result;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      result.push_back({{kImages, sets[i].inputs},
                        {kLabels, sets[i].targets},
                        {kExamples, 10 * sets[i].size()},
                        {kRadius, radii[i]}});
    }
    return result;
  }

  Params descend(const Settings& settings, std::vector<Message> sent) const {
    return bench.aggregate(*plugins().create("fedlap", settings), start, std::move(sent));
  }

  // w <- w - rate * sum of weights_k * gradient(w, S_k), while w is nearer than the radius, at most `steps`
  // times.
  Params by_hand(double rate, const std::vector<double>& weights, double radius, int steps) const {
    Params params = start;
    for (int step = 0; step < steps && norm(params - start) < radius; ++step) {
      Params slope = zeros_like(params);
      for (std::size_t i = 0; i < sets.size(); ++i)
        slope += weights[i] * bench.model.gradient(params, sets[i]);
      params -= rate * slope;
    }
    return params;
  }

  Workbench bench{{.input_shape = {1, 2, 2}, .outputs = 3, .layers = {Flatten{}, Linear{4, 3}}}};
  std::vector<Batch> sets;
  Params start;
};

TEST_F(FedLapServer, DescendsOnTheUnion) {
  const Params reached = descend({{"rate", kServerRate}, {"server_epochs", 12}}, messages());
  // The mean over all images weighs sets by their sizes, which are proportional to N_k here.
  EXPECT_LE(norm(reached - by_hand(kServerRate, kShares, kInfinity, 12)), 1e-12);
  const Params in_batches =
      descend({{"rate", kServerRate}, {"server_epochs", 12}, {"server_batch_size", 4}}, messages());
  EXPECT_GT(norm(in_batches - reached), 0.01);
}

TEST_F(FedLapServer, StopsExactlyWhereTheRadiusSays) {
  for (const double radius : {0.05, 0.2, 0.37}) {
    const Params expected = by_hand(kServerRate, kShares, radius, 100);
    EXPECT_GE(norm(expected - start), radius);
    for (const char* descent : {"weighted", "union"}) {
      const Params reached = descend({{"server_descent", descent},
                                      {"server_radius", "constant"},
                                      {"radius", radius},
                                      {"rate", kServerRate}},
                                     messages());
      EXPECT_LE(norm(reached - expected), 1e-12) << descent << ", " << radius;
    }
  }
}

TEST_F(FedLapServer, TakesItsRadiusFromTheClients) {
  const std::vector<double> radii{0.3, 0.1, 0.2};
  const auto with = [&](const char* strategy) {
    return descend({{"server_radius", strategy}, {"rate", 0.02}}, messages(radii));
  };
  const auto within = [&](double radius) { return by_hand(0.02, kShares, radius, 100); };
  EXPECT_LE(norm(with("min") - within(0.1)), 1e-12);
  EXPECT_EQ(bench.observed_mean("radius"), 0.1);
  EXPECT_NEAR(bench.observed_mean("distance"), norm(within(0.1) - start), 1e-12);
  EXPECT_LE(norm(with("median") - within(0.2)), 1e-12);
  EXPECT_LE(norm(with("max") - within(0.3)), 1e-12);
  EXPECT_LE(norm(with("none") - within(kInfinity)), 1e-12);
}

TEST_F(FedLapServer, BearsClientsThatSendNoImages) {
  std::vector<Message> sent = messages();
  sent[1] = {{kImages, torch::zeros({0, 1, 2, 2})},
             {kLabels, torch::zeros({0}, torch::kInt64)},
             {kExamples, std::int64_t{0}},
             {kRadius, 9.0}};
  const Params reached =
      descend({{"server_descent", "weighted"}, {"rate", kServerRate}, {"server_epochs", 3}}, sent);
  EXPECT_LE(norm(reached - by_hand(kServerRate, {4 / 6.0, 0, 2 / 6.0}, kInfinity, 3)), 1e-12);
  EXPECT_EQ(norm(descend({}, {sent[1]}) - start), 0);
}

// FedLAP's post-hoc magnitude calibration (Equation 20).
class FedLapCalibration : public ::testing::Test {
 protected:
  static Settings settings(const Settings& more) {
    return joined({{"server_calibration", true},
                   {"server_descent", "weighted"},
                   {"server_radius", "none"},
                   {"augmentation", "none"}},
                  more);
  }
  static Message message(const Batch& set, std::int64_t count, const torch::Tensor& norms) {
    return {{kImages, set.inputs}, {kLabels, set.targets}, {kExamples, count}, {kNorms, norms}};
  }

  Params applied(double rate, std::int64_t epochs, const Params& from,
                 const std::vector<Message>& sent) const {
    const auto algorithm = plugins().create("fedlap", settings({{"rate", rate}, {"server_epochs", epochs}}));
    return bench.aggregate(*algorithm, from, sent);
  }
  // The length of each tensor.
  static torch::Tensor lengths_of(const Params& gradient) {
    std::vector<double> lengths;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      lengths.push_back(std::sqrt(gradient[i].square().sum().item<double>()));
    }
    return torch::tensor(lengths, torch::kFloat64);
  }

  Workbench bench{
      {.input_shape = {1, 2, 2}, .outputs = 3, .layers = {Flatten{}, Linear{4, 5}, Relu{}, Linear{5, 3}}}};
  Stream stream{{.seed = 6}};
  Params start = bench.model.initial(stream);
};

TEST_F(FedLapCalibration, StretchesEachTensorOfEachClientsGradient) {
  constexpr double kRate = 0.1;
  constexpr int kSteps = 3;
  const std::vector<Batch> sets{random_batch(bench.model, 4, 1), random_batch(bench.model, 3, 2)};
  const std::vector<std::vector<double>> lengths{{0.5, 0.25, 2, 1}, {3, 0.125, 0.0, 0.75}};
  const std::vector<double> shares{0.75, 0.25};

  Params expected = start;
  for (int step = 0; step < kSteps; ++step) {
    Params direction = zeros_like(start);
    for (std::size_t client = 0; client < sets.size(); ++client) {
      const Params gradient = bench.model.gradient(expected, sets[client]);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const double length = std::sqrt(gradient[i].square().sum().item<double>());
        direction[i].add_(gradient[i], shares[client] * lengths[client][i] / length);
      }
    }
    expected -= kRate * direction;
  }
  const Params reached = applied(kRate, kSteps, start,
                                 {message(sets[0], 30, torch::tensor(lengths[0], torch::kFloat64)),
                                  message(sets[1], 10, torch::tensor(lengths[1], torch::kFloat64))});
  EXPECT_LE(norm(reached - expected), 1e-12);
  EXPECT_GT(norm(expected - start), 0.1);
}

// A gradient of zero has no direction to stretch.
TEST_F(FedLapCalibration, LeavesZerosAlone) {
  Params dead = bench.zeros();
  dead[1].fill_(-1e3);  // no unit of the hidden layer answers
  const Params reached =
      applied(1, 1, dead, {message(random_batch(bench.model, 4), 7, torch::full({4}, 0.5, torch::kFloat64))});
  const Params moved = reached - dead;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(moved[i].abs().max().item<double>(), 0) << i;
  EXPECT_NEAR(norm(moved), 0.5, 1e-12);
}

TEST_F(FedLapCalibration, SendsTheLengthsAtTheGlobalModelForOneAccessMore) {
  const Batch examples = random_batch(bench.model, 9);
  const auto train = [&](const Settings& more, std::vector<std::string>& accesses) {
    const Settings all{{"classes", "all"},        {"image_init", "noise"},  {"outer_steps", 2},
                       {"real_batches", 2},       {"model_steps", 1},       {"server_descent", "weighted"},
                       {"server_radius", "none"}, {"augmentation", "none"}, {"images_per_class", 1}};
    OpenShard shard(bench.model, examples);
    Message sent = bench.train(*plugins().create("fedlap", joined(all, more)), shard, {{kModel, start}});
    accesses = shard.accesses;
    return sent;
  };
  std::vector<std::string> plain, calibrated;
  EXPECT_FALSE(train({}, plain).contains(kNorms.name));
  const torch::Tensor norms = train({{"server_calibration", true}}, calibrated)[kNorms];
  plain.emplace_back("gradient");
  EXPECT_EQ(calibrated, plain);

  const torch::Tensor expected = lengths_of(bench.model.gradient(start, examples));
  ASSERT_EQ(norms.sizes(), expected.sizes());
  EXPECT_LE(largest_difference(norms, expected), 1e-14);
}

TEST_F(FedLapCalibration, IsRefusedOnTheUnion) {
  expect_refused(has_all("server_descent is \"union\"", "server_descent = \"weighted\""), [] {
    plugins().create("fedlap", {{"server_calibration", true}});
  });
  EXPECT_NO_THROW(plugins().create("fedlap", settings({})));
}

// A linear model's gradient field is fixed by the second moments of its examples, so that a few synthetic
// points can stand for all of them. The fewest points, one more than columns, with the mean and the
// covariance of the given rows: deviations sqrt(count) Q L', where Q's columns are orthonormal and orthogonal
// to ones, and L L' is the covariance.
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
  std::vector<Batch> sets;
  for (const auto& shard : federation.task.partition) {
    const torch::Tensor positions = torch::tensor(shard, torch::kInt64);
    const Examples& train = federation.task.dataset.train;
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
    constexpr double kRate = 0.2;
    constexpr std::int64_t kSteps = 25;
    const Settings settings =
        joined({{"server_epochs", 1}, {"rate", kRate}, {"server_radius", "none"}}, more);
    auto given = std::make_unique<Replaced>(plugins().create("fedlap", settings));
    given->train_with = [&](Client& client, const Message&) -> Message {
      const Batch& set = sent[static_cast<std::size_t>(client.id)];
      return {{kImages, set.inputs}, {kLabels, set.targets}, {kExamples, client.oracle.size()}};
    };
    TestRun run(who.task, std::move(given), {.rounds = kSteps});
    const Vector start = numbers_of(run->params());
    for (std::int64_t step = 1; step <= kSteps; ++step) {
      run->next_round();
      const Vector expected = descend(objective, start, kRate, step);
      EXPECT_LE(length(numbers_of(run->params()) - expected), 1e-12) << "step " << step;
    }
    EXPECT_GT(length(numbers_of(run->params()) - start), 0.5);
  };
  const Settings weighted{{"server_descent", "weighted"}}, united{{"server_descent", "union"}};

  const Quadratic &first = federation.clients[0], &second = federation.clients[1];
  expect_same_way({.hessian = (4 / 13.0) * first.hessian + (9 / 13.0) * second.hessian,
                   .slope = (4 / 13.0) * first.slope + (9 / 13.0) * second.slope},
                  weighted, federation, sets);
  QuadraticFederation alone = federation;
  alone.task.partition.resize(1);
  expect_same_way(first, weighted, alone, {sets[0]});
  expect_same_way(first, united, alone, {sets[0]});
}

}  // namespace
}  // namespace fedarena
