#include "results/record/claim_text.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/accounting/metric.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena::results {
namespace {

std::string rdp_details(const PrivacyClaim& claim) {
  const std::string choices =
      fmt::format("orders {}, conversion {}", claim.settings.orders, claim.settings.conversion);
  if (claim.order == 0) return fmt::format(" ({})", choices);
  if (std::isinf(claim.order)) return " (the sum of pure epsilons)";
  return fmt::format(" at order {} ({})", order_text(claim.order), choices);
}

std::string unit_text(const PrivacyClaim& claim) {
  if (claim.unit == "label") return fmt::format("the label of one example; neighbours: {}", kLabelNeighbours);
  std::string text = claim.unit == "record" ? "one example of one client" : "all that one client holds";
  if (claim.unit == "local") text += ", from the server too";
  if (claim.adjacency == "zero-out") text += "; neighbours: one contributes or is zero (zero-out)";
  if (claim.adjacency == "add-remove") text += "; neighbours: one more or less (add-remove)";
  if (claim.adjacency == "replace-one") text += "; neighbours: one exchanged for another (replace-one)";
  if (claim.adjacency == "zero-out" || claim.adjacency == "replace-one") text += "; sizes are public";
  if (claim.unit == "local") text += fmt::format("; {}", kSentSizes);
  return text;
}

// The claim with the reason: "unproven: no bound is known".
std::string explained_claim(const std::optional<Claim>& claim) {
  const bool unproven = claim && !claim->epsilon;
  return claim_text(claim, epsilon_number) + (unproven ? ": " + claim->unproven : "");
}

}  // namespace

std::string claim_text(const std::optional<Claim>& claim, EpsilonText number) {
  return !claim ? "none" : claim->epsilon ? number(*claim->epsilon) : "unproven";
}

const char* assumption_mark(const PrivacyClaim& claim, const std::optional<Claim>& epsilon) {
  return claim.assumed && is_finite(epsilon) ? kAssumedMark : "";
}

std::string claims_text(const std::optional<PrivacyClaim>& claim, EpsilonText number) {
  if (!claim) return "none";
  const auto both = [&](const std::optional<Claim>& rdp, const std::optional<Claim>& pld) {
    return fmt::format("{}{} (RDP), {}{} (PLD)", claim_text(rdp, number), assumption_mark(*claim, rdp),
                       claim_text(pld, number), assumption_mark(*claim, pld));
  };
  return both(claim->rdp, claim->pld) +
         (claim->as_if_rdp ? ", as if " + both(claim->as_if_rdp, claim->as_if_pld) : "");
}

std::string budget_text(const PerClient& budget) {
  const std::string texts = joined(budget.numbers(), ", ", short_number);
  return budget.is_list() ? fmt::format("[{}]", texts) : texts;
}

std::string delta_warning(double delta, std::int64_t units, const char* unit) {
  // Compared as a product: a quotient may round to the other side.
  if (units <= 0 || delta * static_cast<double>(units) < 1) return {};
  return fmt::format(
      "delta {} is not below 1/{}, one over the number of {}s: it allows to publish one as it is",
      short_number(delta), units, unit);
}

std::string delta_warning(const PrivacyClaim& claim) {
  const char* unit = claim.unit == "record" ? "example" : claim.unit == "label" ? "label" : "client";
  std::string warning = delta_warning(claim.settings.delta, claim.units, unit);
  if (!warning.empty() || claim.settings.delta * static_cast<double>(claim.as_if_units) < 1) return warning;
  return fmt::format(
      "delta {} is not below 1/{}, one over the clients of the as-if population: there it allows to "
      "publish one as it is",
      short_number(claim.settings.delta), claim.as_if_units);
}

