// What methods share whose clients send synthetic images.
#include "fedarena/synthetic_sets.hpp"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/class_batches.hpp"
#include "fedarena/set_descent.hpp"

#include "tests/harness/sdk/numbers_of.hpp"
#include "tests/harness/sdk/open_shard.hpp"

namespace fedarena {
namespace {

// A client with examples 0, 1, 2, ... of one pixel, of classes 3, 0, 3, 0, 3 out of four.
class SyntheticSetsOfAClient : public ::testing::Test {
 protected:
  Message encoded(const char* encoding, const torch::Tensor& pixels) {
    SyntheticSets config;
    config.image_encoding = encoding;
    return encode_set(config, client, {pixels, torch::arange(pixels.size(0))});
  }

  const Model model{{.input_shape = {1, 1, 1}, .outputs = 4, .layers = {Flatten{}, Linear{1, 4}}},
                    torch::kFloat64};
  const NoCompute compute;
  LoneClient lone{
      model,
      {torch::arange(5, torch::kFloat64).view({5, 1, 1, 1}), torch::tensor({3, 0, 3, 0, 3}, torch::kInt64)},
      compute,
      Streams(5, 1, 0)};
  OpenShard& shard = lone.shard;
  Client& client = lone.client;
  Observations& observed = lone.observed;
};

TEST_F(SyntheticSetsOfAClient, HaveAsManyImagesOfEachClass) {
  SyntheticSets config;
  config.images_per_class = 2;
  EXPECT_EQ(numbers_of(balanced_labels(config, client)), (std::vector<double>{0, 0, 3, 3}));
  EXPECT_EQ(shard.accesses, std::vector<std::string>{"classes"});
  config.classes = "all";
  EXPECT_EQ(numbers_of(balanced_labels(config, client)), (std::vector<double>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(shard.accesses.size(), 1U);
}

TEST_F(SyntheticSetsOfAClient, StartAsDifferentExamplesOfTheirClassAndNoiseWhereThereAreTooFew) {
  SyntheticSets config;
  config.images_per_class = 3;
  const Batch set = initial_set(config, client);
  const std::vector<double> images = numbers_of(set.inputs);
  EXPECT_EQ(std::set<double>(images.begin(), images.begin() + 2), (std::set<double>{1, 3}));
  EXPECT_NE(images[2], std::round(images[2]));  // the third of class 0
  EXPECT_EQ(std::set<double>(images.begin() + 3, images.end()), (std::set<double>{0, 2, 4}));
}

TEST_F(SyntheticSetsOfAClient, StartAsNoiseWithoutALookAtTheExamples) {
  SyntheticSets config;
  config.classes = "all";
  config.image_init = "noise";
  EXPECT_EQ(initial_set(config, client).inputs.sizes(), (torch::IntArrayRef{200, 1, 1, 1}));
  EXPECT_TRUE(shard.accesses.empty());
}

TEST_F(SyntheticSetsOfAClient, SurviveTheirEncoding) {
  const torch::Tensor pixels = torch::linspace(-1, 4.1, 1000, torch::kFloat64).view({1000, 1, 1, 1});
  const Batch exact = decode_set(encoded("float32", pixels), torch::kFloat64);
  EXPECT_EQ(numbers_of(exact.inputs), numbers_of(pixels));
  EXPECT_EQ(numbers_of(exact.targets), numbers_of(torch::arange(1000)));

  const Message small = encoded("uint8", pixels);
  EXPECT_EQ(small[kImages].scalar_type(), torch::kUInt8);
  EXPECT_EQ(small[kExamples], 5);
  const torch::Tensor rounded = decode_set(small, torch::kFloat64).inputs;
  EXPECT_LE((rounded - pixels).abs().max().item<double>(), 5.1 / 255 / 2 + 1e-12);
  EXPECT_GE((rounded - pixels).abs().max().item<double>(), 0.9 * 5.1 / 255 / 2);
  const torch::Tensor constant = torch::full({2, 1, 1, 1}, 7.5, torch::kFloat64);
  EXPECT_EQ(numbers_of(decode_set(encoded("uint8", constant), torch::kFloat64).inputs), numbers_of(constant));
  EXPECT_EQ(decode_set(encoded("uint8", torch::zeros({0, 1, 1, 1})), torch::kFloat64).size(), 0);
}

TEST(UnionOfSets, HoldsThemInTheirOrder) {
  const auto set = [](double from, std::int64_t count) {
    return Batch{torch::arange(from, from + static_cast<double>(count), torch::kFloat64).view({count, 1}),
                 torch::arange(count)};
  };
  const Batch all = union_of({set(10, 2), set(20, 0), set(30, 1)});
  EXPECT_EQ(numbers_of(all.inputs), (std::vector<double>{10, 11, 30}));
  EXPECT_EQ(numbers_of(all.targets), (std::vector<double>{0, 1, 0}));
}

TEST_F(SyntheticSetsOfAClient, DrawRealBatchesOfAClass) {
  ClassBatches batches(client, 2, Stream({.seed = 1}));
  std::set<double> seen;
  for (int draw = 0; draw < 40; ++draw) {
    const Batch batch = batches.draw(3);
    const std::vector<double> images = numbers_of(batch.inputs);
    ASSERT_EQ(images.size(), 2U);
    EXPECT_NE(images[0], images[1]);
    EXPECT_EQ(numbers_of(batch.targets), (std::vector<double>{3, 3}));
    seen.insert(images.begin(), images.end());
  }
  EXPECT_EQ(seen, (std::set<double>{0, 2, 4}));
  EXPECT_EQ(numbers_of(batches.draw(0).inputs), (std::vector<double>{1, 3}));
  EXPECT_EQ(batches.draw(1).size(), 0);
  EXPECT_EQ(numbers_of(ClassBatches(client, 0, Stream({.seed = 1})).draw(3).inputs),
            (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(shard.accesses, (std::vector<std::string>{"examples", "examples"}));
}

// v: 2, then 2/2 - 1 = 0, then 4.
TEST(ImageDescent, IsSgdWithMomentum) {
  const ImageTraining config{.image_rate = 0.25, .image_momentum = 0.5};
  torch::Tensor images = torch::zeros({1}, torch::kFloat64);
  ImageDescent descent(config, images);
  std::vector<double> way;
  for (const double slope : {2.0, -1.0, 4.0}) {
    descent.step(torch::full({1}, slope, torch::kFloat64));
    way.push_back(images.item<double>());
  }
  EXPECT_EQ(way, (std::vector<double>{-0.5, -0.5, -1.5}));
}

// Gradients of all ones: a step of that rate moves by rate * sqrt(numbers).
class Ones final : public NoCompute {
 public:
  Params gradient(const Params& at, const Batch& batch) const override {
    sizes.push_back(batch.size());
    Params ones = zeros_like(at);
    ones.flat().fill_(1);
    return ones;
  }
  mutable std::vector<std::int64_t> sizes;
};

TEST(SetDescent, StepsWhileItIsWithinTheRadius) {
  const Model model({.input_shape = {1}, .outputs = 2, .layers = {Linear{1, 2}}}, torch::kFloat64);
  const Ones compute;
  const Params start = Params::zeros(model.layout(), torch::kFloat64);  // four numbers
  SetDescent descent(4, compute, {torch::zeros({10, 1}), torch::zeros({10}, torch::kInt64)},
                     Stream({.seed = 2}));
  Params params = start;
  EXPECT_TRUE(descent.next(params, start, 100, 0.5));
  EXPECT_EQ(compute.sizes, (std::vector<std::int64_t>{4, 4, 2}));
  EXPECT_EQ(norm(params - start), 3);
  EXPECT_FALSE(descent.next(params, start, 4.5, 0.5));  // from 3 to 4 to 5
  EXPECT_EQ(norm(params - start), 5);
  EXPECT_FALSE(descent.next(params, start, 5, 0.5));
  EXPECT_EQ(norm(params - start), 5);
}

}  // namespace
}  // namespace fedarena
