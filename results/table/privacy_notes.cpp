#include "results/table/privacy_notes.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

bool is_infinite(const std::optional<Claim>& claim) {
  return claim && claim->epsilon && std::isinf(*claim->epsilon);
}

void note_infinity(const std::string& row, const PrivacyClaim& claim, std::vector<std::string>& notes) {
  if (!claim.exact_access.empty()) {
    notes.push_back(
        fmt::format("{}: nothing is protected, because of an exact access ({})", row, claim.exact_access));
  } else if (is_infinite(claim.rdp) || is_infinite(claim.pld)) {
    const char* accountants = !is_infinite(claim.pld) ? "RDP" : !is_infinite(claim.rdp) ? "PLD" : "RDP, PLD";
    notes.push_back(fmt::format("{}: no epsilon ({}) is finite at delta {}", row, accountants,
                                short_number(claim.settings.delta)));
  }
}

// `as_if` is empty, or names the population that the claims are about.
void note_unproven(const std::string& row, const std::optional<Claim>& rdp, const std::optional<Claim>& pld,
                   const std::string& as_if, std::vector<std::string>& notes) {
  if (!rdp || !pld) return;
  const auto note = [&](const char* accountants, const std::string& reason) {
    if (reason.empty()) return;
    notes.push_back(fmt::format("{}: {}epsilon ({}) is unproven: {}", row, as_if, accountants, reason));
  };
  if (rdp->unproven == pld->unproven) return note("RDP, PLD", rdp->unproven);
  note("RDP", rdp->unproven);
  note("PLD", pld->unproven);
}

void note_declared_public(const std::string& row, const PrivacyClaim& claim,
                          std::vector<std::string>& notes) {
  if (claim.declared_public.empty()) return;
  notes.push_back(fmt::format("{}: takes for public knowledge, as the experiment declares: each client's {}",
                              row, claim.declared_public));
}

void note_budget(const std::string& name, const Row& row, std::vector<std::string>& notes) {
  if (row.privacy->stopped.empty()) return;
  notes.push_back(fmt::format(
      "{} {}: stopped after {} of {} rounds, because the next one would have overspent the budget "
      "of epsilon {}",
      kStoppedMark, name, rounds_done(row), row.rounds, short_number(row.privacy->budget)));
}

// Epsilons say the same only of the same delta, unit and adjacency.
void note_comparison(const Table& table, std::vector<std::string>& notes) {
  std::set<double> deltas;
  std::set<std::string> units;
  std::set<std::string> adjacencies;
  for (const Row& row : table.rows) {
    if (!row.privacy) continue;
    deltas.insert(row.privacy->settings.delta);
    units.insert(row.privacy->unit);
    if (!row.privacy->adjacency.empty()) adjacencies.insert(row.privacy->adjacency);
  }
  std::vector<std::string> different;
  if (deltas.size() > 1) different.emplace_back("delta");
  if (units.size() > 1) different.emplace_back("unit");
  if (adjacencies.size() > 1) different.emplace_back("adjacency");
  if (different.empty()) return;
  notes.push_back(
      fmt::format("rows differ in {}: their epsilons cannot be compared", fmt::join(different, " and ")));
}

}  // namespace

std::vector<std::string> privacy_notes(const Table& table,
                                       const std::function<std::string(const Row&)>& name) {
  std::vector<std::string> notes;
  bool assumed = false;
  bool as_if = false;
  for (const Row& row : table.rows) {
    if (!row.privacy) continue;
    const PrivacyClaim& claim = *row.privacy;
    note_infinity(name(row), claim, notes);
    note_unproven(name(row), claim.rdp, claim.pld, "", notes);
    note_unproven(name(row), claim.as_if_rdp, claim.as_if_pld, fmt::format("as if{}, ", kAsIfMark), notes);
    note_declared_public(name(row), claim, notes);
    note_budget(name(row), row, notes);
    assumed = assumed || claim.assumed;
    as_if = as_if || claim.as_if_rdp.has_value();
  }
  if (assumed)
    notes.push_back(fmt::format("{} assumes Poisson sampling, which is not what ran", kAssumedMark));
  if (as_if) {
    notes.push_back(
        fmt::format("{} as if the population were as large as the one whose noise the run simulates; the "
                    "number before it is the run's own",
                    kAsIfMark));
  }
  note_comparison(table, notes);
  return notes;
}

}  // namespace fedarena::results
