// Error rates: each comparison of the system's samples raises a false alarm in one run of 1e6.
#include "harness/oracle/random_source.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "harness/gradients/cuda/tensors.hpp"
#include "tests/harness/base/statistical_bounds.hpp"

namespace fedarena {
namespace {

const StreamName kBatch{.seed = 3, .round = 4, .client = 5, .purpose = Purpose::kBatches};

TEST(RandomSource, OfAStreamIsThatStream) {
  Stream stream(kBatch);
  const auto source = make_random_source(kStreamNoise, Stream(kBatch));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(source->uniform(), stream.uniform());
  EXPECT_EQ(source->sample_without_replacement(40, 7), stream.sample_without_replacement(40, 7));
  EXPECT_EQ(source->uniform(), stream.uniform());
}

// Of a GPU's kernel, walked by the host: pairs that begin with half of one, and that end with one.
TEST(RandomSource, AddsTheSameBitsOnEveryDevice) {
  for (const torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
    const auto here = make_random_source(kStreamNoise, Stream(kBatch)),
               there = make_random_source(kStreamNoise, Stream(kBatch));
    for (const std::int64_t count : {0, 1, 2, 3, 1000, 1001, 70'001}) {
      const torch::Tensor expected = torch::linspace(-1, 1, count, type), actual = expected.clone();
      here->add_normals(expected, 0.3);
      {
        const cuda::Walked walked(cuda::Order::kForward);
        there->add_normals(actual, 0.3);
      }
      EXPECT_TRUE(actual.equal(expected)) << count << " of " << type;
    }
    EXPECT_EQ(here->uniform(), there->uniform());
  }
}

TEST(RandomSource, OfTheSystemIsUniform) {
  const auto source = make_random_source(kSystemNoise, Stream(kBatch));
  std::vector<double> numbers(50'000);
  for (double& number : numbers) number = source->uniform();
  EXPECT_LT(kolmogorov_of_uniform(numbers), kKolmogorovBound);
  EXPECT_TRUE(draws_equally(20'000, 20, [&] { return source->sample_without_replacement(6, 3); }));
}

TEST(RandomSource, OfTheSystemDoesNotKnowTheStream) {
  const auto one = make_random_source(kSystemNoise, Stream(kBatch)),
             two = make_random_source(kSystemNoise, Stream(kBatch));
  EXPECT_NE(one->sample_without_replacement(200, 100), two->sample_without_replacement(200, 100));
  EXPECT_NE(one->uniform(), two->uniform());
}

TEST(RandomSource, HasNoOtherNames) { EXPECT_THROW((void)make_random_source("seeded", Stream(kBatch)), Bug); }

}  // namespace
}  // namespace fedarena
