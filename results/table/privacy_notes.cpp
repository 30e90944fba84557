// What a reader must know about the epsilons of rows.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/accounting/metric.hpp"
#include "fedarena/base/text.hpp"

#include "results/record/claim_text.hpp"
#include "results/table/notes.hpp"
#include "results/table/table.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

using Claims = std::vector<std::optional<PrivacyClaim>>;

// What claims state in one respect, once each.
std::set<std::string> stated(const Claims& claims, std::string (*respect)(const PrivacyClaim&)) {
  std::set<std::string> texts;
  for (const std::optional<PrivacyClaim>& claim : claims) {
    if (claim) texts.insert(respect(*claim));
  }
  texts.erase("");
  return texts;
}

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

void note_made(const std::string& row, const PrivacyClaim& claim, std::vector<std::string>& notes) {
  const std::string charge = charge_text(claim);
  if (charge.empty()) return;
  notes.push_back(fmt::format(
      "{}: {}, because data may have decided how much of it was asked for; that alone would be {} (RDP), {} "
      "(PLD)",
      row, charge, claim_text(claim.made_rdp, epsilon_number), claim_text(claim.made_pld, epsilon_number)));
}

void note_varied(const std::string& row, const PrivacyClaim& claim, std::vector<std::string>& notes) {
  if (!assumes_data_had_no_say(claim)) return;
  notes.push_back(fmt::format(
      "{}: accesses changed from round to round, with neither a bound by the algorithm nor a budget: "
      "epsilon is proven only if data had no say in that",
      row));
}

// Rows of which the same is to be said are told together; `text_of` is empty where nothing is.
void note_alike(std::span<const RowRuns> rows, const Claims& claims,
                std::string (*text_of)(const PrivacyClaim&), std::vector<std::string>& notes) {
  std::map<std::string, std::vector<std::string>> names;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!claims[i]) continue;
    if (const std::string text = text_of(*claims[i]); !text.empty()) names[text].push_back(rows[i].name);
  }
  const auto all = std::ranges::count_if(claims, [](const auto& claim) { return claim.has_value(); });
  constexpr std::ptrdiff_t kMostNamed = 4;
  for (const auto& [text, named] : names) {
    const bool is_all = std::ssize(named) == all && all > kMostNamed;
    notes.push_back(fmt::format(
        "{}: {}", is_all ? "every row under a policy" : fmt::format("{}", fmt::join(named, "; ")), text));
  }
}

std::string public_note(const PrivacyClaim& claim) {
  return claim.public_data.empty() ? "" : "epsilon takes as public, beside sizes: " + public_text(claim);
}

std::string unplanned_note(const PrivacyClaim& claim) { return claim.unplanned ? kUnplannedNote : ""; }

// Of the runs of a row that their budget ended, which others of it may not have done.
void note_budget(const RowRuns& row, const PrivacyClaim& claim, std::vector<std::string>& notes) {
  if (claim.stopped.empty()) return;
  std::vector<std::int64_t> rounds, seeds;
  for (const FoundRun* run : row.runs) {
    if (run->summary->privacy->stopped.empty()) continue;
    rounds.push_back(run->summary->rounds_done);
    seeds.push_back(run->summary->seed);
  }
  const auto [least, most] = std::ranges::minmax(rounds);
  notes.push_back(fmt::format(
      "{}{}: stopped after {} of {} rounds, because {}", row.name,
      seeds.size() == row.runs.size() ? "" : fmt::format(", seed {}", fmt::join(seeds, ", ")),
      range_text(least, most), row.summary().rounds,
      claim.budget.is_list()
          ? "no client's budget pays for another one"
          : "the next one would have overspent the budget of epsilon " + budget_text(claim.budget)));
}

void note_clients(const std::string& row, const PrivacyClaim& claim, std::vector<std::string>& notes) {
  if (!claim.least_rdp) return;
  std::string note = fmt::format("{}: each client's epsilon is its own; ", row);
  if (is_infinite(claim.least_rdp) && is_infinite(claim.least_pld))
    note += "none is finite";
  else
    note +=
        fmt::format("this is the largest, the least is {} (RDP), {} (PLD){}",
                    claim_text(claim.least_rdp, epsilon_number), claim_text(claim.least_pld, epsilon_number),
                    claim.exact_access.empty() ? "" : fmt::format(", {}", kOthersExactNote));
  if (claim.budget.is_list() && claim.spent_clients > 0)
    note +=
        fmt::format("; of the budgets {}, {} for no round beyond those charged", budget_text(claim.budget),
                    counted(claim.spent_clients, "client's pays", "clients' pay"));
  notes.push_back(note);
}

// Rates and counts of a run follow from sizes, so that neighbours of another size are none.
void note_neighbours(const Claims& claims, Adjacency adjacency, const char* how,
                     std::vector<std::string>& notes) {
  std::set<std::string> units;
  bool local = false;
  for (const std::optional<PrivacyClaim>& claim : claims) {
    if (!claim || claim->adjacency != name(adjacency)) continue;
    const bool is_local = claim->unit == "local";
    units.insert(is_local ? "client" : claim->unit);
    local |= is_local;
  }
  if (units.empty()) return;
  notes.push_back(fmt::format(
      "{}: neighbours differ in one {} that {}; the sizes of shards{} and the number of clients "
      "are public",
      name(adjacency), fmt::join(units, " or one "), how, local ? fmt::format(" ({})", kSentSizes) : ""));
}

