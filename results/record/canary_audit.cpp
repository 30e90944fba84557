#include "results/record/canary_audit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedarena/accounting/audit_bound.hpp"

#include "results/record/record_form.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kAuditSchema = 1;

void form_kind(RecordForm& form, std::string& kind) {
  form.choice("kind", kind, {"gradient", "mislabelled", "client"});
}

void check_guesses(std::int64_t guesses, std::int64_t canaries, const JsonFields& fields) {
  if (guesses % 2 == 0 && guesses <= canaries) return;
  fields.reject("guesses", fmt::format("an even integer from 2 to {}, the canaries", canaries));
}

void form_scores(RecordForm& form, CanaryScores& scores) {
  std::int64_t canaries = std::ssize(scores.scores);
  form_kind(form, scores.kind);
  form.integer("canaries", canaries, 2);
  form.integer("guesses", scores.guesses, 2);
  form.boolean("control", scores.control);
  form.field("scores", scores.scores, &JsonFields::any_numbers);
  form.field("in", scores.in, &JsonFields::booleans);
  const JsonFields* fields = form.fields();
  if (fields == nullptr) return;
  check_guesses(scores.guesses, canaries, *fields);
  if (std::ssize(scores.scores) != canaries) fields->reject("scores", "one number for each canary");
  if (std::ssize(scores.in) != canaries) fields->reject("in", "true or false for each canary");
}

}  // namespace

std::int64_t right_guesses(const CanaryScores& scores) {
  std::vector<std::size_t> order(scores.scores.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::size_t canary) {
    const double score = scores.scores[canary];
    return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
  });
  const auto half = static_cast<std::size_t>(scores.guesses / 2);
  std::int64_t right = 0;
  for (std::size_t i = 0; i < half; ++i) {
    right += scores.in[order[i]] ? 0 : 1;
    right += scores.in[order[order.size() - 1 - i]] ? 1 : 0;
  }
  return right;
}

std::optional<double> claimed_epsilon(const PrivacyClaim& claim) {
  std::optional<double> least;
  for (const std::optional<Claim>& one : {claim.rdp, claim.pld}) {
    if (one && one->epsilon && (!least || *one->epsilon < *least)) least = one->epsilon;
  }
  return least;
}

CanaryAudit audit_of(const CanaryScores& scores, const PrivacyClaim& claim) {
  CanaryAudit audit{.kind = scores.kind,
                    .canaries = std::ssize(scores.scores),
                    .guesses = scores.guesses,
                    .right = right_guesses(scores),
                    .control = scores.control};
  const double delta = claim.settings.delta;
  audit.lower_bound = audit_lower_bound(audit.canaries, audit.guesses, audit.right, delta, kAuditConfidence);
  if (const std::optional<double> epsilon = claimed_epsilon(claim))
    audit.p_value = audit_p_value(audit.canaries, audit.guesses, audit.right, *epsilon, delta);
  return audit;
}

bool contradicts(const CanaryAudit& audit, const PrivacyClaim& claim) {
  const std::optional<double> epsilon = claimed_epsilon(claim);
  return epsilon && audit.lower_bound > *epsilon;
}

std::string contradiction_text(const CanaryAudit& audit, const PrivacyClaim& claim) {
  return fmt::format(
      "epsilon >= {} contradicts the claimed epsilon of {}, as the audit of one honest run in twenty at most "
      "does",
      lower_bound_number(audit.lower_bound), epsilon_number(claimed_epsilon(claim).value_or(0)));
}

std::string audit_text(const CanaryAudit& audit) {
  return fmt::format("{} of {} guesses about {} {} canaries right: epsilon >= {:.2f} ({:.0f} %){}{}",
                     audit.right, audit.guesses, audit.canaries, audit.kind,
                     std::floor(100 * audit.lower_bound) / 100, 100 * kAuditConfidence,
                     audit.p_value ? fmt::format(", p-value of the claim {:.2g}", *audit.p_value) : "",
                     audit.control ? "; a control, without noise" : "");
}

std::string to_json_text(const CanaryScores& scores) {
  return json_text(json_of_record(scores, form_scores, kAuditSchema), -1) + "\n";
}

CanaryScores parse_canary_scores(std::string_view text, const std::string& file) {
  return parse_record(text, file, kAuditSchema, form_scores);
}

void form_audit(RecordForm& form, CanaryAudit& audit) {
  double confidence = kAuditConfidence;
  form_kind(form, audit.kind);
  form.integer("canaries", audit.canaries, 2);
  form.integer("guesses", audit.guesses, 2);
  form.integer("right", audit.right, 0);
  form.number("confidence", confidence);
  form.amount("epsilon_at_least", audit.lower_bound);
  form.fraction("p_value", audit.p_value);
  form.boolean("control", audit.control);
  const JsonFields* fields = form.fields();
  if (fields == nullptr) return;
  check_guesses(audit.guesses, audit.canaries, *fields);
  if (audit.right > audit.guesses)
    fields->reject("right", fmt::format("at most the {} guesses", audit.guesses));
  if (confidence != kAuditConfidence) fields->reject("confidence", fmt::format("{}", kAuditConfidence));
}

}  // namespace fedarena::results
