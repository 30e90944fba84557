// What audits and attacks say that a run leaks, computed again from their scores.
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/stream.hpp"

#include "results/audit/comparison.hpp"
#include "results/record/attack_file.hpp"
#include "results/record/canary_audit.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"

namespace fedarena::results {
namespace {

constexpr const char* kAbsent = "missing";

std::string truth(bool value) { return value ? "true" : "false"; }

// Each is in with probability 1/2, by the stream of the seed.
std::vector<bool> membership(std::int64_t seed, std::size_t canaries) {
  Stream draws({.seed = static_cast<std::uint64_t>(seed), .client = kServer, .purpose = Purpose::kAudit});
  std::vector<bool> in;
  for (std::size_t i = 0; i < canaries; ++i) in.push_back(draws.uniform() < 0.5);
  return in;
}

void compare_membership(const CanaryScores& scores, std::int64_t seed, Comparison& compare) {
  const std::vector<bool> in = membership(seed, scores.in.size());
  std::int64_t others = 0;
  for (std::size_t i = 0; i < in.size(); ++i) others += in[i] != scores.in[i] ? 1 : 0;
  compare.result(others == 0, "in", fmt::format("{} canaries other than the seed draws", others), "none");
}

}  // namespace

void verify_audit(const RunDirectory& run, const Summary& summary, Verification& verification) {
  const ResolvedSettings settings = resolved_settings(run.read_file(kExperimentFile));
  const auto of = [&](const char* key) { return settings.of(key, kAbsent); };
  Comparison compare_summary(verification, run.path() / kSummaryFile);
  const bool due = summary.state == kFinished && of("audit.kind") != kAbsent;
  compare_summary.text("audit", summary.audit ? "an object" : kAbsent, due ? "an object" : kAbsent);
  Comparison compare(verification, run.path() / kAuditFile);
  if (run.has(kAuditFile) != due && summary.state == kFinished) {
    compare.text("the file", due ? kAbsent : "there", due ? "there" : kAbsent);
  }
  if (!due || !summary.audit || !summary.privacy || !run.has(kAuditFile)) return;
  const CanaryScores scores =
      parse_canary_scores(run.read_file(kAuditFile), (run.path() / kAuditFile).string());
  compare.text("kind", scores.kind, of("audit.kind"));
  compare.text("canaries", std::to_string(scores.scores.size()), of("audit.canaries"));
  compare.text("guesses", std::to_string(scores.guesses), of("audit.guesses"));
  compare.text("control", truth(scores.control), truth(of("audit.noise") == "off"));
  compare_membership(scores, summary.seed, compare);
  const CanaryAudit again = audit_of(scores, *summary.privacy);
  compare_summary.text("audit.kind", summary.audit->kind, again.kind);
  compare_summary.integer("audit.canaries", summary.audit->canaries, again.canaries);
  compare_summary.integer("audit.guesses", summary.audit->guesses, again.guesses);
  compare_summary.integer("audit.right", summary.audit->right, again.right);
  compare_summary.close("audit.epsilon_at_least", summary.audit->lower_bound, again.lower_bound);
  compare_summary.close("audit.p_value", summary.audit->p_value, again.p_value);
  compare_summary.text("audit.control", truth(summary.audit->control), truth(again.control));
  if (contradicts(again, *summary.privacy))
    verification.notes.push_back(contradiction_text(again, *summary.privacy));
}

void verify_attacks(const RunDirectory& run, Verification& verification) {
  const std::optional<MembershipAttacks> attacks = read_attacks(run.path());
  if (!attacks) return;
  Comparison compare(verification, run.path() / kAttackFile);
  for (const MembershipAttack& recorded : attacks->attacks) {
    MembershipAttack again = recorded;
    const bool measured = measure(again, *attacks);
    compare.result(measured, recorded.score + " scores", "nan", "numbers");
    if (!measured) continue;
    const auto number = [&](const char* name, double was, double is) {
      compare.number(fmt::format("{} {}", recorded.score, name), was, is);
    };
    const Separation &was = recorded.separation, &is = again.separation;
    number("auc", was.auc, is.auc);
    number("auc_low", was.auc_interval.low, is.auc_interval.low);
    number("auc_high", was.auc_interval.high, is.auc_interval.high);
    number("tpr_at_1_percent", was.tpr_at_1_percent, is.tpr_at_1_percent);
    number("tpr_at_01_percent", was.tpr_at_01_percent, is.tpr_at_01_percent);
    number("advantage", was.advantage, is.advantage);
    compare.result(recorded.clients == again.clients, recorded.score + " clients",
                   fmt::format("{} clients", recorded.clients.size()),
                   fmt::format("{} clients with other numbers", again.clients.size()));
  }
}

}  // namespace fedarena::results
