#include "harness/models/zoo.hpp"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/model.hpp"

#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {
namespace {

const ModelInput kZooGrey{.shape = {1, 28, 28}, .outputs = 10};
const ModelInput kZooColour{.shape = {3, 32, 32}, .outputs = 10};
const ModelInput kFeatures{.shape = {5}, .outputs = 3};
const ModelInput kRegression{.shape = {5}, .outputs = 2, .regression = true};

std::int64_t parameters(const std::string& name, const ModelInput& input, const Settings& settings = {}) {
  return Model(build_model(name, settings, input), torch::kFloat32).layout()->numel();
}

std::string refusal(const std::string& name, const ModelInput& input, const Settings& settings = {}) {
  try {
    build_model(name, settings, input);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Zoo, HasTheParameterCountsOfThePapers) {
  EXPECT_EQ(parameters("convnet", kZooGrey), 317'706);
  EXPECT_EQ(parameters("convnet", kZooColour), 320'010);
  EXPECT_EQ(parameters("niid-cnn", kZooGrey), 44'426);
  EXPECT_EQ(parameters("niid-cnn", kZooColour), 62'006);
  EXPECT_EQ(parameters("femnist-cnn", {.shape = {1, 28, 28}, .outputs = 62}), 1'206'590);
  EXPECT_EQ(parameters("femnist-cnn", kZooGrey), 1'199'882);  // of digits alone, as Reddi et al. have it
  EXPECT_EQ(parameters("mlp", kZooGrey), 199'210);
  EXPECT_EQ(parameters("logistic", kZooGrey), 7'850);
  EXPECT_EQ(parameters("linear", kRegression), 12);
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
  EXPECT_EQ(refusal("niid-cnn", {.shape = {1, 16, 16}, .outputs = 2}), "none");
  EXPECT_EQ(refusal("femnist-cnn", {.shape = {3, 5, 9}, .outputs = 2}),
            "the model \"femnist-cnn\" leaves nothing of images of 5x9 pixels; allowed: 6x6 or more\n  Use "
            "\"convnet\" with a smaller depth, or \"mlp\".");
  EXPECT_EQ(refusal("femnist-cnn", {.shape = {3, 6, 6}, .outputs = 2}), "none");
  EXPECT_EQ(refusal("convnet", kZooGrey, {{"depth", 6}}),
            "depth 6 pools 28x28 images away to nothing; allowed: depth <= 5");
  EXPECT_EQ(refusal("convnet", {.shape = {1, 8, 8}, .outputs = 2}, {{"depth", 4}}),
            "depth 4 pools 8x8 images away to nothing; allowed: depth <= 3");
  EXPECT_EQ(refusal("convnet", kZooGrey, {{"depth", 5}, {"width", 2}}), "none");
  EXPECT_THAT(refusal("convnet", kZooGrey, {{"norm", "batch"}}), ::testing::HasSubstr("\"instance\""));
  EXPECT_THAT(refusal("mlp", kZooGrey, {{"hidden", std::vector<std::int64_t>{0}}}),
              ::testing::HasSubstr("hidden"));
  EXPECT_THAT(refusal("logistic", kZooGrey, {{"width", 3}}), ::testing::HasSubstr("width"));
}

TEST(Zoo, SuggestsTheNearestName) {
  EXPECT_THAT(refusal("convnets", kZooGrey),
              ::testing::StartsWith("unknown model \"convnets\"; allowed: convnet"));
  EXPECT_THAT(refusal("convnets", kZooGrey), ::testing::EndsWith("; did you mean \"convnet\"?"));
}

}  // namespace
}  // namespace fedarena
