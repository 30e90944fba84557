#include <vector>

#include <gtest/gtest.h>

#include "harness/oracle/example_reader.hpp"

namespace fedarena {
namespace {

TEST(Reader, NormalisesPixelsByChannel) {
  Dataset dataset;
  dataset.train.inputs = torch::arange(2 * 3 * 4 * 5).remainder(256).to(torch::kUInt8).view({2, 3, 4, 5});
  dataset.train.targets = torch::tensor({1, 0});
  dataset.classes = 2;
  dataset.mean = {0.1, 0.5, 0.25};
  dataset.deviation = {0.2, 1.0, 0.05};
  for (const auto& [type, tolerance] :
       std::vector<std::pair<torch::ScalarType, double>>{{torch::kFloat32, 1e-5}, {torch::kFloat64, 1e-13}}) {
    const ExampleReader reader(dataset, type);
    const Batch batch = reader.read(dataset.train, torch::tensor({1, 0}));
    EXPECT_EQ(batch.inputs.scalar_type(), type);
    EXPECT_TRUE(torch::equal(batch.targets, torch::tensor({0, 1})));
    for (std::int64_t example = 0; example < 2; ++example) {
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        for (std::int64_t pixel = 0; pixel < 20; ++pixel) {
          const auto raw = static_cast<double>(((1 - example) * 60 + channel * 20 + pixel) % 256);
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
  Dataset dataset;
  dataset.train.inputs = torch::arange(2 * 3 * 4 * 5).to(torch::kUInt8).view({2, 3, 4, 5});
  dataset.train.targets = torch::tensor({1, 0});
  dataset.mean = {0.1, 0.5, 0.25};
  dataset.deviation = {0.2, 1.0, 0.05};
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

TEST(Reader, ReadsNothing) {
  Dataset dataset;
  dataset.train.inputs = torch::ones({2, 1, 2, 2}, torch::kUInt8);
  dataset.train.targets = torch::tensor({0, 1});
  dataset.mean = {0.5};
  dataset.deviation = {0.5};
  const Batch batch =
      ExampleReader(dataset, torch::kFloat32).read(dataset.train, torch::empty({0}, torch::kInt64));
  EXPECT_EQ(batch.inputs.sizes().vec(), (std::vector<std::int64_t>{0, 1, 2, 2}));
  EXPECT_EQ(batch.size(), 0);
}

}  // namespace
}  // namespace fedarena
