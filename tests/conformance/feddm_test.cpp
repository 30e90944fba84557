// FedDM against the definition of its distance, and its ball around the global model.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/synthetic_sets.hpp"

#include "tests/conformance/workbench.hpp"
#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {
namespace {

std::string feddm_text(const char* value) { return value; }

// One step at the global model itself, along the whole classes, from noise.
Settings one_step(const Settings& more) {
  Settings all{
      {"iterations", std::int64_t{1}}, {"batch_size", std::int64_t{0}}, {"images_per_class", std::int64_t{2}},
      {"image_init", feddm_text("noise")},   {"image_momentum", 0.0},         {"rho", 1e-12}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class FedDm : public ::testing::Test {
 protected:
  FedDm() {
    Stream stream({.seed = 3});
    start = bench.model.initial(stream);
    // Classes 0 and 2.
    examples = {normal(stream, {5, 1, 4, 4}), torch::tensor({2, 0, 0, 2, 2}, torch::kInt64)};
  }

  Batch train(const Settings& settings) {
    OpenShard shard(bench.model, examples);
    return decode_set(bench.train(*plugins().create("feddm", settings), shard, {{kModel, start}}),
                      torch::kFloat64);
  }

  std::vector<Layer> body{Conv2d{1, 2, 3, 1}, GroupNorm{1, 2}, Relu{}, AveragePool{2}, Flatten{}};
  Workbench bench{[this] {
    Architecture whole{.input_shape = {1, 4, 4}, .outputs = 3, .layers = body};
    whole.layers.emplace_back(Linear{8, 3});
    return whole;
  }()};
  Params start;
  Batch examples;
};

TEST_F(FedDm, StepsAlongTheDerivativeOfItsDistance) {
  const Model features({.input_shape = {1, 4, 4}, .outputs = 8, .layers = body}, torch::kFloat64);
  const Params cut(features.layout(), start.flat().narrow(0, 0, features.layout()->numel()));
  const auto squared_distance = [](const torch::Tensor& left, const torch::Tensor& right) {
    return (left.mean(0) - right.mean(0)).square().sum().item<double>();
  };
  const std::vector<std::int64_t> classes{0, 2};

  Stream stream = Workbench::client_streams()(Purpose::kSynthetic);
  torch::Tensor images = normal(stream, {4, 1, 4, 4});
  const auto distance = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const torch::Tensor own = images.narrow(0, 2 * static_cast<std::int64_t>(i), 2);
      const torch::Tensor real =
          examples.inputs.index_select(0, examples.targets.eq(classes[i]).nonzero().flatten());
      sum += squared_distance(features.forward(cut, own), features.forward(cut, real));
      sum += squared_distance(bench.model.forward(start, own), bench.model.forward(start, real));
    }
    return sum;
  };
  const double first = distance();
  const torch::Tensor slope = central_differences(images, distance);
  EXPECT_GT(slope.abs().max().item<double>(), 1e-3);

  const Batch set = train(one_step({{"image_rate", 0.5}}));
  EXPECT_TRUE(set.targets.equal(torch::tensor({0, 0, 2, 2}, torch::kInt64)));
  EXPECT_LE((set.inputs - (images - 0.5 * slope)).abs().max().item<double>(), 1e-8);
  EXPECT_NEAR(bench.observed_mean("matching-loss"), first / 2, 1e-12) << "mean over the two classes";
}

// Both sides see the same weights and the same augmentation: nothing is left to do for a set that is the
// examples.
TEST_F(FedDm, LeavesASetThatIsTheExamples) {
  examples = {examples.inputs.narrow(0, 0, 4), torch::tensor({2, 0, 0, 2}, torch::kInt64)};
  const Settings settings{{"iterations", std::int64_t{6}},
                          {"batch_size", std::int64_t{0}},
                          {"images_per_class", std::int64_t{2}},
                          {"augmentation", feddm_text("color_crop_cutout_flip_scale_rotate")}};
  const Batch set = train(settings);
  // Drawn in ascending order, all of them.
  const torch::Tensor expected = examples.inputs.index_select(0, torch::tensor({1, 2, 0, 3}, torch::kInt64));
  EXPECT_LE((set.inputs - expected).abs().max().item<double>(), 1e-10);
}

TEST_F(FedDm, ReadsItsExamplesOnceForAllSteps) {
  OpenShard shard(bench.model, examples);
  bench.train(*plugins().create("feddm", one_step({})), shard, {{kModel, start}});
  EXPECT_EQ(shard.accesses, (std::vector<std::string>{"classes", "examples"}));
}

TEST_F(FedDm, StopsWhereTheUserStopsTheRun) {
  bench.stop = true;
  EXPECT_THROW(train(one_step({})), Interrupted);
}

// A model of one weight w and a bias, whose feature is its input x: the distance of one image from one
// example at 0 is (1 + w^2) x^2, and the length of a step tells w.
TEST(FedDmWeights, LieInTheBall) {
  constexpr double kCentre = 10, kRho = 0.5, kRate = 1e-3;
  const Workbench bench({.input_shape = {1}, .outputs = 1, .layers = {Linear{1, 1}}});
  const Params centre(bench.model.layout(), torch::tensor({kCentre, 0.0}, torch::kFloat64));
  const auto algorithm = plugins().create(
      "feddm", one_step({{"rho", kRho}, {"image_rate", kRate}, {"images_per_class", std::int64_t{1}}}));
  double least = 0, most = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    OpenShard shard(bench.model, {torch::zeros({1, 1}, torch::kFloat64), torch::zeros({1}, torch::kInt64)});
    const Streams streams(seed, 1, 0);
    const Message sent = bench.train(*algorithm, shard, {{kModel, centre}}, streams);
    Stream noise = streams(Purpose::kSynthetic);
    const double from = noise.normal(), to = sent[kImages].item<double>();
    const double offset = std::sqrt((from - to) / (2 * kRate * from) - 1) - kCentre;
    EXPECT_LE(std::abs(offset), kRho + 1e-9);
    least = std::min(least, offset);
    most = std::max(most, offset);
  }
  EXPECT_LE(least, -0.9 * kRho);
  EXPECT_GE(most, 0.9 * kRho);
}

