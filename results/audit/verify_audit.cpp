// What audits and attacks say that a run leaks, computed again from their scores.
#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/stream.hpp"

#include "results/audit/audited_run.hpp"
#include "results/audit/comparison.hpp"
#include "results/record/attack_file.hpp"
#include "results/record/canary_audit.hpp"

namespace fedarena::results {
namespace {

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

void verify_audit(const AuditedRun& run, Verification& verification) {
  const Summary& summary = run.summary;
  const auto of = [&](const char* key) { return run.settings.of(key, kMissing); };
  Comparison compare_summary(verification, run.file(kSummaryFile));
  const bool due = run.finished() && of("audit.kind") != kMissing;
  const bool there = run.directory.has(kAuditFile);
  compare_summary.text("audit", summary.audit ? "an object" : kMissing, due ? "an object" : kMissing);
  Comparison compare(verification, run.file(kAuditFile));
  if (there != due && run.finished())
    compare.text("the file", there ? "there" : kMissing, due ? "there" : kMissing);
  if (!due || !summary.audit || !summary.privacy || !there) return;
  const CanaryScores scores =
      parse_canary_scores(run.directory.read_file(kAuditFile), run.file(kAuditFile).string());
  compare.text("kind", scores.kind, of("audit.kind"));
  compare.text("canaries", std::to_string(scores.scores.size()), of("audit.canaries"));
  compare.text("guesses", std::to_string(scores.guesses), of("audit.guesses"));
  compare.same("control", scores.control, of("audit.noise") == "off");
  compare_membership(scores, summary.seed, compare);
  const CanaryAudit again = audit_of(scores, *summary.privacy);
  Summary expected = summary;
  expected.audit = again;
  compare_summary.fields(to_json(summary), to_json(expected), false);
  if (contradicts(again, *summary.privacy))
    verification.notes.push_back(contradiction_text(again, *summary.privacy));
}

void verify_attacks(const AuditedRun& run, Verification& verification) {
  const Summary& summary = run.summary;
  const std::optional<MembershipAttacks> attacks = read_attacks(run.directory.path());
  if (!attacks) return;
  Comparison compare(verification, run.file(kAttackFile));
  compare.same("seed", attacks->seed, summary.seed);
  for (const auto* examples : {&attacks->member_examples, &attacks->non_member_examples}) {
    const std::int64_t client = std::ranges::max_element(*examples, {}, &ScoredExample::client)->client;
    compare.result(client < summary.clients, "clients", client, fmt::format("below {}", summary.clients));
  }
  if (run.card) {
    const auto told = [](bool views) { return views ? "some" : "none"; };
    const bool views = attacks->non_member_examples.front().client >= 0, skewed = !run.card->noise.empty();
    compare.result(views == skewed, "clients of non-members", told(views), told(skewed));
  }
  for (const MembershipAttack& recorded : attacks->attacks) {
    const bool known = contains(kMembershipScores, std::string_view(recorded.score));
    compare.result(known, "score", recorded.score, "one that attacks know");
    const std::size_t references = recorded.references.size(), least = least_references(recorded.score);
    compare.result(least == 0 ? references == 0 : references >= least, recorded.score + " references",
                   references, least == 0 ? "none" : fmt::format("at least {}", least));
    MembershipAttack again = recorded;
    const bool measured = measure(again, *attacks);
    compare.result(measured, recorded.score + " scores", "nan", "numbers");
    if (!measured) continue;
    compare.fields(measures_json(recorded), measures_json(again), true, recorded.score + " ");
  }
}

}  // namespace fedarena::results
