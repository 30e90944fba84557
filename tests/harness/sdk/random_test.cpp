#include "fedarena/random.hpp"

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

TEST(Streams, AreNamedByRoundClientPurposeAndIndex) {
  const Streams streams(1, 2, 3);
  const auto first = [](Stream stream) { return stream(); };
  const std::uint64_t expected =
      first(Stream({.seed = 1, .round = 2, .client = 3, .purpose = Purpose::kSynthetic, .index = 4}));
  EXPECT_EQ(first(streams(Purpose::kSynthetic, 4)), expected);
  EXPECT_EQ(first(streams(Purpose::kSynthetic, 4)), expected);  // whenever it is asked for
  EXPECT_NE(first(streams(Purpose::kSynthetic, 5)), expected);
  EXPECT_NE(first(streams(Purpose::kAlgorithm, 4)), expected);
  EXPECT_NE(first(Streams(0, 2, 3)(Purpose::kSynthetic, 4)), expected);
  EXPECT_NE(first(Streams(1, 3, 3)(Purpose::kSynthetic, 4)), expected);
  EXPECT_NE(first(Streams(1, 2, 2)(Purpose::kSynthetic, 4)), expected);
}

TEST(RandomTensors, HoldTheNumbersOfTheirStream) {
  Stream drawn({.seed = 9}), same({.seed = 9});
  const torch::Tensor tensor = uniform(drawn, {2, 3}, -2, 4);
  EXPECT_EQ(tensor.sizes().vec(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(tensor.scalar_type(), torch::kFloat64);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(tensor.data_ptr<double>()[i], -2 + 6 * same.uniform());

  Stream gaussian({.seed = 9}), same_gaussian({.seed = 9});
  const torch::Tensor normals = normal(gaussian, {5});
  std::vector<double> expected(5);
  same_gaussian.fill_normal(std::span<double>(expected));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(normals.data_ptr<double>()[i], expected[i]);
}

TEST(RandomTensors, CanBeEmpty) {
  Stream stream({.seed = 9});
  EXPECT_EQ(normal(stream, {0, 3}).numel(), 0);
  EXPECT_EQ(uniform(stream, {0}, 0, 1).numel(), 0);
}

// Else a plugin could draw the noise of a mechanism again and subtract it.
TEST(Streams, OfAlgorithmsLeaveOutWhatTheHarnessDraws) {
  const Streams streams = Streams(1, 2, 3).for_algorithm();
  const auto first = [](Stream stream) { return stream(); };
  EXPECT_EQ(first(streams(Purpose::kSynthetic, 4)), first(Streams(1, 2, 3)(Purpose::kSynthetic, 4)));
  EXPECT_EQ(first(streams(Purpose::kAlgorithm)), first(Streams(1, 2, 3)(Purpose::kAlgorithm)));
  for (const Purpose purpose : {Purpose::kInitialWeights, Purpose::kPartition, Purpose::kCohort,
                                Purpose::kBatches, Purpose::kNoise, Purpose::kDataset}) {
    EXPECT_THROW(streams(purpose), Error);
  }
}

}  // namespace
}  // namespace fedarena
