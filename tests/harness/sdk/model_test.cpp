#include "fedarena/model.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include "fedarena/base/error.hpp"

#include "harness/sdk/sendable.hpp"
#include "tests/harness/sdk/finite_differences.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

const Architecture kConvolutional{
    .input_shape = {3, 8, 6},
    .outputs = 10,
    .layers = {Conv2d{3, 16, 3, 1}, GroupNorm{16, 16}, Relu{}, AveragePool{2}, Flatten{}, Linear{192, 10}}};

TEST(Model, ShapesItsParameters) {
  const Model model(kConvolutional, torch::kFloat32);
  const Layout& layout = *model.layout();
  const std::vector<std::vector<std::int64_t>> expected{{16, 3, 3, 3}, {16}, {16}, {16}, {10, 192}, {10}};
  ASSERT_EQ(layout.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(layout[i].shape, expected[i]);
  EXPECT_EQ(layout.numel(), 432 + 16 + 32 + 1920 + 10);
  EXPECT_EQ(model.input_shape(5), (std::vector<std::int64_t>{5, 3, 8, 6}));
  EXPECT_EQ(model.num_classes(), 10);
}

TEST(Model, CountsWhatAForwardPassWrites) {
  const Model model(kConvolutional, torch::kFloat32);
  const std::int64_t wide = 16 * 8 * 6, pooled = 16 * 4 * 3;
  EXPECT_EQ(model.activations(), 3 * 8 * 6 + 3 * wide + pooled + pooled + 10);
}

TEST(Model, GivesOneRowAnExample) {
  const Model model(kConvolutional, torch::kFloat32);
  const Batch batch = random_batch(model, 7);
  const torch::Tensor outputs = model.forward(random_params(model), batch.inputs);
  EXPECT_EQ(outputs.sizes().vec(), (std::vector<std::int64_t>{7, 10}));
  EXPECT_EQ(model.losses(outputs, batch.targets).sizes().vec(), (std::vector<std::int64_t>{7}));
}

TEST(Model, RefusesLayersThatDoNotFit) {
  const auto build = [](std::vector<std::int64_t> shape, std::vector<Layer> layers) {
    return Model({.input_shape = std::move(shape), .outputs = 2, .layers = std::move(layers)},
                 torch::kFloat32);
  };
  EXPECT_THROW(build({4}, {Linear{3, 2}}), Bug);
  EXPECT_THROW(build({4}, {Linear{4, 3}}), Bug);        // three outputs, two wanted
  EXPECT_THROW(build({4}, {Conv2d{4, 2, 3, 1}}), Bug);  // no image
  EXPECT_THROW(build({3, 4, 4}, {Conv2d{1, 2, 3, 1}, Flatten{}, Linear{32, 2}}), Bug);
  EXPECT_THROW(build({3, 4, 4}, {GroupNorm{2, 3}, Flatten{}, Linear{48, 2}}), Bug);
  EXPECT_THROW(build({3, 4, 4}, {GroupNorm{2, 4}, Flatten{}, Linear{48, 2}}), Bug);
  EXPECT_THROW(build({3, 4, 4}, {Linear{48, 2}}), Bug);
  EXPECT_THROW(build({3, 4, 4}, {}), Bug);
  EXPECT_THROW(build({4}, {Fork{}, Linear{4, 2}}), Bug);          // never joined
  EXPECT_THROW(build({4}, {Linear{4, 2}, Join{}}), Bug);          // never forked
  EXPECT_THROW(build({4}, {Shortcut{}, Linear{4, 2}}), Bug);      // likewise
  EXPECT_THROW(build({4}, {Fork{}, Linear{4, 2}, Join{}}), Bug);  // two numbers and four
  EXPECT_THROW(build({3, 4, 4}, {Conv2d{3, 2, 3, 1, 0}, Flatten{}, Linear{32, 2}}), Bug);
  EXPECT_NO_THROW(build({3, 4, 4}, {Flatten{}, Linear{48, 2}}));
}

// x -> (x + A x + a) by one connection, B (x + A x + a) + b + C x + c by one around it.
TEST(Model, AddsWhatResidualConnectionsPassBy) {
  const Model model(
      {.input_shape = {2},
       .outputs = 1,
       .layers = {Fork{}, Fork{}, Linear{2, 2}, Join{}, Linear{2, 1}, Shortcut{}, Linear{2, 1}, Join{}}},
      torch::kFloat64);
  const Params at(
      model.layout(),
      torch::tensor({1., 2., 3., 4., 5., 6., /* B */ 7., 8., 9., /* C */ 10., 11., 12.}, torch::kFloat64));
  const torch::Tensor x = torch::tensor({{1., -2.}}, torch::kFloat64);
  // A x + a = (1 - 4 + 5, 3 - 8 + 6) = (2, 1); inner (3, -1); 21 - 8 + 9 + 10 - 22 + 12.
  EXPECT_EQ(model.forward(at, x).item<double>(), 22);
}

TEST(Model, HasConvolutionsThatStepOver) {
  const Model model({.input_shape = {1, 5, 4}, .outputs = 6, .layers = {Conv2d{1, 1, 3, 1, 2}, Flatten{}}},
                    torch::kFloat64);
  const Params at(model.layout(), torch::cat({torch::ones({9}, torch::kFloat64), torch::zeros({1})}));
  const torch::Tensor x = torch::arange(20, torch::kFloat64).view({1, 1, 5, 4});
  // Sums around the rows 0, 2, 4 and the columns 0, 2.
  EXPECT_TRUE(
      torch::equal(model.forward(at, x), torch::tensor({{10., 24., 51., 90., 58., 96.}}, torch::kFloat64)));
}

TEST(Model, RefusesParametersThatAreNotItsOwn) {
  const Model model({.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 2}}}, torch::kFloat32);
  const torch::Tensor inputs = torch::ones({2, 3});
  const auto refusal = [&](const Params& at) { return message_of([&] { (void)model.forward(at, inputs); }); };
  EXPECT_THAT(refusal(Params()), HasSubstr("with empty parameters"));
  const Model wider({.input_shape = {4}, .outputs = 2, .layers = {Linear{4, 2}}}, torch::kFloat32);
  EXPECT_THAT(
      refusal(Params::zeros(wider.layout(), wider.options())),
      HasSubstr("with parameters of another layout (10 numbers); allowed: parameters of the model's"));
  EXPECT_THAT(refusal(Params::zeros(model.layout(), torch::kFloat64)),
              HasSubstr("with parameters of type Double; allowed: Float, as the model"));
  // The tensor of Params can be given another shape or memory, beyond which kernels would read.
  const std::vector<std::function<void(torch::Tensor)>> changes = {
      [](torch::Tensor flat) { flat.set_(torch::zeros({1})); },
      [](torch::Tensor flat) { flat.unsqueeze_(0); }, [](torch::Tensor flat) { flat.as_strided_({8}, {0}); },
      [](torch::Tensor flat) { flat.set_(torch::zeros({9})); }};
  for (const auto& change : changes) {
    const Params at = Params::zeros(model.layout(), model.options());
    change(at.flat());
    EXPECT_THAT(refusal(at), HasSubstr("allowed: 8 numbers side by side"));
  }
}

