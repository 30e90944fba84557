// What attacks found, against the scores of single examples.
#include <fmt/format.h>

#include "results/audit/comparison.hpp"
#include "results/record/attack_file.hpp"

namespace fedarena::results {

void verify_attacks(const RunDirectory& run, Verification& verification) {
  const std::optional<MembershipAttacks> attacks = read_attacks(run);
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