std::string charge_text(const PrivacyClaim& claim) {
  if (!claim.made_rdp) return {};
  if (charges_budget(claim)) {
    const bool whole = contains(claim.budget.numbers(), *claim.rdp->epsilon);
    return !whole ? fmt::format("epsilon is what a filter with {} {} proves",
                                claim.budget.is_list() ? "one of the budgets" : "the budget",
                                budget_text(claim.budget))
                  : "epsilon is the budget";
  }
  // The client with the largest epsilon may be another one than those whose accesses changed.
  if (claim.varied && claim.budget.is_list() && claim.made_rdp == claim.rdp && claim.rdp->epsilon)
    return "clients whose accesses changed are charged what a filter with their budgets proves";
  const bool charges_more = claim.made_rdp != claim.rdp || claim.made_pld != claim.pld;
  return charges_more ? "epsilon charges for all that was planned" : "";
}

std::string public_text(const PrivacyClaim& claim) {
  return fmt::format("{}", fmt::join(claim.public_data, ", "));
}

std::string order_text(double order) {
  if (order == 0) return "-";
  return std::isinf(order) ? "pure" : fmt::format("{}", order);
}

std::vector<std::pair<std::string, std::string>> claim_lines(const PrivacyClaim& claim) {
  std::vector<std::pair<std::string, std::string>> lines = {{"hides", unit_text(claim)}};
  const auto add_both = [&](const char* head, const std::optional<Claim>& rdp, const std::string& of_rdp,
                            const std::optional<Claim>& pld, const std::string& of_pld = {}) {
    lines.emplace_back(head, explained_claim(rdp) + " by RDP" + of_rdp);
    lines.emplace_back("", explained_claim(pld) + " by PLD" + of_pld);
  };
  add_both("epsilon", claim.rdp, rdp_details(claim), claim.pld);
  lines.emplace_back("delta", short_number(claim.settings.delta));
  if (const std::string warning = delta_warning(claim); !warning.empty()) lines.emplace_back("", warning);
  if (claim.least_rdp) {
    const bool beside_exact = !claim.exact_access.empty() && is_finite(claim.least_rdp);
    add_both("least", claim.least_rdp,
             ", of the client with the least; epsilon is that of the one with the largest", claim.least_pld,
             beside_exact ? fmt::format("; {}", kOthersExactNote) : "");
  }
  if (claim.as_if_rdp) {
    add_both("as if", claim.as_if_rdp, ", of the larger population that the noise was rescaled for",
             claim.as_if_pld);
  }
  if (const std::string charge = charge_text(claim); !charge.empty()) {
    add_both("made", claim.made_rdp, fmt::format(", of what was asked for; {},", charge), claim.made_pld,
             "; because data may have decided how much of it was asked for");
  }
  if (claim.per_distance) {
    lines.emplace_back("distance", short_number(*claim.per_distance) +
                                       " for each unit of Euclidean distance between messages, which is "
                                       "metric privacy");
  }
  for (const auto& [what, value] : claim.nominal) {
    lines.emplace_back("nominal", fmt::format("{} {}: {}", what, short_number(value), kNominalNote));
    if (what == kSyntheticLabels) lines.emplace_back("", kSyntheticLabelsNote);
  }
  if (assumes_data_had_no_say(claim)) {
    lines.emplace_back("varies",
                       "accesses changed from round to round, with neither a bound nor a budget: "
                       "epsilon is proven only if data had no say in that");
  }
  if (claim.unplanned) lines.emplace_back("no plan", kUnplannedNote);
  if (claim.assumed || !(claim.unplanned || assumes_data_had_no_say(claim)))
    lines.emplace_back("assumes", claim.assumed ? "that samples of a fixed size are Poisson samples, which "
                                                  "nobody has proven right"
                                                : "nothing that is unproven");
  if (!claim.public_data.empty()) lines.emplace_back("public", public_text(claim));
  if (claim.budget.least() > 0) {
    std::string text = budget_text(claim.budget);
    if (claim.budget.is_list() && claim.spent_clients > 0)
      text += fmt::format(", each client its own, which pays for no round beyond those charged of {}",
                          counted(claim.spent_clients, "client"));
    if (!claim.stopped.empty()) text += ", which stopped the run before its planned rounds";
    lines.emplace_back("budget", text);
  }
  return lines;
}

}  // namespace fedarena::results
