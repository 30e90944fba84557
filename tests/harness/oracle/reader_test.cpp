#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "harness/oracle/example_reader.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"

namespace fedarena {
namespace {

// Images of 3 x 4 x 4 shades, normalised by channel.
Dataset images(std::int64_t count = 60) {
  Dataset dataset;
  dataset.train.inputs =
      torch::arange(count * 3 * 4 * 4).remainder(251).to(torch::kUInt8).view({count, 3, 4, 4});
  dataset.train.targets = torch::arange(count).remainder(4);
  dataset.classes = 4;
  dataset.mean = {0.1, 0.5, 0.25};
  dataset.deviation = {0.2, 1.0, 0.05};
  return dataset;
}

TEST(Reader, NormalisesPixelsByChannel) {
  const Dataset dataset = images(2);
  for (const auto& [type, tolerance] :
       std::vector<std::pair<torch::ScalarType, double>>{{torch::kFloat32, 1e-5}, {torch::kFloat64, 1e-13}}) {
    const ExampleReader reader(dataset, type);
    const Batch batch = reader.read(dataset.train, torch::tensor({1, 0}));
    EXPECT_EQ(batch.inputs.scalar_type(), type);
    EXPECT_TRUE(torch::equal(batch.targets, torch::tensor({1, 0})));
    for (std::int64_t example = 0; example < 2; ++example) {
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        for (std::int64_t pixel = 0; pixel < 16; ++pixel) {
          const auto raw = static_cast<double>((1 - example) * 48 + channel * 16 + pixel);
          const auto at = static_cast<std::size_t>(channel);
          const double expected = (raw / 255 - dataset.mean[at]) / dataset.deviation[at];
          EXPECT_NEAR(batch.inputs[example][channel].flatten()[pixel].item<double>(), expected, tolerance);
        }
      }
    }
  }
}

TEST(Reader, LeavesNumbersAsTheyAreWithoutStatistics) {
  Dataset dataset;
  dataset.train.inputs = torch::tensor({{0.5, -3.0}, {7.0, 0.25}}, torch::kFloat64);
  dataset.train.targets = torch::tensor({{1.5}, {2.5}}, torch::kFloat64);
  const ExampleReader reader(dataset, torch::kFloat32);
  const Batch batch = reader.read(dataset.train, torch::tensor({1}));
  EXPECT_TRUE(torch::equal(batch.inputs, torch::tensor({{7.0F, 0.25F}})));
  EXPECT_TRUE(torch::equal(batch.targets, torch::tensor({{2.5F}})));
}

TEST(Reader, BringsPixelsBack) {
  const Dataset dataset = images(2);
  for (const torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
    const ExampleReader reader(dataset, type);
    const torch::Tensor pixels = reader.pixels(reader.read(dataset.train, torch::tensor({0, 1})).inputs);
    EXPECT_EQ(pixels.scalar_type(), torch::kFloat32);
    EXPECT_TRUE(torch::allclose(pixels, dataset.train.inputs.to(torch::kFloat32) / 255, 0, 1e-6));
  }
}

TEST(Reader, NeverChangesTheDataSet) {
  Dataset dataset;
  dataset.train.inputs =
      torch::ones({2, 1, 2, 2}, torch::kFloat64);  // the type that the model wants: no conversion
  dataset.train.targets = torch::tensor({0, 1});
  dataset.mean = {0.5};
  dataset.deviation = {0.5};
  const ExampleReader reader(dataset, torch::kFloat64);
  (void)reader.read(dataset.train, torch::tensor({0, 1}));
  EXPECT_TRUE(torch::equal(dataset.train.inputs, torch::ones({2, 1, 2, 2}, torch::kFloat64)));
}

// What one client's inputs are changed by when they are read. Error rates: see statistical_bounds.hpp, 10^-6
// a comparison.

// All images as a client with that skew sees them.
torch::Tensor seen_with(const InputSkew& skew, torch::ScalarType type = torch::kFloat64) {
  const Dataset dataset = images();
  return ExampleReader(dataset, type).read(dataset.train, torch::arange(60, torch::kInt64), skew).inputs;
}

// What noise adds, on the scale of inputs in [0, 1].
torch::Tensor added(const InputSkew& skew) {
  const torch::Tensor deviation = torch::tensor(images().deviation, torch::kFloat64).view({1, -1, 1, 1});
  return (seen_with(skew) - seen_with({})) * deviation;
}

TEST(InputSkew, ThatIsOffChangesNoBit) {
  for (const torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
    EXPECT_TRUE(torch::equal(seen_with({}, type), seen_with({.seed = 9, .client = 5}, type)));
  }
}

// Mean 0, variance 0.3^2 and fourth moment 3 * 0.3^4 in units of inputs in [0, 1], whatever the channel's
// deviation is.
TEST(InputSkew, AddsGaussianNoiseToInputsScaledToOne) {
  for (std::int64_t channel = 0; channel < 3; ++channel) {
    std::vector<double> values;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto noise = numbers_of(added({.noise = 0.3, .seed = seed, .client = 2}).select(1, channel));
      values.insert(values.end(), noise.begin(), noise.end());
    }
    EXPECT_LT(std::abs(mean_z(values, 0, 0.09)), kNormalBound);
    EXPECT_LT(std::abs(variance_z(values, 0, 0.09, 3 * 0.09 * 0.09)), kNormalBound);
  }
}

