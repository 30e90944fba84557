#include "harness/models/zoo.hpp"

#include <set>
#include <string>
#include <vector>

#include "fedarena/model.hpp"

#include "harness/models/operations.hpp"
#include "harness/models/parameter_names.hpp"
#include "results/audit/expected_inputs.hpp"
#include "tests/harness/sdk/finite_differences.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

const ModelInput kGrey{.shape = {1, 28, 28}, .outputs = 10};
const ModelInput kColour{.shape = {3, 32, 32}, .outputs = 10};
const ModelInput kFeatures{.shape = {5}, .outputs = 3};
const ModelInput kRegression{.shape = {5}, .outputs = 2, .regression = true};

std::int64_t parameters(const std::string& name, const ModelInput& input, const Settings& settings = {}) {
  return Model(build_model(name, settings, input), torch::kFloat32).layout()->numel();
}

std::string refusal(const std::string& name, const ModelInput& input, const Settings& settings = {}) {
  return message_of([&] { build_model(name, settings, input); });
}

TEST(Zoo, HasTheParameterCountsOfThePapers) {
  EXPECT_EQ(parameters("convnet", kGrey), 317'706);
  EXPECT_EQ(parameters("convnet", kColour), 320'010);
  EXPECT_EQ(parameters("niid-cnn", kGrey), 44'426);
  EXPECT_EQ(parameters("niid-cnn", kColour), 62'006);
  EXPECT_EQ(parameters("femnist-cnn", {.shape = {1, 28, 28}, .outputs = 62}), 1'206'590);
  EXPECT_EQ(parameters("femnist-cnn", kGrey), 1'199'882);  // of digits alone, as Reddi et al. have it
  // 11,173,962 and 272,474 are known of ResNet-18 and ResNet-20 with projections, without convolutions'
  // biases.
  EXPECT_EQ(parameters("resnet", kColour), 11'173'962 + 4'800);
  EXPECT_EQ(parameters("resnet", kColour, {{"stages", 3}, {"blocks", 3}, {"width", 16}, {"groups", 8}}),
            272'474 + 784);
  EXPECT_EQ(parameters("dlg-lenet", kGrey), 13'426);
  EXPECT_EQ(parameters("dlg-lenet", kColour), 15'826);
  EXPECT_EQ(parameters("mlp", kGrey), 199'210);
  EXPECT_EQ(parameters("logistic", kGrey), 7'850);
  EXPECT_EQ(parameters("linear", kRegression), 12);
  EXPECT_EQ(parameters("linear", kRegression, {{"bias", false}}), 10);
  EXPECT_EQ(parameters("mlp", {.shape = {3}, .outputs = 1, .regression = true},
                       {{"hidden", std::vector<std::int64_t>{2}}}),
            11);  // of hospital charges, Galli et al. 2022
}

// As the state_dict of a torch.nn.Sequential of the layers has it.
TEST(Zoo, NamesEveryTensor) {
  const auto names = [](const std::string& name, const ModelInput& input, const Settings& settings = {}) {
    const Architecture architecture = build_model(name, settings, input);
    std::vector<std::string> all = parameter_names(architecture);
    EXPECT_EQ(all.size(), Model(architecture, torch::kFloat32).layout()->size()) << name;
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size()) << name;
    return all;
  };
  EXPECT_THAT(names("mlp", kGrey),
              ElementsAre("1.weight", "1.bias", "3.weight", "3.bias", "5.weight", "5.bias"));
  EXPECT_THAT(names("linear", kRegression, {{"bias", false}}), ElementsAre("1.weight"));
  EXPECT_THAT(names("dlg-lenet", kGrey), ElementsAre("0.weight", "1.weight", "2.weight", "4.0", "4.1"));
  for (const ModelInfo& model : model_zoo()) names(model.name, kColour);
}

// What counts the releases of a message without any model; a new one needs its line there.
TEST(Zoo, HasAsManyTensorsAsTheAuditOfResultsTakesThemToHave) {
  using Hidden = std::vector<std::int64_t>;
  const std::vector<Settings> variants = {
      {},
      {{"bias", false}},
      {{"hidden", Hidden{}}},
      {{"hidden", Hidden{7}}},
      {{"depth", std::int64_t{2}}},
      {{"norm", std::string("none")}},
      {{"stages", std::int64_t{1}}},
      {{"blocks", std::int64_t{1}}},
      {{"layers", std::string("flatten\n linear 3,\r\nrelu,group-norm\t3")}},
      {{"norm", std::string("layer")}}};
  for (const ModelInfo& info : model_zoo()) {
    for (const Settings& settings : variants) {
      if (!settings.empty() && find_field(info.fields, settings.front().first) == nullptr) continue;
      results::ResolvedSettings written{.texts = {{"model.name", info.name}}};
      for (const auto& [name, value] : complete(info.fields, settings)) {
        const auto* text = std::get_if<std::string>(&value);
        written.texts["model." + name] = text != nullptr ? *text : to_text(value);
      }
      const Model model(build_model(info.name, settings, kGrey), torch::kFloat32);
      EXPECT_EQ(results::expected_tensors(written), static_cast<std::int64_t>(model.layout()->size()))
          << info.name;
    }
  }
}

TEST(Zoo, DescribesItsModels) {
  std::set<std::string> names;
  for (const ModelInfo& info : model_zoo()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.summary.empty()) << info.name;
    for (const Field& field : info.fields) EXPECT_FALSE(field.doc.empty()) << info.name << "." << field.name;
  }
  EXPECT_THAT(names,
              ::testing::IsSupersetOf({"convnet", "femnist-cnn", "linear", "logistic", "mlp", "niid-cnn"}));
}

TEST(Zoo, FollowsTheSettings) {
  // Blocks of 3x3 convolutions with bias and normalisation on 8x8 images, then an affine map of what is left.
  const ModelInput small{.shape = {2, 8, 8}, .outputs = 5};
  EXPECT_EQ(parameters("convnet", small, {{"depth", 1}, {"width", 4}}), 4 * 18 + 4 + 8 + 5 * (4 * 16) + 5);
  EXPECT_EQ(parameters("convnet", small, {{"depth", 3}, {"width", 4}}),
            (4 * 18 + 4 + 8) + 2 * (4 * 36 + 4 + 8) + 5 * 4 + 5);
  EXPECT_EQ(parameters("convnet", small, {{"depth", 1}, {"width", 4}, {"norm", "none"}}),
            4 * 18 + 4 + 5 * (4 * 16) + 5);
  EXPECT_EQ(parameters("convnet", small, {{"depth", 1}, {"width", 4}, {"norm", "layer"}}),
            4 * 18 + 4 + 8 + 5 * (4 * 16) + 5);
  EXPECT_EQ(parameters("mlp", kFeatures, {{"hidden", std::vector<std::int64_t>{7, 2}}}),
            6 * 7 + 8 * 2 + 3 * 3);
  EXPECT_EQ(parameters("mlp", kFeatures, {{"hidden", std::vector<std::int64_t>{}}}), 6 * 3);
}

TEST(Zoo, HasALinearMapWithoutBias) {
  const Architecture map = build_model("linear", {{"bias", false}}, kRegression);
  const Model model(map, torch::kFloat64);
  Stream stream({.seed = 3});
  const Params weights = model.initial(stream);
  const auto inputs = torch::arange(10, torch::kFloat64).view({2, 5});
  EXPECT_TRUE(torch::allclose(model.forward(weights, inputs), inputs.matmul(weights[0].t())));
  EXPECT_EQ(model.forward(weights, torch::zeros({1, 5}, torch::kFloat64)).abs().max().item<double>(), 0);
  EXPECT_LE(weights[0].abs().max().item<double>(), 1 / std::sqrt(5.0)) << "as the affine map's";
  expect_true_gradient(map);
  expect_true_gradient(build_model("linear", {{"bias", false}}, kFeatures));
}

TEST(Zoo, StartsTheNetworkOfDlgUniformWithinAHalf) {
  const Model model(build_model("dlg-lenet", {}, kGrey), torch::kFloat64);
  Stream stream({.seed = 3});
  const Params weights = model.initial(stream);
  for (std::size_t index = 0; index + 1 < weights.size(); ++index) {
    EXPECT_LE(weights[index].abs().max().item<double>(), 0.5);
    EXPECT_GE(weights[index].abs().max().item<double>(), 0.48);
  }
  EXPECT_EQ(weights[weights.size() - 1].abs().max().item<double>(), 0);
  expect_true_gradient(build_model("dlg-lenet", {}, {.shape = {1, 5, 6}, .outputs = 2}));
}

TEST(Zoo, NormalisesAsItIsTold) {
  const auto groups = [](const std::string& norm) {
    const ModelInput small{.shape = {2, 8, 8}, .outputs = 5};
    std::vector<std::int64_t> found;
    for (const Layer& layer :
         build_model("convnet", {{"width", 6}, {"depth", 2}, {"norm", norm}}, small).layers) {
      if (const auto* group_norm = std::get_if<GroupNorm>(&layer)) found.push_back(group_norm->groups);
    }
    return found;
  };
  EXPECT_EQ(groups("instance"), (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(groups("layer"), (std::vector<std::int64_t>{1, 1}));
  EXPECT_TRUE(groups("none").empty());
}

TEST(Zoo, GradientsAgreeWithFiniteDifferences) {
  const ModelInput image{.shape = {1, 6, 6}, .outputs = 3};
  expect_true_gradient(build_model("logistic", {}, kFeatures));
  expect_true_gradient(build_model("logistic", {}, image));
  expect_true_gradient(build_model("linear", {}, kRegression));
  expect_true_gradient(build_model("mlp", {{"hidden", std::vector<std::int64_t>{6, 4}}}, kFeatures));
  expect_true_gradient(build_model("mlp", {{"hidden", std::vector<std::int64_t>{6, 4}}}, kRegression));
  for (const std::string norm : {"instance", "layer", "none"}) {
    expect_true_gradient(build_model("convnet", {{"depth", 2}, {"width", 3}, {"norm", norm}}, image));
  }
  expect_true_gradient(
      build_model("resnet", {{"stages", 2}, {"blocks", 2}, {"width", 2}, {"groups", 1}}, image));
}

std::string sequence_refusal(const std::string& layers, const ModelInput& input = kGrey) {
  return refusal("sequence", input, {{"layers", layers}});
}

TEST(Zoo, ReadsSequencesOfLayers) {
  const std::string block =
      "fork\n conv 4 3 1 2, group-norm 2, relu\r\n conv 4 3 1, shortcut, conv 4 1 0 2, join";
  const ModelInput image{.shape = {2, 6, 6}, .outputs = 3};
  const std::string own =
      "conv 5 3 1, relu, max-pool 2,, " + block + ", relu, average-pool 2, flatten, linear 7";
  EXPECT_EQ(parameters("sequence", {.shape = {2, 9, 8}, .outputs = 3}, {{"layers", own}}),
            (90 + 5) + (180 + 4 + 8 + 144 + 4 + 20 + 4) + (4 * 7 + 7) + (7 * 3 + 3));
  expect_true_gradient(build_model("sequence", {{"layers", block}}, image));
  // Of NIID-Bench, written down.
  const std::string niid =
      "conv 6 5, relu, max-pool 2, conv 16 5, relu, max-pool 2, flatten, linear 120, relu, linear 84, relu";
  EXPECT_EQ(parameters("sequence", kColour, {{"layers", niid}}), 62'006);
  EXPECT_EQ(parameters("sequence", kRegression, {{"layers", ""}}), 12);
  const Architecture regression = build_model("sequence", {{"layers", "linear 3, relu"}}, kRegression);
  EXPECT_EQ(regression.loss, Loss::kSquaredError);
  expect_true_gradient(regression);
}

TEST(Zoo, RefusesSequencesThatDoNotFit) {
  EXPECT_EQ(sequence_refusal("relu, cov 3 3"),
            "layer 2, \"cov 3 3\", is not a kind of layer; allowed: conv, group-norm, relu, average-pool, "
            "max-pool, "
            "flatten, linear, fork, shortcut, join; did you mean \"conv\"?");
  EXPECT_EQ(sequence_refusal("conv 3"),
            "layer 1, \"conv 3\", has 1 number; allowed: conv CHANNELS KERNEL [PADDING [STRIDE]]");
  EXPECT_EQ(sequence_refusal("conv 3 3 1 0"),
            "layer 1, \"conv 3 3 1 0\", has 0 for a number; allowed: at least 1");
  EXPECT_THAT(sequence_refusal("linear 1e3"),
              HasSubstr("has \"1e3\" for a number; allowed: whole numbers from 1"));
  EXPECT_THAT(sequence_refusal("conv 3 3 3"), HasSubstr("pads by its kernel or more"));
  EXPECT_EQ(sequence_refusal("relu\nlinear 3"),
            "layer 2, \"linear 3\", gets 1 channel of 28x28; allowed: features\n  put flatten before it");
  EXPECT_EQ(sequence_refusal("conv 3 3", kFeatures),
            "layer 1, \"conv 3 3\", gets 5 features; allowed: channels of maps");
  EXPECT_THAT(sequence_refusal("conv 3 29"), HasSubstr("leaves nothing of 1 channel of 28x28"));
  EXPECT_THAT(sequence_refusal("max-pool 29"), HasSubstr("leaves nothing of 1 channel of 28x28"));
  EXPECT_EQ(sequence_refusal("conv 6 3, group-norm 4"),
            "layer 2, \"group-norm 4\", does not divide 6 channels of 26x26; allowed: groups that divide 6");
  EXPECT_THAT(sequence_refusal("fork, conv 2 3 1, join"),
              HasSubstr("adds 2 channels of 28x28 to 1 channel of 28x28"));
  EXPECT_THAT(sequence_refusal("shortcut"), HasSubstr("has no fork before it"));
  EXPECT_THAT(sequence_refusal("fork, relu"), HasSubstr("\"the end\", comes before the join of a fork"));
  EXPECT_THAT(sequence_refusal("conv 100000 28, conv 100000 1"), HasSubstr("more than 10^10 numbers"));
  std::string many;
  for (int layer = 0; layer <= 1000; ++layer) many += "relu,";
  EXPECT_THAT(sequence_refusal(many),
              HasSubstr("layer 1001, \"relu\", is one too many; allowed: at most 1000 layers"));
}

TEST(Zoo, FitsLabelsWithLeastSquares) {
  const Model model(build_model("linear", {}, kFeatures), torch::kFloat64);
  const Batch numbers = random_batch(model, 4);
  const Batch labels{numbers.inputs, torch::tensor({2, 0, 1, 2})};
  const Batch one_hot{numbers.inputs, torch::one_hot(labels.targets, 3).to(torch::kFloat64)};
  const Params at = random_params(model);
  EXPECT_EQ(model.loss(at, labels).item<double>(), model.loss(at, one_hot).item<double>());
}

TEST(Zoo, RefusesWhatDoesNotFit) {
  for (const std::string name : {"convnet", "femnist-cnn", "niid-cnn", "logistic"}) {
    EXPECT_EQ(refusal(name, kRegression),
              "the model \"" + name +
                  "\" classifies, but the data set is a regression\n  Use the model "
                  "\"linear\" or \"mlp\", or a data set with classes.");
  }
  for (const std::string name : {"convnet", "femnist-cnn", "niid-cnn"}) {
    EXPECT_EQ(refusal(name, kFeatures), "the model \"" + name +
                                            "\" needs images, but the examples are plain feature vectors\n  "
                                            "Use \"mlp\", \"logistic\" or \"linear\".");
  }
  EXPECT_EQ(refusal("niid-cnn", {.shape = {1, 28, 15}, .outputs = 2}),
            "the model \"niid-cnn\" leaves nothing of images of 28x15 pixels; allowed: 16x16 or more\n  Use "
            "\"convnet\" with a smaller depth, or \"mlp\".");
  EXPECT_NO_THROW(build_model("niid-cnn", {}, {.shape = {1, 16, 16}, .outputs = 2}));
  EXPECT_EQ(refusal("femnist-cnn", {.shape = {3, 5, 9}, .outputs = 2}),
            "the model \"femnist-cnn\" leaves nothing of images of 5x9 pixels; allowed: 6x6 or more\n  Use "
            "\"convnet\" with a smaller depth, or \"mlp\".");
  EXPECT_NO_THROW(build_model("femnist-cnn", {}, {.shape = {3, 6, 6}, .outputs = 2}));
  EXPECT_EQ(refusal("convnet", kGrey, {{"depth", 6}}),
            "depth 6 pools 28x28 images away to nothing; allowed: depth <= 5");
  EXPECT_EQ(refusal("convnet", {.shape = {1, 8, 8}, .outputs = 2}, {{"depth", 4}}),
            "depth 4 pools 8x8 images away to nothing; allowed: depth <= 3");
  EXPECT_EQ(refusal("convnet", {.shape = {1, 1, 4}, .outputs = 2}, {{"depth", 1}}),
            "depth 1 pools 1x4 images away to nothing; allowed: larger images\n  Use \"mlp\"");
  EXPECT_EQ(refusal("convnet", kGrey, {{"norm", "group"}, {"width", 12}}),
            "groups is 8 and width is 12; allowed: groups that divide the width");
  EXPECT_THAT(refusal("convnet", kGrey, {{"groups", 4}}), HasSubstr("the norm \"group\" alone reads it"));
  EXPECT_NO_THROW(build_model("convnet", {{"norm", "group"}, {"groups", 4}, {"width", 12}}, kGrey));
  EXPECT_NO_THROW(build_model("convnet", {{"depth", 5}, {"width", 2}}, kGrey));
  EXPECT_EQ(refusal("resnet", kGrey, {{"width", 16}}),
            "groups is 32 and width is 16; allowed: groups that divide the width");
  EXPECT_NO_THROW(build_model("resnet", {{"width", 2}, {"groups", 2}}, {.shape = {1, 9, 9}, .outputs = 2}));
  EXPECT_EQ(refusal("resnet", {.shape = {1, 8, 12}, .outputs = 2}),
            "the model \"resnet\" pools over square maps, and images are 8x12\n  Scale or cut them to "
            "squares, or use "
            "\"convnet\" or \"sequence\".");
  EXPECT_THAT(refusal("convnet", kGrey, {{"norm", "batch"}}), HasSubstr("\"instance\""));
  EXPECT_THAT(refusal("mlp", kGrey, {{"hidden", std::vector<std::int64_t>{0}}}), HasSubstr("hidden"));
  EXPECT_THAT(refusal("logistic", kGrey, {{"width", 3}}), HasSubstr("width"));
}

TEST(Zoo, SuggestsTheNearestName) {
  EXPECT_THAT(refusal("convnets", kGrey), StartsWith("unknown model \"convnets\"; allowed: convnet"));
  EXPECT_THAT(refusal("convnets", kGrey), EndsWith("; did you mean \"convnet\"?"));
}

// Operations against sums by hand: 2 x kernel^2 x channels in x channels out x positions of a convolution, 2
// x in x out of an affine map; a gradient costs twice that in the first layer and three times in the others,
// a gradient in the inputs of a function of the gradient five and seven times.

void expect_operations(const Architecture& architecture, std::int64_t first, std::int64_t others) {
  const Operations counted = count_operations(Model(architecture, torch::kFloat32));
  EXPECT_EQ(counted.forward, first + others);
  EXPECT_EQ(counted.gradient, 2 * first + 3 * others);
  EXPECT_EQ(counted.input_gradient, 5 * first + 7 * others);
}

TEST(Operations, AreThoseOfTheZooByHand) {
  expect_operations(build_model("logistic", {}, kGrey), 15'680, 0);  // 2 x 784 x 10
  // 784 x 200, then 200 x 200 and 200 x 10.
  expect_operations(build_model("mlp", {}, kGrey), 313'600, 80'000 + 4'000);
  // 3x3 from 1 to 128 channels at 32x32 positions (the padding is 3), from 128 to 128 at 16x16 and 8x8, then
  // 128 x 4 x 4 features.
  expect_operations(build_model("convnet", {}, kGrey), 2'359'296, 75'497'472 + 18'874'368 + 40'960);
  expect_operations(build_model("convnet", {}, kColour), 7'077'888, 75'497'472 + 18'874'368 + 40'960);
  // 5x5 from 1 to 6 channels at 24x24 positions, from 6 to 16 at 8x8, then 256 x 120, 120 x 84, 84 x 10.
  expect_operations(build_model("niid-cnn", {}, kGrey), 172'800, 307'200 + 61'440 + 20'160 + 1'680);
  // 3x3 from 3 to 64 channels at 32x32 positions, four from 64 to 64; then thrice, each at a quarter of the
  // positions: from half of the channels, three of all, and the projection by 1x1; 512 x 10.
  const std::int64_t stage = std::int64_t{2} * 1024 * 9 * 64 * 64;
  expect_operations(build_model("resnet", {}, kColour), std::int64_t{2} * 1024 * 27 * 64,
                    4 * stage + 3 * (stage / 2 + 3 * stage + stage / 18) + 2 * 512 * 10);
  // 3x3 from 1 to 32 channels at 26x26 positions, from 32 to 64 at 24x24, then 9,216 x 128, 128 x 10.
  expect_operations(build_model("femnist-cnn", {}, kGrey), 389'376, 21'233'664 + 2'359'296 + 2'560);
}

// One multiplication and one addition for every weight at every position, biases taking the place of the
// additions that sums lack: counted as the loops would run.
TEST(Operations, AreTheStepsOfPlainLoops) {
  const Conv2d layer{3, 4, 3, 1};
  std::int64_t steps = 0;
  for (int out = 0; out < 4; ++out) {
    for (int position = 0; position < 5 * 7; ++position) {
      std::int64_t multiplications = 0, additions = 0;
      for (int term = 0; term < 3 * 3 * 3; ++term) {
        ++multiplications;
        additions += term > 0;
      }
      steps += multiplications + additions + 1;  // the bias
    }
  }
  const Architecture architecture{
      .input_shape = {3, 5, 7}, .outputs = 140, .layers = {layer, Relu{}, Flatten{}}};
  EXPECT_EQ(count_operations(Model(architecture, torch::kFloat32)).forward, steps);
}

// Where something is learnt before a layer, the gradient goes on through its inputs.
TEST(Operations, CountInputsThatAGradientMustPass) {
  const std::int64_t affine = 2 * 12 * 5;
  const auto gradient = [](std::vector<std::int64_t> shape, std::vector<Layer> layers) {
    return count_operations(
               Model({.input_shape = std::move(shape), .outputs = 5, .layers = std::move(layers)},
                     torch::kFloat32))
        .gradient;
  };
  EXPECT_EQ(gradient({3, 2, 2}, {Relu{}, Flatten{}, Linear{12, 5}}), 2 * affine);
  EXPECT_EQ(gradient({3, 2, 2}, {GroupNorm{1, 3}, Flatten{}, Linear{12, 5}}), 3 * affine);
  EXPECT_EQ(gradient({4}, {Embedding{7, 3}, Flatten{}, Linear{12, 5}}), 3 * affine);
  EXPECT_EQ(gradient({3, 5, 4}, {AveragePool{2}, MaxPool{1}, Flatten{}, Linear{12, 5}}), 2 * affine);
}

}  // namespace
}  // namespace fedarena