bool has_synthetic_labels(const PrivacyClaim& claim) {
  return std::ranges::any_of(claim.nominal,
                             [](const auto& nominal) { return nominal.first == kSyntheticLabels; });
}

// Epsilons say the same only of the same delta, unit and adjacency.
void note_comparison(const Claims& claims, std::vector<std::string>& notes) {
  std::vector<std::string> different;
  for (const ClaimTerm& term : claim_terms()) {
    if (stated(claims, term.text).size() > 1) different.emplace_back(term.heading);
  }
  if (different.empty()) return;
  notes.push_back(
      fmt::format("rows differ in {}: their epsilons cannot be compared", fmt::join(different, " and ")));
}

// One mechanism has another epsilon by RDP at other orders, or converted otherwise. PLD has neither.
void note_accountants(const Claims& claims, std::vector<std::string>& notes) {
  const auto orders = stated(claims, [](const PrivacyClaim& claim) { return claim.settings.orders; });
  const auto conversions =
      stated(claims, [](const PrivacyClaim& claim) { return claim.settings.conversion; });
  std::vector<std::string> different;
  if (orders.size() > 1) different.push_back(fmt::format("orders ({})", fmt::join(orders, ", ")));
  if (conversions.size() > 1)
    different.push_back(fmt::format("conversion ({})", fmt::join(conversions, ", ")));
  if (different.empty()) return;
  notes.push_back(fmt::format("rows differ in {} of RDP: their epsilons (RDP) cannot be compared",
                              fmt::join(different, " and ")));
}

// A control is not a result, and canaries are part of the data.
void note_audits(std::span<const RowRuns> rows, std::vector<std::string>& notes) {
  bool any = false;
  for (const RowRuns& row : rows) {
    const std::optional<CanaryAudit>& audit = row.summary().audit;
    any = any || audit;
    if (audit && audit->control)
      notes.push_back(fmt::format("{}: the control of an audit, which ran without noise", row.name));
    const auto contradicting =
        row.seeds_where([](const FoundRun& run) { return audit_contradicts(*run.summary); });
    if (contradicting.empty()) continue;
    notes.push_back(fmt::format(
        "{}: the audits of {} of {} contradict the claim, each with a lower bound above its run's epsilon, "
        "as that of one honest run in twenty at most does: {}",
        row.name, contradicting.size(), counted(row.runs.size(), "seed"), seeds_text(contradicting)));
  }
  if (!any) return;
  notes.push_back(fmt::format(
      "epsilon >=: what canaries prove against each run at {:.0f} %, mean over seeds; rows that have it were "
      "trained and tested with their canaries in",
      100 * kAuditConfidence));
}

}  // namespace

std::vector<std::string> privacy_notes(std::span<const RowRuns> rows) {
  std::vector<std::string> notes;
  Claims claims;
  for (const RowRuns& row : rows) {
    const std::optional<PrivacyClaim>& claim = claims.emplace_back(row.privacy());
    if (!claim) continue;
    note_infinity(row.name, *claim, notes);
    note_unproven(row.name, claim->rdp, claim->pld, "", notes);
    note_unproven(row.name, claim->as_if_rdp, claim->as_if_pld, fmt::format("as if{}, ", kAsIfMark), notes);
    note_made(row.name, *claim, notes);
    note_varied(row.name, *claim, notes);
    note_budget(row, *claim, notes);
    note_clients(row.name, *claim, notes);
  }
  const auto any = [&](const auto& property) {
    return std::ranges::any_of(claims, [&](const auto& claim) { return claim && property(*claim); });
  };
  if (any([](const PrivacyClaim& claim) { return claim.assumed; }))
    notes.push_back(fmt::format("{} assumes Poisson sampling, which is not what ran", kAssumedMark));
  if (any([](const PrivacyClaim& claim) { return claim.as_if_rdp.has_value(); })) {
    notes.push_back(
        fmt::format("{} as if the population were as large as the one whose noise the run simulates; the "
                    "number before it is the run's own",
                    kAsIfMark));
  }
  if (any([](const PrivacyClaim& claim) { return claim.per_distance.has_value(); })) {
    notes.emplace_back(
        "epsilon / distance: what tells apart messages one unit of Euclidean distance apart, summed over "
        "rounds; it becomes an epsilon only where clipping bounds their distance");
  }
  if (any([](const PrivacyClaim& claim) { return !claim.nominal.empty(); }))
    notes.push_back(fmt::format("nominal: {}", kNominalNote));
  if (any(has_synthetic_labels))
    notes.push_back(fmt::format("{}: {}", kSyntheticLabels, kSyntheticLabelsNote));
  note_audits(rows, notes);
  note_neighbours(claims, Adjacency::kZeroOut, "contributes nothing in one of them", notes);
  note_neighbours(claims, Adjacency::kReplaceOne, "is exchanged for another", notes);
  if (any([](const PrivacyClaim& claim) { return claim.unit == "label"; }))
    notes.push_back(fmt::format("unit label: neighbours are {}", kLabelNeighbours));
  note_alike(rows, claims, unplanned_note, notes);
  note_alike(rows, claims, public_note, notes);
  note_alike(rows, claims, delta_warning, notes);
  note_comparison(claims, notes);
  note_accountants(claims, notes);
  return notes;
}

}  // namespace fedarena::results