// Of which devices a plugin may bring its own.
TEST(Model, RefusesParametersOnADeviceOfAPluginsOwn) {
  const auto flat = at::detail::make_tensor<c10::TensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), caffe2::TypeMeta::Make<float>(),
      c10::Device(c10::DeviceType::PrivateUse1, 0));
  EXPECT_THAT(unsendable(flat), StartsWith("lies on the device privateuseone:0"));
}

TEST(Model, HasTheParametersOfEmbeddingsAndCustomLayers) {
  const Custom bilinear{{{2, 3}, {2}},
                        [](const std::vector<torch::Tensor>& parameters, const torch::Tensor& inputs) {
                          return torch::addmm(parameters[1], inputs, parameters[0].t());
                        },
                        [](const Custom::Shape&) { return Custom::Shape{2}; }};
  const Model model(
      {.input_shape = {3}, .outputs = 2, .layers = {Embedding{7, 1}, Flatten{}, bilinear, BatchNorm{2}}},
      torch::kFloat64);
  const Layout& layout = *model.layout();
  ASSERT_EQ(layout.size(), 5U);
  EXPECT_EQ(layout[0].shape, (std::vector<std::int64_t>{7, 1}));
  EXPECT_EQ(layout[1].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(layout[3].shape, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(layout.numel(), 7 + 6 + 2 + 4);
  Stream stream({.seed = 3});
  const Params initial = model.initial(stream);
  EXPECT_GT(initial[1].abs().max().item<double>(), 0);
  EXPECT_LE(initial[1].abs().max().item<double>(), 1 / std::sqrt(3.0));
  EXPECT_TRUE(torch::equal(initial[2], torch::zeros({2}, torch::kFloat64)));
  EXPECT_TRUE(torch::equal(initial[3], torch::ones({2}, torch::kFloat64)));
}

TEST(Model, TakesIndicesOnlyFromTheData) {
  const auto build = [](std::vector<Layer> layers) {
    return Model({.input_shape = {2}, .outputs = 2, .layers = std::move(layers)}, torch::kFloat32);
  };
  EXPECT_NO_THROW(build({Embedding{5, 1}, Flatten{}}));
  EXPECT_THROW(build({Relu{}, Embedding{5, 1}, Flatten{}}), Bug);
  EXPECT_THROW(build({Embedding{(1 << 24) + 1, 1}, Flatten{}}), Bug);
}

TEST(InitialWeights, AreUniformWithinOneOverTheRootOfTheFanIn) {
  const Model model(kConvolutional, torch::kFloat64);
  Stream stream({.seed = 4});
  const Params weights = model.initial(stream);
  const std::vector<double> fan_in{27, 27, 0, 0, 192, 192};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (fan_in[i] == 0) continue;
    const double bound = 1 / std::sqrt(fan_in[i]);
    EXPECT_LE(weights[i].abs().max().item<double>(), bound);
    EXPECT_GE(weights[i].abs().max().item<double>(), 0.6 * bound);
  }
  EXPECT_TRUE(weights[2].eq(1).all().item<bool>());
  EXPECT_TRUE(weights[3].eq(0).all().item<bool>());
  // Mean and variance of 1,920 uniforms, each off by more than 4.9 standard errors with probability 1e-6.
  const torch::Tensor unit = weights[4].mul(std::sqrt(192.0));
  EXPECT_LE(std::abs(unit.mean().item<double>()), 4.9 * std::sqrt(1.0 / 3 / 1920));
  EXPECT_LE(std::abs(unit.square().mean().item<double>() - 1.0 / 3), 4.9 * std::sqrt(4.0 / 45 / 1920));
}

TEST(InitialWeights, AreAFunctionOfTheirStreamAlikeInBothTypes) {
  const Model wide(kConvolutional, torch::kFloat64), narrow(kConvolutional, torch::kFloat32);
  Stream first({.seed = 4}), second({.seed = 4}), third({.seed = 5});
  const Params drawn = wide.initial(first);
  const Params rounded = narrow.initial(second);
  EXPECT_EQ(rounded.flat().scalar_type(), torch::kFloat32);
  EXPECT_TRUE(torch::equal(drawn.flat().to(torch::kFloat32), rounded.flat()));
  EXPECT_FALSE(torch::equal(drawn.flat(), wide.initial(third).flat()));
}

TEST(Forward, IsWhatIsWrittenDown) {
  const Model model({.input_shape = {2}, .outputs = 2, .layers = {Linear{2, 2}, Relu{}}}, torch::kFloat64);
  const Params at(model.layout(), torch::tensor({1.0, 2.0, -3.0, 4.0, 0.5, -1.0}, torch::kFloat64));
  const torch::Tensor outputs = model.forward(at, torch::tensor({{1.0, -1.0}, {2.0, 3.0}}, torch::kFloat64));
  EXPECT_TRUE(torch::equal(outputs, torch::tensor({{0.0, 0.0}, {8.5, 5.0}}, torch::kFloat64)));
}

TEST(Forward, AveragesWindowsAndDropsTheRest) {
  const Model model({.input_shape = {1, 3, 5}, .outputs = 2, .layers = {AveragePool{2}, Flatten{}}},
                    torch::kFloat64);
  const Params none(model.layout(), torch::empty({0}, torch::kFloat64));
  const torch::Tensor outputs = model.forward(none, torch::arange(15, torch::kFloat64).view({1, 1, 3, 5}));
  EXPECT_TRUE(torch::equal(outputs, torch::tensor({{3.0, 5.0}}, torch::kFloat64)));
}

TEST(Forward, TakesTheLargestOfWindowsAndDropsTheRest) {
  const Model model({.input_shape = {1, 3, 5}, .outputs = 2, .layers = {MaxPool{2}, Flatten{}}},
                    torch::kFloat64);
  const Params none(model.layout(), torch::empty({0}, torch::kFloat64));
  const torch::Tensor inputs =
      torch::tensor({9, 1, -3, -8, 99, 4, 2, -5, -4, 99, 99, 99, 99, 99, 99}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(model.forward(none, inputs.view({1, 1, 3, 5})),
                           torch::tensor({{9.0, -3.0}}, torch::kFloat64)));
}

TEST(Forward, NormalisesEachGroupOfEachExample) {
  const Model model({.input_shape = {2, 1, 2}, .outputs = 4, .layers = {GroupNorm{2, 2, 0.0}, Flatten{}}},
                    torch::kFloat64);
  const Params at(model.layout(), torch::tensor({2.0, 1.0, 0.5, 0.0}, torch::kFloat64));  // scales, shifts
  const torch::Tensor outputs =
      model.forward(at, torch::tensor({1.0, 3.0, 10.0, 20.0}, torch::kFloat64).view({1, 2, 1, 2}));
  EXPECT_LE(largest_difference(outputs, torch::tensor({{-1.5, 2.5, -1.0, 1.0}}, torch::kFloat64)), 1e-12);
}

TEST(Forward, LooksUpTheRowsOfAnEmbedding) {
  const Model model({.input_shape = {2}, .outputs = 4, .layers = {Embedding{3, 2}, Flatten{}}},
                    torch::kFloat32);
  const Params at(model.layout(), torch::arange(6).to(torch::kFloat32));
  EXPECT_TRUE(torch::equal(model.forward(at, torch::tensor({{2.0F, 0.0F}, {1.0F, 1.0F}})),
                           torch::tensor({{4.0F, 5.0F, 0.0F, 1.0F}, {2.0F, 3.0F, 2.0F, 3.0F}})));
  for (const float wrong : {-1.0F, 3.0F, 0.5F, 1e30F, std::nanf("")}) {
    EXPECT_THROW(model.forward(at, torch::tensor({{0.0F, wrong}})), Error) << wrong;
  }
}

TEST(Forward, NormalisesEachChannelOverTheBatch) {
  const Model model({.input_shape = {2}, .outputs = 2, .layers = {BatchNorm{2, 0.0}}}, torch::kFloat64);
  const Params at(model.layout(), torch::tensor({2.0, 1.0, 0.5, 0.0}, torch::kFloat64));
  const torch::Tensor outputs = model.forward(at, torch::tensor({{1.0, 10.0}, {3.0, 20.0}}, torch::kFloat64));
  EXPECT_LE(largest_difference(outputs, torch::tensor({{-1.5, -1.0}, {2.5, 1.0}}, torch::kFloat64)), 1e-12);
}

TEST(Losses, OfCrossEntropyAreMinusTheLogProbability) {
  const Model model({.input_shape = {3}, .outputs = 3, .layers = {Linear{3, 3}}}, torch::kFloat64);
  const torch::Tensor outputs =
      torch::tensor({{0.0, 0.0, 0.0}, {1.0, 2.0, -1.0}, {900.0, 0.0, 0.0}}, torch::kFloat64);
  const torch::Tensor losses = model.losses(outputs, torch::tensor({1, 0, 1}));
  EXPECT_NEAR(losses[0].item<double>(), std::log(3.0), 1e-15);
  EXPECT_NEAR(losses[1].item<double>(), std::log(std::exp(1.0) + std::exp(2.0) + std::exp(-1.0)) - 1, 1e-15);
  EXPECT_NEAR(losses[2].item<double>(), 900, 1e-12);  // no overflow
}

TEST(Losses, OfSquaredErrorAreHalfTheSquaredDistance) {
  const Model model({.input_shape = {2}, .outputs = 2, .layers = {Linear{2, 2}}, .loss = Loss::kSquaredError},
                    torch::kFloat64);
  const torch::Tensor outputs = torch::tensor({{1.0, 2.0}, {0.0, -3.0}}, torch::kFloat64);
  const torch::Tensor regression = torch::tensor({{0.0, 2.0}, {1.0, 1.0}}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(model.losses(outputs, regression), torch::tensor({0.5, 8.5}, torch::kFloat64)));
  // Labels 1 and 0 are the targets (0, 1) and (1, 0).
  EXPECT_TRUE(
      torch::equal(model.losses(outputs, torch::tensor({1, 0})), torch::tensor({1.0, 5.0}, torch::kFloat64)));
}

TEST(Loss, IsTheMeanOverTheBatch) {
  const Model model(kConvolutional, torch::kFloat64);
  const Batch batch = random_batch(model, 5);
  const Params at = random_params(model);
  const torch::Tensor losses = model.losses(model.forward(at, batch.inputs), batch.targets);
  EXPECT_NEAR(model.loss(at, batch).item<double>(), losses.mean().item<double>(), 1e-14);
}

TEST(Batch, SelectsExamplesByPosition) {
  const Batch batch{torch::arange(6).view({3, 2}).to(torch::kFloat64), torch::tensor({7, 8, 9})};
  const Batch selected = batch.select(torch::tensor({2, 0, 2}));
  EXPECT_EQ(selected.size(), 3);
  EXPECT_TRUE(torch::equal(selected.targets, torch::tensor({9, 7, 9})));
  EXPECT_EQ(selected.inputs[0][1].item<double>(), 5);
}

}  // namespace
}  // namespace fedarena
