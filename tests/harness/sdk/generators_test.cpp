// What clients draw images from in place of their own.
#include "fedarena/generators.hpp"

#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "harness/sdk/generators/teachers.hpp"
#include "tests/harness/sdk/numbers_of.hpp"
#include "tests/harness/sdk/open_shard.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

// By one autograd pass each.
class PlainCompute final : public NoCompute {
 public:
  explicit PlainCompute(const Model& model) : model_(model) {}
  std::unique_ptr<Compute> on(const Model& model) const override {
    return std::make_unique<PlainCompute>(model);
  }
  torch::Tensor outputs(const Params& at, const torch::Tensor& inputs) const override {
    return model_.forward(at, inputs).detach();
  }
  OutputGradient output_gradient(const Params& at, const torch::Tensor& inputs,
                                 const torch::Tensor& slopes) const override {
    // Of the squared error, targets which are as far from the outputs as the slopes say give these slopes.
    const auto count = static_cast<double>(inputs.size(0));
    return {model_.gradient(at, {inputs, outputs(at, inputs) - slopes * count}), torch::zeros_like(inputs)};
  }

 private:
  const Model& model_;
};

// A client with examples 0 to 5 of one pixel, of classes 3, 0, 3, 0, 3, 0 out of four.
class GeneratorsOfAClient : public ::testing::Test {
 protected:
  const Model model{{.input_shape = {1, 1, 1}, .outputs = 4, .layers = {Flatten{}, Linear{1, 4}}},
                    torch::kFloat64};
  const NoCompute compute;
  LoneClient lone{model,
                  {torch::arange(6, torch::kFloat64).view({6, 1, 1, 1}),
                   torch::tensor({3, 0, 3, 0, 3, 0}, torch::kInt64)},
                  compute};
  OpenShard& shard = lone.shard;
  Client& client = lone.client;
  Observations& observed = lone.observed;
};