TEST(InputSkew, IsNotClipped) {
  const torch::Tensor pixels =
      ExampleReader(images(), torch::kFloat64).pixels(seen_with({.noise = 5, .client = 1}));
  EXPECT_LT(pixels.min().item<double>(), -1);
  EXPECT_GT(pixels.max().item<double>(), 2);
}

TEST(InputSkew, IsTheSameAtEveryReadingOfAnExample) {
  const Dataset dataset = images();
  const InputSkew skew = {.degrees = 90, .noise = 0.3, .seed = 3, .client = 2};
  for (const torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
    const ExampleReader reader(dataset, type);
    const torch::Tensor whole = seen_with(skew, type);
    for (const std::int64_t example : {41, 7, 0}) {
      const torch::Tensor alone = reader.read(dataset.train, torch::tensor({example}), skew).inputs;
      EXPECT_TRUE(torch::equal(alone[0], whole[example])) << example;
      const torch::Tensor later =
          reader.read(dataset.train, torch::tensor({example + 1, example}), skew).inputs;
      EXPECT_TRUE(torch::equal(later[1], whole[example])) << example;
    }
  }
}

// Independent draws: the mean product of two noises of 2,880 values is normal, of variance 0.3^4 / 2880.
TEST(InputSkew, OfOtherSeedsClientsAndExamplesIsIndependent) {
  const torch::Tensor noise = added({.noise = 0.3, .seed = 3, .client = 2});
  for (const torch::Tensor& other :
       {added({.noise = 0.3, .seed = 4, .client = 2}), added({.noise = 0.3, .seed = 3, .client = 1}),
        added({.noise = 0.3, .seed = 3, .client = 2, .first = 1'000'000}), noise.roll(1, 0)}) {
    EXPECT_LT(std::abs(mean_z(numbers_of(noise * other), 0, 0.09 * 0.09)), kNormalBound);
  }
}

TEST(InputSkew, GrowsInProportionToItsLevel) {
  EXPECT_TRUE(
      torch::allclose(3 * added({.noise = 0.1, .client = 2}), added({.noise = 0.3, .client = 2}), 0, 1e-12));
}

