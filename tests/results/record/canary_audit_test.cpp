// What an audit guesses, claims and writes down.
#include "results/record/canary_audit.hpp"

#include "fedarena/accounting/audit_bound.hpp"

#include "tests/infinity.hpp"
#include "tests/results/record/record_samples.hpp"

namespace fedarena::results {
namespace {

PrivacyClaim claim_of(double rdp, double pld) {
  PrivacyClaim claim{.unit = "record", .settings = {.delta = 1e-5}};
  claim.rdp = Claim{.epsilon = rdp};
  claim.pld = Claim{.epsilon = pld};
  return claim;
}

// In: 7 (right) and 3 (wrong). Out: -2 (right) and -1 (wrong).
TEST(CanaryGuesses, AreTheHighestAndTheLowestScores) {
  CanaryScores scores = six_canaries();
  EXPECT_EQ(right_guesses(scores), 2);
  scores.guesses = 2;
  EXPECT_EQ(right_guesses(scores), 2);
  scores.guesses = 6;
  EXPECT_EQ(right_guesses(scores), 3);  // and 0.5, which is in
}

// The rule looks at scores and places alone, whatever they are.
TEST(CanaryGuesses, HaveAnOrderOfEqualScoresAndOfThoseThatAreNoNumbers) {
  CanaryScores scores = six_canaries();
  scores.scores = {kNan, 1, 1, 1, 1, kNan};
  scores.guesses = 2;
  scores.in = {false, true, true, true, true, true};
  EXPECT_EQ(right_guesses(scores), 2);  // out: the first nan; in: the last 1
  scores.in = {false, true, true, true, false, true};
  EXPECT_EQ(right_guesses(scores), 1);
  scores.scores.assign(6, kNan);
  EXPECT_EQ(right_guesses(scores), 2);  // the first, the last
}

TEST(CanaryAudit, ComparesItsBoundWithTheBestClaim) {
  CanaryScores scores{.kind = "gradient", .guesses = 100};
  for (int i = 0; i < 100; ++i) {
    scores.scores.push_back(i);
    scores.in.push_back(i >= 50);
  }
  const PrivacyClaim claim = claim_of(4.2, 3.4);
  const CanaryAudit audit = audit_of(scores, claim);
  EXPECT_EQ(audit.right, 100);
  EXPECT_NEAR(audit.lower_bound, 3.490, 5e-4);
  EXPECT_EQ(audit.p_value, audit_p_value(100, 100, 100, 3.4, 1e-5));
  EXPECT_TRUE(contradicts(audit, claim));
  EXPECT_EQ(contradiction_text(audit, claim),
            "epsilon >= 3.4902 contradicts the claimed epsilon of 3.4000, as the audit of one honest run in "
            "twenty at most does");
  EXPECT_FALSE(contradicts(audit, claim_of(4.2, 3.5)));
  PrivacyClaim unproven = claim;
  unproven.rdp = unproven.pld = Claim{.epsilon = std::nullopt, .unproven = "why"};
  EXPECT_FALSE(audit_of(scores, unproven).p_value);
  EXPECT_FALSE(contradicts(audit, unproven));
  EXPECT_EQ(
      audit_text(audit),
      "100 of 100 guesses about 100 gradient canaries right: epsilon >= 3.49 (95 %), p-value of the claim "
      "0.038");
}

TEST(CanaryScoresFile, ReadsBackWhatItHeld) {
  CanaryScores scores = six_canaries();
  scores.control = true;
  scores.scores[2] = -kInfinity;
  EXPECT_EQ(parse_canary_scores(to_json_text(scores), "audit.json"), scores);
}

}  // namespace
}  // namespace fedarena::results