TEST_F(GeneratorsOfAClient, NoiseIsStandardNormalOfAllClassesInTurn) {
  const Batch drawn = generate({.generator = "noise"}, client, 10'001);
  EXPECT_EQ(drawn.inputs.sizes(), (torch::IntArrayRef{10'001, 1, 1, 1}));
  EXPECT_NEAR(drawn.inputs.mean().item<double>(), 0, 0.05);  // 5 standard errors
  EXPECT_NEAR(drawn.inputs.std().item<double>(), 1, 0.04);   // 5.6 standard errors
  EXPECT_EQ(numbers_of(drawn.targets.narrow(0, 0, 6)), (std::vector<double>{0, 1, 2, 3, 0, 1}));
  EXPECT_TRUE(shard.accesses.empty());
}

TEST_F(GeneratorsOfAClient, RealExamplesComeAllBeforeAnyComesAgain) {
  const Batch drawn = generate({.generator = "real"}, client, 15);
  const std::vector<double> images = numbers_of(drawn.inputs), labels = numbers_of(drawn.targets);
  ASSERT_EQ(images.size(), 15U);
  for (std::size_t first : {0U, 6U}) {
    EXPECT_EQ(std::set<double>(images.begin() + first, images.begin() + first + 6),
              (std::set<double>{0, 1, 2, 3, 4, 5}));
  }
  EXPECT_EQ(std::set<double>(images.begin() + 12, images.end()).size(), 3U);
  for (std::size_t i = 0; i < images.size(); ++i)
    EXPECT_EQ(labels[i], static_cast<int>(images[i]) % 2 == 0 ? 3 : 0);
  EXPECT_NE(images, numbers_of(torch::arange(15).remainder(6)));
  EXPECT_EQ(shard.accesses, std::vector<std::string>{"examples"});
}

TEST_F(GeneratorsOfAClient, RealIsNothingWhereThereIsNothing) {
  LoneClient poor(model, {torch::zeros({0, 1, 1, 1}, torch::kFloat64), torch::zeros({0}, torch::kInt64)},
                  compute);
  EXPECT_EQ(generate({.generator = "real"}, poor.client, 3).size(), 0);
}

// Also of a model with the squared error on classes, of which no regression is to blame.
TEST_F(GeneratorsOfAClient, AreRefusedByTheModelsLoss) {
  const Model linear{{.input_shape = {1, 1, 1},
                      .outputs = 4,
                      .layers = {Flatten{}, Linear{1, 4}},
                      .loss = Loss::kSquaredError},
                     torch::kFloat64};
  LoneClient with_linear(
      linear, {torch::zeros({2, 1, 1, 1}, torch::kFloat64), torch::zeros({2}, torch::kInt64)}, compute);
  expect_refused(
      "the loss of this model is the squared error; allowed: a model whose loss is the cross-entropy of "
      "classes\n",
      [&] { generate({.generator = "noise"}, with_linear.client, 1); });
}

TEST_F(GeneratorsOfAClient, PrivateSetsAreDrawnFromWithRepetition) {
  const Generators config{.generator = "psg",
                          .psg_images_per_class = 2,
                          .psg_models = 2,
                          .psg_points = 3,
                          .psg_epochs = 0,
                          .psg_gradients = 5};
  const Batch drawn = generate(config, client, 400);
  EXPECT_EQ(numbers_of(drawn.targets), numbers_of(torch::arange(400).remainder(4)));
  for (std::int64_t label = 0; label < 4; ++label) {
    const std::vector<double> images = numbers_of(drawn.inputs.index({drawn.targets.eq(label)}));
    EXPECT_EQ(std::set<double>(images.begin(), images.end()).size(), 2U);
  }
  EXPECT_EQ(shard.accesses, std::vector<std::string>(30, "gradient"));
  EXPECT_EQ(observed.values().at("private-gradients").sum, 30);
}

// As of any other generator.
TEST_F(GeneratorsOfAClient, SmallPrivateSetsTogetherHaveAllClasses) {
  const Generators config{
      .generator = "psg", .psg_models = 1, .psg_points = 1, .psg_epochs = 0, .psg_gradients = 1};
  const torch::Tensor noise = generate({.generator = "noise"}, client, 2).targets;
  EXPECT_EQ(numbers_of(generate(config, client, 2).targets), numbers_of(noise));
  EXPECT_EQ(numbers_of(noise), numbers_of((torch::arange(2) + 2 * client.id).remainder(4)));
}

TEST_F(GeneratorsOfAClient, PrivateSetsAskForAsManyGradientsAsArePaidFor) {
  const Generators config{
      .generator = "psg", .psg_models = 2, .psg_points = 3, .psg_epochs = 0, .psg_gradients = 5};
  shard.paid_gradients = 13;
  EXPECT_EQ(generate(config, client, 6).size(), 6);
  EXPECT_EQ(shard.accesses, std::vector<std::string>(13, "gradient"));
  EXPECT_EQ(observed.values().at("private-gradients").sum, 13);
}

// Clients whose examples have two numbers, which lie around (0.2, 0.8) for class 0 and around (0.7, 0.3) for
// class 1; three quarters are of class 0.
class GeneratorsOfClusters : public ::testing::Test {
 protected:
  static Batch clusters() {
    Stream stream({.seed = 3});
    const torch::Tensor labels = torch::arange(400).remainder(4).eq(3).to(torch::kInt64);
    const torch::Tensor centres = torch::tensor({{0.2, 0.8}, {0.7, 0.3}}, torch::kFloat64);
    return {centres.index_select(0, labels) + 0.05 * normal(stream, {400, 2}), labels};
  }
  // Means of the images of each class that are drawn.
  std::vector<double> means(const Generators& config) {
    const Batch drawn = generate(config, client, 500);
    const auto mean = [&](std::int64_t label) {
      return drawn.inputs.index({drawn.targets.eq(label)}).mean(0);
    };
    return numbers_of(at::cat({mean(0), mean(1)}));
  }

  const Model model{{.input_shape = {2}, .outputs = 2, .layers = {Linear{2, 2}}}, torch::kFloat64};
  const PlainCompute compute{model};
  LoneClient lone{model, clusters(), compute};
  OpenShard& shard = lone.shard;
  Client& client = lone.client;
  Observations& observed = lone.observed;
  Generators merf{.generator = "dp-merf",
                  .noise_size = 5,
                  .generator_width = 32,
                  .merf_frequencies = 100,
                  .merf_length_scale = 0.5,
                  .merf_steps = 200,
                  .merf_batch_size = 40};
  Generators datalens{.generator = "datalens",
                      .noise_size = 5,
                      .generator_width = 32,
                      .generator_steps = 150,
                      .generator_batch_size = 20,
                      .generator_rate = 0.01,
                      .teachers = 10,
                      .top_k = 2,
                      .vote_threshold = 0.2};
};

TEST_F(GeneratorsOfClusters, MeanEmbeddingsWithoutNoiseGiveTheMeansOfClasses) {
  const std::vector<double> found = means(merf), wanted{0.2, 0.8, 0.7, 0.3};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 0.04);
  EXPECT_EQ(shard.accesses, std::vector<std::string>{"votes"});
  EXPECT_EQ(observed.values().at("votes").sum, 1);
}

TEST_F(GeneratorsOfClusters, MeanEmbeddingsAreNotAskedForWhereTheyAreNotPaidFor) {
  shard.paid_votes = 0;
  EXPECT_EQ(generate(merf, client, 3).size(), 3);
  EXPECT_TRUE(shard.accesses.empty());
  EXPECT_EQ(observed.values().at("votes").sum, 0);
}

TEST_F(GeneratorsOfClusters, TeachersMoveImagesToWhereTheExamplesOfTheirClassAre) {
  const std::vector<double> found = means(datalens);
  EXPECT_LT(found[0], 0.4);
  EXPECT_GT(found[1], 0.6);
  EXPECT_GT(found[2], 0.55);
  EXPECT_LT(found[3], 0.45);
}

TEST_F(GeneratorsOfClusters, TeachersVoteOnAsManyImagesAsTheBudgetPaysFor) {
  shard.paid_votes = 50;
  datalens.generator_steps = 0;
  generate(datalens, client, 0);
  EXPECT_EQ(shard.paid_votes, 0);
  EXPECT_EQ(shard.accesses.size(), 3U);  // 20 images, 20, 10
  EXPECT_EQ(observed.values().at("votes").sum, 50);
  EXPECT_EQ(observed.values().at("vote-crossings").count, 3);
}

TEST_F(GeneratorsOfClusters, TeachersWithoutAnEndAreRefused) {
  datalens.generator_steps = 0;
  expect_refused("set the algorithm's generator_steps", [&] { generate(datalens, client, 1); });
  EXPECT_TRUE(shard.accesses.empty());
}

TEST_F(GeneratorsOfClusters, ImagesAreInTheRangeOfPixelsAndTheSameAgain) {
  datalens.generator_steps = 2;
  const Model images{{.input_shape = {2, 1, 1}, .outputs = 2, .layers = {Flatten{}, Linear{2, 2}}},
                     torch::kFloat64};
  const Batch own{clusters().inputs.view({400, 2, 1, 1}), clusters().targets};
  const auto draw = [&] {
    LoneClient seeing(images, own, compute);
    seeing.client.pixel_range = torch::tensor({{-10.0, 50.0}, {-8.0, 90.0}}, torch::kFloat64);
    return generate(datalens, seeing.client, 9).inputs;
  };
  const torch::Tensor drawn = draw();
  EXPECT_EQ(drawn.sizes(), (torch::IntArrayRef{9, 2, 1, 1}));
  for (const auto& [channel, low, high] : {std::tuple{0, -10, -8}, std::tuple{1, 50, 90}}) {
    EXPECT_GT(drawn.select(1, channel).min().item<double>(), low);
    EXPECT_LT(drawn.select(1, channel).max().item<double>(), high);
  }
  EXPECT_TRUE(draw().equal(drawn));
}

TEST_F(GeneratorsOfClusters, ImagesDoNotDependOnWhichVotersAreAskedTogether) {
  datalens.generator_steps = 5;
  datalens.sign_scale = 1;  // or signs would hardly be drawn
  for (const Generators& config : {datalens, merf}) {
    const torch::Tensor together = generate(config, client, 20).inputs;
    LoneClient asked_in_blocks(model, clusters(), compute);
    asked_in_blocks.shard.block = 3;
    EXPECT_LT((generate(config, asked_in_blocks.client, 20).inputs - together).abs().max().item<double>(),
              1e-9);
  }
}

// One teacher as autograd sees it, after the same steps.
class TeacherByAutograd {
 public:
  explicit TeacherByAutograd(const generators::TeacherShape& shape)
      : shape_(shape),
        weights_(torch::zeros({shape.classes, shape.pixels}, torch::kFloat64).requires_grad_()),
        biases_(torch::zeros({shape.classes}, torch::kFloat64).requires_grad_()) {}

  void learn(const Batch& real, const Batch& generated) {
    const torch::Tensor loss = at::softplus(-outputs(real)).mean() + at::softplus(outputs(generated)).mean();
    const auto gradient = torch::autograd::grad({loss}, {weights_, biases_});
    const torch::NoGradGuard no_graph;
    weights_.mul_(1 - shape_.rate * shape_.decay).sub_(gradient[0], shape_.rate);
    biases_.mul_(1 - shape_.rate * shape_.decay).sub_(gradient[1], shape_.rate);
  }
  torch::Tensor slopes(const Batch& generated) const {
    const torch::Tensor pixels = generated.inputs.clone().requires_grad_();
    const torch::Tensor loss = at::softplus(-outputs({pixels, generated.targets})).mean();
    return -torch::autograd::grad({loss}, {pixels})[0];
  }
  const torch::Tensor& weights() const { return weights_; }
  const torch::Tensor& biases() const { return biases_; }

 private:
  torch::Tensor outputs(const Batch& batch) const {
    return (batch.inputs * weights_.index_select(0, batch.targets)).sum(1) +
           biases_.index_select(0, batch.targets);
  }

  generators::TeacherShape shape_;
  torch::Tensor weights_, biases_;
};

class TeachersOfImages : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(TeachersOfImages, LearnTogetherWhatEachLearnsAlone) {
  const generators::TeacherShape shape{.pixels = GetParam(), .classes = 3, .rate = 0.5, .decay = 0.3};
  Stream stream({.seed = 11});
  const auto images = [&](std::vector<std::int64_t> count) {
    const torch::Tensor classes = uniform(stream, count, 0, 3).to(torch::kInt64);
    count.push_back(shape.pixels);
    return Batch{normal(stream, count), classes};
  };
  generators::Teachers together(shape, 5, torch::kFloat64);
  std::vector<TeacherByAutograd> alone;
  for (int i = 0; i < 5; ++i) alone.emplace_back(shape);
  for (int step = 0; step < 4; ++step) {
    const Batch real = images({5, 6}), generated = images({5, 2}), asked = images({3});
    // What they remember goes by messages.
    together = generators::Teachers(shape, together.memory());
    together.learn(real, generated);
    const torch::Tensor slopes = together.slopes(asked);
    for (std::int64_t i = 0; i < 5; ++i) {
      TeacherByAutograd& one = alone[static_cast<std::size_t>(i)];
      one.learn({real.inputs[i], real.targets[i]}, {generated.inputs[i], generated.targets[i]});
      EXPECT_LT((together.weights()[i] - one.weights()).abs().max().item<double>(), 1e-10);
      EXPECT_LT((together.biases()[i] - one.biases()).abs().max().item<double>(), 1e-10);
      EXPECT_LT((slopes[i] - one.slopes(asked)).abs().max().item<double>(), 1e-10);
    }
  }
  EXPECT_GT(together.weights().abs().mean().item<double>(), 0.01);
}

// Fewer pixels than the lanes of a sum, and more than a chunk of it.
INSTANTIATE_TEST_SUITE_P(Sizes, TeachersOfImages, ::testing::Values(7, 1100),
                         ::testing::PrintToStringParamName());

TEST(Teachers, SayNothingOfClassesThatTheyHaveNotSeen) {
  const generators::TeacherShape shape{.pixels = 2, .classes = 3, .rate = 0.5, .decay = 0.3};
  generators::Teachers teachers(shape, 1, torch::kFloat64);
  const torch::Tensor labels = torch::tensor({{0, 2}}, torch::kInt64);
  teachers.learn({torch::ones({1, 2, 2}, torch::kFloat64), labels},
                 {torch::zeros({1, 2, 2}, torch::kFloat64), labels});
  const torch::Tensor slopes = teachers.slopes({torch::zeros({3, 2}, torch::kFloat64), torch::arange(3)})[0];
  EXPECT_GT(slopes[0].min().item<double>(), 0);
  EXPECT_EQ(slopes[1].abs().max().item<double>(), 0);
  EXPECT_GT(slopes[2].min().item<double>(), 0);
}

TEST(Teachers, DoNotPushPixelsOutOfTheirRange) {
  const torch::Tensor slopes = torch::tensor({{{-2.0, -2.0, 4.0, 4.0}}}, torch::kFloat64),
                      images = torch::tensor({{0.0, 0.5, 0.75, 1.0}}, torch::kFloat64);
  EXPECT_EQ(numbers_of(generators::within_range(slopes, images)), (std::vector<double>{0, -1, 1, 0}));
}

// Probabilities of +1 are 1/2 + g / 2b. Each frequency of 40,000 is within 5 standard errors, of which 3
// tests in ten million fail by chance.
TEST(SignVotes, AreOneWithAProbabilityLinearInTheSlope) {
  const std::int64_t images = 40'000;
  const torch::Tensor slope = torch::tensor({0.3, -0.1, 0.02, -0.5, 0.0}, torch::kFloat64);
  const auto positive = [&](double scale, std::int64_t k) {
    Stream stream({.seed = 21});
    const torch::Tensor signs = generators::top_signs(slope.expand({images, 5}).contiguous(), scale,
                                                      uniform(stream, {images, k}, 0, 1));
    EXPECT_TRUE(signs.abs().sum(1).eq(static_cast<double>(k)).all().item<bool>());
    return numbers_of(signs.mean(0));
  };
  const double error = 5 / std::sqrt(static_cast<double>(images));
  const std::vector<double> by_largest = positive(1, 3), by_scale = positive(0.2, 4);
  EXPECT_NEAR(by_largest[0], 0.3 / 0.5, error);
  EXPECT_NEAR(by_largest[1], -0.1 / 0.5, error);
  EXPECT_EQ(by_largest[2], 0);
  EXPECT_EQ(by_largest[3], -1);
  EXPECT_EQ(by_scale[0], 1);
  EXPECT_NEAR(by_scale[1], -0.1 / 0.2, error);
  EXPECT_NEAR(by_scale[2], 0.02 / 0.2, error);
  EXPECT_EQ(by_scale[3], -1);
}

TEST(SignVotes, AreCoinsWhereNothingHasASlope) {
  Stream stream({.seed = 22});
  const torch::Tensor signs = generators::top_signs(torch::zeros({10'000, 3}, torch::kFloat64), 1e-5,
                                                    uniform(stream, {10'000, 2}, 0, 1));
  EXPECT_NEAR(signs.sum().item<double>(), 0, 5 * std::sqrt(20'000.0));
}

// The published setting: 4000 teachers, threshold 0.7, noise of standard deviation 5000. Noise alone crosses
// with probability P(|N(0, 1)| > 0.56) = 0.575; 400,000 draws are within 5 standard errors.
TEST(SignVotes, NoiseAloneCrossesTheThresholdMoreOftenThanNot) {
  Stream stream({.seed = 23});
  const torch::Tensor noise = 5000 * normal(stream, {400'000});
  const torch::Tensor crossed = generators::crossings(noise, 4000, 0.7);
  const double expected = std::erfc(0.7 * 4000 / 5000 / std::sqrt(2.0));
  EXPECT_NEAR(expected, 0.575, 0.0006);
  EXPECT_NEAR(crossed.abs().mean().item<double>(), expected, 0.004);
  EXPECT_TRUE(crossed.eq(noise.sign()).logical_or(noise.abs().le(2800)).all().item<bool>());
  EXPECT_EQ(numbers_of(generators::crossings(torch::tensor({7.0, 7.5, -7.0, -7.5}), 10, 0.7)),
            (std::vector<double>{0, 1, 0, -1}));
}

}  // namespace
}  // namespace fedarena
