// Clusters of a few points by hand, and features of a model.
#include "fedarena/k_means.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "fedarena/features.hpp"

#include "tests/harness/sdk/finite_differences.hpp"
#include "tests/harness/sdk/numbers_of.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

torch::Tensor on_a_line(const std::vector<double>& points, torch::ScalarType type = torch::kFloat64) {
  return torch::tensor(points, torch::kFloat64).to(type).unsqueeze(1);
}

// From 0 and 1: the first iteration leaves 0 alone, the second brings 1 to it.
TEST(KMeans, TakesLloydsStepsUntilNothingChanges) {
  const torch::Tensor points = on_a_line({0, 1, 10, 12});
  const Clusters once = lloyd(points, on_a_line({0, 1}), 1);
  EXPECT_THAT(once.choices, ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(numbers_of(once.centres), ElementsAre(0, ::testing::DoubleNear(23.0 / 3, 1e-14)));
  const Clusters done = lloyd(points, on_a_line({0, 1}));
  EXPECT_THAT(done.choices, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(numbers_of(done.centres), ElementsAre(0.5, 11));
}

TEST(KMeans, GivesTiesToTheFirstAndLeavesEmptyClusters) {
  const Clusters clusters = lloyd(on_a_line({1, 1}), on_a_line({0, 2, 100}), 1);
  EXPECT_THAT(clusters.choices, ElementsAre(0, 0));
  EXPECT_THAT(numbers_of(clusters.centres), ElementsAre(1, 2, 100));
}

// Trained models lie near each other and far from zero.
TEST(KMeans, TellsNearCentresFarFromZero) {
  const Clusters clusters = lloyd(on_a_line({1e6 + 0.25, 1e6 + 0.75, 1e6 + 1.25}, torch::kFloat32),
                                  on_a_line({1e6, 1e6 + 1}, torch::kFloat32), 1);
  EXPECT_THAT(clusters.choices, ElementsAre(0, 1, 1));
}

TEST(KMeans, BearsWhatIsNotANumber) {
  const Clusters clusters = lloyd(on_a_line({7, kNan, 8, kInfinity}), on_a_line({kNan, 6, 9}), 1);
  EXPECT_THAT(clusters.choices, ElementsAre(1, 0, 2, 0));
  EXPECT_THAT(numbers_of(clusters.centres.narrow(0, 1, 2)), ElementsAre(7, 8));
}

TEST(KMeans, WeighsMeans) {
  const torch::Tensor means =
      cluster_means(on_a_line({1, 5, 9}), {0, 0, 1}, {3, 1, 0}, on_a_line({-1, -2, -3}));
  EXPECT_THAT(numbers_of(means), ElementsAre(2, -2, -3));
}

TEST(KMeans, FindsTheExamplesInTheMiddle) {
  const torch::Tensor points =
      torch::tensor({{0.0, 0.0}, {2.0, 0.0}, {0.0, 2.0}, {9.0, 9.0}}, torch::kFloat64);
  // The first is as near to (1, 0) as the second; (0.2, 0.1) and (-5, -5) share it.
  const torch::Tensor centres =
      torch::tensor({{1.0, 0.0}, {0.2, 0.1}, {-5.0, -5.0}, {5.0, 7.0}}, torch::kFloat64);
  EXPECT_TRUE(nearest_points(points, centres).equal(torch::tensor({0, 0, 0, 3}, torch::kInt64)));
}

// Of 0, 1 and 3, two are drawn: the first uniformly, the second by squares of distances, 1:9, 1:4 and 9:4.
// The share of each ordered pair in 20,000 draws is off by 5 standard deviations once in 300,000 times.
TEST(KMeans, StartsBySquaredDistances) {
  constexpr int kDraws = 20'000;
  const torch::Tensor points = on_a_line({0, 1, 3});
  Stream draws({.seed = 3});
  std::map<std::pair<std::int64_t, std::int64_t>, int> seen;
  for (int draw = 0; draw < kDraws; ++draw) {
    const torch::Tensor chosen = spread_points(points, 2, draws);
    ++seen[{chosen[0].item<std::int64_t>(), chosen[1].item<std::int64_t>()}];
  }
  const std::map<std::pair<std::int64_t, std::int64_t>, double> expected{
      {{0, 1}, 0.1 / 3}, {{0, 2}, 0.9 / 3},      {{1, 0}, 0.2 / 3},
      {{1, 2}, 0.8 / 3}, {{2, 0}, 9.0 / 13 / 3}, {{2, 1}, 4.0 / 13 / 3}};
  ASSERT_EQ(seen.size(), expected.size());
  for (const auto& [pair, share] : expected) {
    EXPECT_NEAR(seen[pair] / double{kDraws}, share, 5 * std::sqrt(share * (1 - share) / kDraws));
  }
}

TEST(KMeans, StartsFromDifferentPointsThoughTheyLieTogether) {
  Stream draws({.seed = 3});
  const torch::Tensor chosen = spread_points(on_a_line({4, 4, 4, 4}), 4, draws);
  EXPECT_TRUE(std::get<0>(chosen.sort()).equal(torch::arange(4, torch::kInt64)));
}

// The last affine map takes features to outputs.
TEST(Features, AreWhatTheLastMapTakes) {
  const Model model({.input_shape = {1, 2, 2},
                     .outputs = 3,
                     .layers = {Conv2d{1, 2, 1, 0}, Relu{}, Flatten{}, Linear{8, 3}}},
                    torch::kFloat64);
  const Params at = random_params(model);
  const Batch batch = random_batch(model, 5);
  const Model features = feature_model(model, "somebody");
  const torch::Tensor found = features.forward(feature_weights(features, at), batch.inputs);
  EXPECT_EQ(found.sizes(), (torch::IntArrayRef{5, 8}));
  EXPECT_LE(largest_difference(found.mm(at[2].t()) + at[3], model.forward(at, batch.inputs)), 1e-14);
  const Model other({.input_shape = {2}, .outputs = 2, .layers = {Linear{2, 2}, Relu{}}}, torch::kFloat64);
  expect_refused("somebody needs the features", [&] { feature_model(other, "somebody"); });
}

}  // namespace
}  // namespace fedarena
