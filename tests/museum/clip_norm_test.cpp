// Exhibit 7: a clip norm that is taken for the order of a norm, noise that is rescaled at every layer.
// Error rates: each comparison of variances raises a false alarm with probability 1e-6 over seeds.
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

class ClipNorm : public ::testing::Test {
 protected:
  /// The gradient on the whole shard that the server gets in each round, at the initial weights throughout.
  std::vector<Params> answers(const Federation& federation, const PrivacyPolicy& policy,
                              std::int64_t rounds) const {
    std::vector<Params> all;
    const Exhibit algorithm(sgd(1, 0, -1),
                            [&](Server&, const Uplink& uplink) { all.push_back(uplink.mean(kUpdate)); });
    Simulation simulation({.dataset = federation.dataset,
                           .partition = federation.partition,
                           .model = model,
                           .algorithm = algorithm,
                           .pool = federation.pool,
                           .stop = federation.stop,
                           .seed = 6,
                           .rounds = rounds,
                           .cohort_size = 1,
                           .evaluate_every = rounds,
                           .policy = policy});
    while (!simulation.finished()) simulation.next_round();
    return all;
  }
  static RecordPolicy policy(double clip_norm, double noise_multiplier) {
    RecordPolicy result;
    result.clip_norm = clip_norm;
    result.noise_multiplier = noise_multiplier;
    return result;
  }

  Model model{{.input_shape = {3},
               .outputs = 2,
               .layers = {Linear{3, 20}, Relu{}, Linear{20, 20}, Relu{}, Linear{20, 2}}},
              torch::kFloat64};
};

// An example's gradient, all layers together, keeps its direction and gets the clip norm as Euclidean length.
TEST_F(ClipNorm, IsTheEuclideanLengthOfTheWholeGradient) {
  const Federation one_example({1});
  const Params exact = answers(one_example, NoPolicy{}, 1)[0];
  for (const double clip_norm : {1e-4, 1e-3, 1e-2}) {
    ASSERT_GT(norm(exact), 2 * clip_norm);
    const Params clipped = answers(one_example, policy(clip_norm, 0), 1)[0];
    EXPECT_LE(norm(clipped), clip_norm);
    EXPECT_LE(norm(clipped - (clip_norm / norm(exact)) * exact), 1e-6 * clip_norm);
  }
}

TEST_F(ClipNorm, ScalesTheNoiseOfEveryLayerAlike) {
  constexpr std::int64_t kExamples = 5, kRounds = 150;
  constexpr double kMultiplier = 1.5;
  const Federation federation({kExamples});
  for (const double clip_norm : {0.5, 2.0, 7.0}) {
    const std::vector<Params> noisy = answers(federation, policy(clip_norm, kMultiplier), kRounds);
    const std::vector<Params> quiet = answers(federation, policy(clip_norm, 0), kRounds);
    const double deviation = kMultiplier * clip_norm / kExamples;
    for (std::size_t tensor = 0; tensor < model.layout()->size(); ++tensor) {
      std::vector<double> noise;
      for (std::size_t round = 0; round < noisy.size(); ++round) {
        const torch::Tensor difference = (noisy[round] - quiet[round])[tensor].flatten();
        noise.insert(noise.end(), difference.data_ptr<double>(),
                     difference.data_ptr<double>() + difference.numel());
      }
      const double variance = deviation * deviation;
      EXPECT_LT(std::abs(variance_z(noise, 0, variance, 3 * variance * variance)), kNormalBound)
          << (*model.layout())[tensor].name << ", clip norm " << clip_norm;
    }
  }
}

}  // namespace
}  // namespace fedarena
