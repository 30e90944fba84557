// Exhibit 24: sums of votes that are accounted as if only their winner were told.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "fedarena/accounting/gaussian.hpp"

#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kTeachers = 200, kVotes = 1'000;
constexpr double kVoteNoise = 10, kVoteDelta = 1e-5;

// The RDP of GNMax where the runner-up wins with probability q (Papernot et al., ICLR 2018, Theorem 6 and
// Proposition 10), at the best order.
double epsilon_by_agreement(double votes, double log_q) {
  const double second = kVoteNoise * std::sqrt(-log_q), first = second + 1;
  const double epsilon_1 = first / (kVoteNoise * kVoteNoise), epsilon_2 = second / (kVoteNoise * kVoteNoise);
  const double q = std::exp(log_q);
  double least = 1e9;
  for (double order = 1.5; order < first; order += 0.5) {
    const double log_a = std::log1p(-q) - std::log1p(-std::exp((log_q + epsilon_2) * (second - 1) / second));
    const double log_b = epsilon_1 - log_q / (first - 1);
    const double divergence =
        std::log((1 - q) * std::exp(log_a * (order - 1)) + std::exp(log_q + log_b * (order - 1))) /
        (order - 1);
    least = std::min(least, votes * divergence - std::log(kVoteDelta) / (order - 1));
  }
  return least;
}

// Every example is a teacher, and votes by +1 or -1.
double epsilon_of_votes(bool agree) {
  const Federation federation({kTeachers});
  const Exhibit algorithm([agree](Client& client, const Params& start) {
    const auto vote = [agree](const Voters& voters) {
      const torch::Tensor own = voters.examples.inputs.select(2, 0).sign();
      return (agree ? torch::ones_like(own) : own).unsqueeze(1).expand({voters.size(), kVotes, 1});
    };
    const torch::Tensor sums = client.oracle.noisy_sum(vote, {.parts = kTeachers, .votes = kVotes});
    if (agree) {
      EXPECT_GT(sums.min().item<double>(), 100) << "a gap of ten deviations at least";
    }
    return start;
  });
  RecordPolicy policy;
  policy.noise_multiplier = kVoteNoise;
  Simulation simulation(federation.setup(algorithm, policy));
  return finish(simulation);
}

TEST(SumsOfVotes, AreChargedInFullWhateverTheTeachersAgreeOn) {
  // The opposite sign wins where the noise is below -200.
  const double gap = kTeachers / kVoteNoise;
  const double log_q = -gap * gap / 2 - std::log(gap * std::sqrt(2 * std::numbers::pi));
  EXPECT_NEAR(epsilon_by_agreement(kVotes, log_q), 0.171, 0.0005);
  // An exchange moves each of 1,000 sums by 2 under noise of deviation 10: what the best test tells.
  const double exactly =
      gaussian_epsilon(kVoteDelta, kVoteNoise / 2 / std::sqrt(static_cast<double>(kVotes)));
  EXPECT_NEAR(exactly, 46.21, 0.005);
  const double claimed = epsilon_of_votes(true);
  EXPECT_NEAR(claimed, 48.76, 0.005);
  EXPECT_EQ(claimed, epsilon_of_votes(false));
}

TEST(SumsOfVotes, HaveNoSensitivityThatAFileStates) {
  expect_refused("unknown key", [] { grid_of(experiment_text("sensitivity = 1e-5\n")); });
}

}  // namespace
}  // namespace fedarena