TEST_F(FedDm, TrainsTheServerOnTheUnionUntilItLeavesTheBall) {
  constexpr double kRate = 0.2;
  const std::vector<Batch> sets{random_batch(bench.model, 4, 1), random_batch(bench.model, 3, 2)};
  const Batch everything = union_of(sets);
  std::vector<Message> sent;
  for (const Batch& set : sets) {
    sent.push_back({{kImages, set.inputs}, {kLabels, set.targets}, {kExamples, std::int64_t{99}}});
  }
  for (const double rho : {0.05, 0.3, 1e9}) {
    constexpr int kEpochs = 12;
    Params expected = start;
    for (int step = 0; step < kEpochs && norm(expected - start) < rho; ++step) {
      expected -= kRate * bench.model.gradient(expected, everything);
    }
    const auto algorithm =
        plugins().create("feddm", {{"rho", rho}, {"rate", kRate}, {"server_epochs", std::int64_t{kEpochs}}});
    EXPECT_LE(norm(bench.aggregate(*algorithm, start, sent) - expected), 1e-12) << rho;
    EXPECT_EQ(norm(expected - start) >= rho, rho < 1);
  }
}

TEST_F(FedDm, BearsClientsThatSendNoImages) {
  const auto algorithm = plugins().create("feddm", {});
  const Message nothing{{kImages, torch::zeros({0, 1, 4, 4})},
                        {kLabels, torch::zeros({0}, torch::kInt64)},
                        {kExamples, std::int64_t{0}}};
  EXPECT_EQ(norm(bench.aggregate(*algorithm, start, {nothing}) - start), 0);
}

TEST(FedDmModel, MustEndInAnAffineMap) {
  const Workbench bench({.input_shape = {2}, .outputs = 2, .layers = {Linear{2, 2}, Relu{}}});
  OpenShard shard(bench.model, {torch::zeros({1, 2}, torch::kFloat64), torch::zeros({1}, torch::kInt64)});
  const Params zeros = Params::zeros(bench.model.layout(), bench.model.options());
  try {
    bench.train(*plugins().create("feddm", one_step({})), shard, {{kModel, zeros}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("does not end in an affine map"));
  }
}

}  // namespace
}  // namespace fedarena
