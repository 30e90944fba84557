#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/privacy_claim.hpp"

namespace fedarena::results {

inline constexpr const char* kAuditFile = "audit.json";

/// The confidence of the lower bound of an audit.
inline constexpr double kAuditConfidence = 0.95;

/// What an audit looked at: `audit.json` of a finished run. `scores` and `in` are of equal length, one entry
/// a canary; a score may be nan or infinite where a model diverged.
struct CanaryScores {
  std::string kind = {};     ///< "gradient", "mislabelled" or "client"
  std::int64_t guesses = 0;  ///< even, at most the canaries
  bool control = false;      ///< whether the run added no noise
  std::vector<double> scores = {};
  std::vector<bool> in = {};  ///< whether the canary was in the data

  bool operator==(const CanaryScores&) const = default;
};

/// What an audit found: part of a summary.
struct CanaryAudit {
  std::string kind = {};
  std::int64_t canaries = 0, guesses = 0, right = 0;
  double lower_bound = 0;              ///< on epsilon, at delta of the claim and a confidence of 95 %
  std::optional<double> p_value = {};  ///< of the claimed epsilon; none where nothing is proven
  bool control = false;

  bool operator==(const CanaryAudit&) const = default;
};

/// The guesses that are right: "in" for the half of the guesses with the highest scores, "out" for as many
/// with the lowest. Scores that are no numbers are the lowest; of equal ones the earlier is the lower.
std::int64_t right_guesses(const CanaryScores& scores);

/// The smallest epsilon that some accountant proves; none where none does.
std::optional<double> claimed_epsilon(const PrivacyClaim& claim);

/// What the scores prove against a claim that is computed.
CanaryAudit audit_of(const CanaryScores& scores, const PrivacyClaim& claim);

/// Whether the audit contradicts the claim, as one honest run in twenty at most does.
bool contradicts(const CanaryAudit& audit, const PrivacyClaim& claim);

/// Of one that does: "epsilon >= 0.15 contradicts the claimed epsilon of 0.0361, as ...".
std::string contradiction_text(const CanaryAudit& audit, const PrivacyClaim& claim);

/// "150 of 200 guesses about 1000 gradient canaries right; epsilon >= 0.82 (95 %), p-value of the claim 1".
std::string audit_text(const CanaryAudit& audit);

std::string to_json_text(const CanaryScores& scores);
/// Reads such a text. Anything else is an Error that names `file` and the field.
CanaryScores parse_canary_scores(std::string_view text, const std::string& file);

/// The fields of the object "audit" of a summary.
void form_audit(RecordForm& form, CanaryAudit& audit);

}  // namespace fedarena::results
