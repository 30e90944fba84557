// What an audit guesses, claims and writes down.
#include "results/record/canary_audit.hpp"

#include <limits>

#include "fedarena/accounting/audit_bound.hpp"

#include "results/record/json_fields.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

CanaryScores six_canaries() {
  return {.kind = "gradient",
          .guesses = 4,
          .scores = {0.5, 3, -2, 7, 0.25, -1},
          .in = {true, false, false, true, true, true}};
}

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
  scores.scores[2] = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(parse_canary_scores(to_json_text(scores), "audit.json"), scores);
}

TEST(CanaryScoresFile, RefusesWhatDoesNotFit) {
  const std::string text = to_json_text(six_canaries());
  const auto refusal = [&](const std::string& piece, const std::string& replacement) {
    const std::string changed = replaced(text, piece, replacement);
    return message_of([&] { parse_canary_scores(changed, "audit.json"); });
  };
  EXPECT_THAT(refusal("\"guesses\":4", "\"guesses\":5"), HasSubstr("an even integer from 2 to 6"));
  EXPECT_THAT(refusal("\"guesses\":4", "\"guesses\":8"), HasSubstr("an even integer from 2 to 6"));
  EXPECT_THAT(refusal("\"canaries\":6", "\"canaries\":7"), HasSubstr("one number for each canary"));
  EXPECT_THAT(refusal("-2.0", "\"low\""), HasSubstr("a list of numbers"));
  EXPECT_THAT(refusal("[true,", "[1,"), HasSubstr("a list of true and false"));
  EXPECT_THAT(refusal("[true,", "["), HasSubstr("true or false for each canary"));
  EXPECT_THAT(refusal("gradient", "gradients"), HasSubstr("\"kind\""));
  EXPECT_THAT(refusal("\"schema\":1", "\"schema\":2"), HasSubstr("schema"));
}

TEST(AuditedSummary, ReadsBackWhatItHeld) {
  Summary summary = finished_privately("dp-fedavg", 1, 0.5);
  summary.audit = audit_of(six_canaries(), *summary.privacy);
  EXPECT_EQ(parse_summary(to_json_text(summary), "summary.json"), summary);
  summary.audit->p_value.reset();
  EXPECT_EQ(parse_summary(to_json_text(summary), "summary.json"), summary);
}

}  // namespace
}  // namespace fedarena::results
