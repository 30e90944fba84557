// What clients draw images from in place of their own.
#include "fedarena/generators.hpp"

#include <set>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/harness/sdk/open_shard.hpp"

namespace fedarena {
namespace {

// A client with examples 0 to 5 of one pixel, of classes 3, 0, 3, 0, 3, 0 out of four.
class GeneratorsOfAClient : public ::testing::Test {
 protected:
  const Model model{{.input_shape = {1, 1, 1}, .outputs = 4, .layers = {Flatten{}, Linear{1, 4}}},
                    torch::kFloat64};
  OpenShard shard{model,
                  {torch::arange(6, torch::kFloat64).view({6, 1, 1, 1}),
                   torch::tensor({3, 0, 3, 0, 3, 0}, torch::kInt64)}};
  const NoCompute compute;
  Message state;
  Observations observed;
  Client client{.id = 0,
                .round = 1,
                .rounds = 1,
                .oracle = shard,
                .state = state,
                .model = model,
                .compute = compute,
                .streams = Streams(5, 1, 0).for_algorithm(),
                .observed = observed};
};

std::vector<double> doubles(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.to(torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

TEST_F(GeneratorsOfAClient, NoiseIsStandardNormalOfAllClassesInTurn) {
  const Batch drawn = generate({.generator = "noise"}, client, 10'001);
  EXPECT_EQ(drawn.inputs.sizes(), (torch::IntArrayRef{10'001, 1, 1, 1}));
  EXPECT_NEAR(drawn.inputs.mean().item<double>(), 0, 0.05);  // 5 standard errors
  EXPECT_NEAR(drawn.inputs.std().item<double>(), 1, 0.04);   // 5.6 standard errors
  EXPECT_EQ(doubles(drawn.targets.narrow(0, 0, 6)), (std::vector<double>{0, 1, 2, 3, 0, 1}));
  EXPECT_TRUE(shard.accesses.empty());
}

TEST_F(GeneratorsOfAClient, RealExamplesComeAllBeforeAnyComesAgain) {
  const Batch drawn = generate({.generator = "real"}, client, 15);
  const std::vector<double> images = doubles(drawn.inputs), labels = doubles(drawn.targets);
  ASSERT_EQ(images.size(), 15U);
  for (std::size_t first : {0U, 6U}) {
    EXPECT_EQ(std::set<double>(images.begin() + first, images.begin() + first + 6),
              (std::set<double>{0, 1, 2, 3, 4, 5}));
  }
  EXPECT_EQ(std::set<double>(images.begin() + 12, images.end()).size(), 3U);
  for (std::size_t i = 0; i < images.size(); ++i)
    EXPECT_EQ(labels[i], static_cast<int>(images[i]) % 2 == 0 ? 3 : 0);
  EXPECT_NE(images, doubles(torch::arange(15).remainder(6)));
  EXPECT_EQ(shard.accesses, std::vector<std::string>{"examples"});
}

TEST_F(GeneratorsOfAClient, RealIsNothingWhereThereIsNothing) {
  OpenShard empty(model, {torch::zeros({0, 1, 1, 1}, torch::kFloat64), torch::zeros({0}, torch::kInt64)});
  Client poor{.id = 0,
              .round = 1,
              .rounds = 1,
              .oracle = empty,
              .state = state,
              .model = model,
              .compute = compute,
              .streams = client.streams,
              .observed = observed};
  EXPECT_EQ(generate({.generator = "real"}, poor, 3).size(), 0);
}

}  // namespace
}  // namespace fedarena