// By hand: counter-clockwise, the right column becomes the top row.
TEST(InputSkew, TurnsImagesCounterClockwise) {
  Dataset dataset;
  dataset.train.inputs = torch::tensor({1, 2, 3, 4}, torch::kUInt8).view({1, 1, 2, 2});
  dataset.train.targets = torch::tensor({0});
  dataset.mean = {0.0};
  dataset.deviation = {1.0};
  const ExampleReader reader(dataset, torch::kFloat64);
  const auto shades = [&](std::int64_t degrees) {
    const torch::Tensor inputs =
        reader.read(dataset.train, torch::tensor({0}), {.degrees = degrees}).inputs * 255;
    return inputs.round().to(torch::kInt64).flatten();
  };
  EXPECT_TRUE(torch::equal(shades(90), torch::tensor({2, 4, 1, 3})));
  EXPECT_TRUE(torch::equal(shades(180), torch::tensor({4, 3, 2, 1})));
  EXPECT_TRUE(torch::equal(shades(270), torch::tensor({3, 1, 4, 2})));
}

TEST(InputSkew, TurnsBeforeNoiseIsAdded) {
  const torch::Tensor of_turned = seen_with({.degrees = 90, .noise = 0.3}) - seen_with({.degrees = 90});
  EXPECT_TRUE(torch::allclose(of_turned, seen_with({.noise = 0.3}) - seen_with({}), 0, 1e-12));
}

TEST(InputSkew, LeavesTargetsAndTheDataSetAlone) {
  const Dataset dataset = images();
  const torch::Tensor before = dataset.train.inputs.clone();
  const Batch batch = ExampleReader(dataset, torch::kFloat32)
                          .read(dataset.train, torch::arange(60), {.degrees = 180, .noise = 0.3});
  EXPECT_TRUE(torch::equal(batch.targets, dataset.train.targets));
  EXPECT_TRUE(torch::equal(dataset.train.inputs, before));
}

TEST(InputSkew, ReadsNothing) {
  const Dataset dataset = images();
  const Batch batch =
      ExampleReader(dataset, torch::kFloat32)
          .read(dataset.train, torch::empty({0}, torch::kInt64), {.degrees = 90, .noise = 0.3});
  EXPECT_EQ(batch.inputs.sizes().vec(), (std::vector<std::int64_t>{0, 3, 4, 4}));
}

// An oracle on skewed examples answers as one on a data set that holds them so.
TEST(InputSkew, IsPartOfTheDataForEveryPolicy) {
  Bench bench;
  const InputSkew skew = {.noise = 0.5, .seed = 3, .client = 2};
  MeteredOracle::Setting setting = bench.setting();
  setting.skew = skew;
  Examples changed = bench.dataset.train;
  changed.inputs = bench.reader.read(bench.dataset.train, torch::arange(40, torch::kInt64), skew).inputs;
  const MeteredOracle::Setting baked = {changed,      bench.reader, bench.model,
                                        bench.engine, bench.stop,   bench.dataset.classes};
  const torch::Tensor shard = torch::arange(5, 25, torch::kInt64);
  const Streams streams(1, 1, 0);
  ExactOracle exact(setting, shard, streams), exact_of_baked(baked, shard, streams);
  EXPECT_EQ(exact.loss(bench.at()), exact_of_baked.loss(bench.at()));
  EXPECT_TRUE(torch::equal(exact.exact_batch().inputs, exact_of_baked.exact_batch().inputs));
  RecordOracle record(setting, shard, streams, record_policy(1, 1));
  RecordOracle record_of_baked(baked, shard, streams, record_policy(1, 1));
  for (const std::int64_t size : {0, 7}) {
    EXPECT_TRUE(torch::equal(exact.gradient(bench.at(), {.batch_size = size}).flat(),
                             exact_of_baked.gradient(bench.at(), {.batch_size = size}).flat()));
    EXPECT_TRUE(torch::equal(record.gradient(bench.at(), {.batch_size = size}).flat(),
                             record_of_baked.gradient(bench.at(), {.batch_size = size}).flat()));
  }
}

}  // namespace
}  // namespace fedarena
