// Exhibit 21: d-private personalised federated learning (Galli et al., "Group privacy for personalized
// federated learning", 2022): noise scaled by what it is to hide, and what is said of its privacy.
#include <cmath>
#include <vector>

#include <gmock/gmock.h>

#include "results/record/claim_text.hpp"
#include "tests/infinity.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

constexpr double kNu = 5;

LocalPolicy local_noise(const std::string& mechanism, double noise_multiplier, double clip_norm = 0) {
  LocalPolicy policy;
  policy.mechanism = mechanism;
  policy.noise_multiplier = noise_multiplier;
  policy.clip_norm = clip_norm;
  return policy;
}

// Trains to a change of that length.
Exhibit change_of(double length) {
  return Exhibit([length](Client&, const Params& start) {
    Params trained = start;
    trained.flat().slice(0, 0, 1).add_(length);
    return trained;
  });
}

// Whose radius is within some per cent of its mean: 6,002 parameters.
const std::vector<Layer> kWide{Linear{3, 1'000}, Linear{1'000, 2}};

// What the server receives of the only client, whose change is that long.
Params received(double length, const PrivacyPolicy& policy) {
  const Federation federation({10}, kWide);
  const Exhibit algorithm = change_of(length);
  Simulation simulation(federation.setup(algorithm, policy));
  return simulation.next_uplink(0).message[kUpdate];
}

// In many dimensions noise of nu times the norm of the change is at right angles to it and of nearly constant
// length: the norm of the sum tells that of the change, to some per cent.
TEST(NoiseScaledByTheSecret, TellsTheSecretsNorm) {
  for (const double secret : {0.01, 1.0, 100.0}) {
    const double guess = norm(received(secret, local_noise(kLocalRelative, kNu))) / std::sqrt(1 + kNu * kNu);
    EXPECT_NEAR(guess, secret, 0.1 * secret);
    // Noise of a fixed scale, as long on average as that on a change of norm 1, hides it.
    if (secret < 1) {
      const double fixed = norm(received(secret, local_noise(kLocalLaplace, kNu / 6'002)));
      EXPECT_GT(fixed, 100 * secret);
    }
  }
}

TEST(NoiseScaledByTheSecret, SendsNoChangeAsItIs) {
  EXPECT_EQ(norm(received(0, local_noise(kLocalRelative, kNu))), 0);
}

results::PrivacyClaim claim_after(std::int64_t rounds, const PrivacyPolicy& policy) {
  const Federation federation({10, 10}, {Linear{3, 2}});
  const Exhibit algorithm = change_of(1);
  Simulation simulation(federation.setup(algorithm, policy, rounds));
  while (!simulation.finished()) simulation.next_round();
  return claim_of(simulation.ledger(), "local", accounting(policy));
}

TEST(NoiseScaledByTheSecret, HasNoFiniteEpsilonWhateverItIsCalled) {
  const results::PrivacyClaim claim = claim_after(6, local_noise(kLocalRelative, kNu));
  EXPECT_EQ(claim.rdp->epsilon, kInfinity);
  EXPECT_EQ(claim.pld->epsilon, kInfinity);
  EXPECT_FALSE(claim.per_distance);
  EXPECT_THAT(claim.exact_access, HasSubstr("scaled by their own norm"));
  // What the paper calls its leakage: n / nu a participation.
  ASSERT_EQ(claim.nominal.size(), 1U);
  EXPECT_EQ(claim.nominal[0].first, "n/nu");
  EXPECT_NEAR(claim.nominal[0].second, 6 * 8 / kNu, 1e-12);
}

// "Epsilon grows with nu": it falls, by the paper's own count and by any other.
TEST(MoreNoise, LowersEveryNumberThatStandsForPrivacy) {
  EXPECT_GT(claim_after(1, local_noise(kLocalRelative, 5)).nominal[0].second,
            claim_after(1, local_noise(kLocalRelative, 10)).nominal[0].second);
  EXPECT_GT(claim_after(1, local_noise(kLocalLaplace, 5, 1)).pld->epsilon,
            claim_after(1, local_noise(kLocalLaplace, 10, 1)).pld->epsilon);
  EXPECT_GT(claim_after(1, local_noise(kLocalLaplace, 5)).per_distance,
            claim_after(1, local_noise(kLocalLaplace, 10)).per_distance);
}

TEST(MetricPrivacy, IsNeverPrintedAsEpsilonAndDelta) {
  const results::PrivacyClaim claim = claim_after(3, local_noise(kLocalLaplace, 0.5));
  EXPECT_EQ(results::claims_text(claim), "unproven (RDP), unproven (PLD)");
  EXPECT_EQ(claim.rdp->unproven, "metric privacy has no epsilon without a distance");
  EXPECT_DOUBLE_EQ(claim.per_distance.value(), 6);
  // Clipping bounds the distance, by 2 C: three messages of 2 C / (z C).
  const results::PrivacyClaim bounded = claim_after(3, local_noise(kLocalLaplace, 0.5, 2));
  EXPECT_NEAR(bounded.rdp->epsilon.value(), 12, 1e-9);
  EXPECT_FALSE(bounded.per_distance);
}

}  // namespace
}  // namespace fedarena
