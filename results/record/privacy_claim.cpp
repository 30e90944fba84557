#include "results/record/privacy_claim.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "fedarena/accounting/names.hpp"
#include "fedarena/base/find.hpp"

#include "results/record/record_form.hpp"

namespace fedarena::results {
namespace {

std::optional<Claim> worse_of(const std::optional<Claim>& left, const std::optional<Claim>& right) {
  if (!left || !right) return left ? left : right;
  return worse(*left, *right);
}

constexpr const char* kUnproven = "unproven";

std::optional<Claim> read_claim(JsonFields& fields, const std::string& epsilon, const std::string& reason) {
  const std::string unproven = fields.text(reason);
  if (fields.is(epsilon, kUnproven)) {
    if (unproven.empty()) fields.reject(reason, "the reason why nothing is proven");
    return Claim{.epsilon = std::nullopt, .unproven = unproven};
  }
  if (!unproven.empty()) fields.reject(reason, fmt::format("empty, because {} is not \"unproven\"", epsilon));
  if (fields.is_null(epsilon)) return std::nullopt;
  const double value = fields.number(epsilon);
  if (!(value >= 0)) fields.reject(epsilon, R"(a number from 0, "inf" or "unproven")");
  return Claim{.epsilon = value};
}

void form_claim(RecordForm& form, const char* epsilon, const char* reason, std::optional<Claim>& claim) {
  if (form.fields() != nullptr) {
    claim = read_claim(*form.fields(), epsilon, reason);
  } else {
    (*form.json())[epsilon] = json_epsilon(claim);
    (*form.json())[reason] = claim ? claim->unproven : "";
  }
}

void check(const PrivacyClaim& claim, JsonFields& fields) {
  if (!claim.adjacency.empty()) fields.choice("adjacency", {kAdjacencyNames.begin(), kAdjacencyNames.end()});
  if (claim.settings.orders.empty()) fields.reject("orders", "the name of an order set");
  if (!claim.stopped.empty()) fields.choice("stopped", {kStoppedByBudget});
  const auto check_pair = [&](const std::string& kind, const std::optional<Claim>& rdp,
                              const std::optional<Claim>& pld) {
    if (rdp.has_value() != pld.has_value()) {
      fields.reject(kind + "epsilon_pld",
                    rdp ? "an epsilon, because there is one of RDP" : "null, because there is none of RDP");
    }
    if (rdp && !claim.rdp) fields.reject(kind + "epsilon_rdp", "null, because epsilon_rdp is");
  };
  check_pair("", claim.rdp, claim.pld);
  check_pair("as_if_", claim.as_if_rdp, claim.as_if_pld);
  check_pair("made_", claim.made_rdp, claim.made_pld);
  check_pair("least_", claim.least_rdp, claim.least_pld);
  const bool has_order = claim.rdp && claim.rdp->epsilon;
  if (claim.order != 0 && !(has_order && claim.order > 1)) {
    fields.reject("order", has_order ? "0 or a number above 1" : "0, because there is no epsilon of RDP");
  }
  // Whatever the accountants say of the rest, an exact access leaves nothing to hide.
  if (!claim.exact_access.empty() && (!claim.rdp || is_finite(claim.rdp) || is_finite(claim.pld))) {
    fields.reject("exact_access", "empty, because epsilon is not infinite");
  }
  if (claim.assumed && claim.settings.assume == "nothing") {
    fields.reject("assumed", "false, because nothing is to be assumed");
  }
}

}  // namespace

bool is_secret(DrawnSizes sizes, const std::optional<PrivacyClaim>& claim) {
  if (!claim || sizes == DrawnSizes::kNone) return false;
  const bool in_cohorts = claim->unit == name(Unit::kClient);
  // How much a client computes is up to its data, and a sum over a cohort tells who was in it.
  if (sizes == DrawnSizes::kBatches && (in_cohorts || claim->unit == name(Unit::kLocal))) return true;
  if (sizes == DrawnSizes::kCohorts && !in_cohorts) return false;
  return claim->adjacency.empty() ? !claim->rdp : claim->adjacency != name(Adjacency::kReplaceOne);
}

bool charges_budget(const PrivacyClaim& claim) {
  if (!claim.made_rdp || !is_finite(claim.rdp)) return false;
  const double epsilon = *claim.rdp->epsilon;
  return claim.budget.least() > 0 && std::ranges::any_of(claim.budget.numbers(), [&](double budget) {
           if (epsilon == budget) return true;
           // The mathematical library of another machine may round otherwise.
           return claim.varied &&
                  std::abs(epsilon - epsilon_of_filter(budget, claim.settings)) < 1e-9 * budget;
         });
}

bool hides_what_was_spent(const PrivacyClaim& claim) {
  return claim.varied && claim.budget.least() > 0 && is_finite(claim.rdp);
}

bool assumes_data_had_no_say(const PrivacyClaim& claim) { return claim.varied && claim.budget.least() == 0; }

bool is_finite(const std::optional<Claim>& claim) {
  return claim && claim->epsilon && std::isfinite(*claim->epsilon);
}

bool is_finite(const PrivacyClaim& claim) { return is_finite(claim.rdp) || is_finite(claim.pld); }

PrivacyClaim joint(const PrivacyClaim& left, const PrivacyClaim& right) {
  PrivacyClaim claim = left;
  if (left.made_rdp || right.made_rdp) {
    const auto made = [](const std::optional<Claim>& made_only, const std::optional<Claim>& charged) {
      return made_only ? made_only : charged;
    };
    claim.made_rdp = worse_of(made(left.made_rdp, left.rdp), made(right.made_rdp, right.rdp));
    claim.made_pld = worse_of(made(left.made_pld, left.pld), made(right.made_pld, right.pld));
  }
  claim.assumed = left.assumed || right.assumed;
  claim.varied = left.varied || right.varied;
  claim.unplanned = left.unplanned || right.unplanned;
  if (right.per_distance)
    claim.per_distance = std::max(*right.per_distance, left.per_distance.value_or(*right.per_distance));
  for (const auto& [what, value] : right.nominal) {
    const auto known = std::ranges::find(claim.nominal, what, &std::pair<std::string, double>::first);
    if (known == claim.nominal.end()) {
      claim.nominal.emplace_back(what, value);
    } else {
      known->second = std::max(known->second, value);
    }
  }
  const bool less =
      left.least_rdp && right.least_rdp && worse(*left.least_rdp, *right.least_rdp) == *left.least_rdp;
  if (less) {
    claim.least_rdp = right.least_rdp;
    claim.least_pld = right.least_pld;
  }
  claim.spent_clients = std::max(left.spent_clients, right.spent_clients);
  claim.rdp = worse_of(left.rdp, right.rdp);
  if (claim.rdp != left.rdp) claim.order = right.order;
  claim.pld = worse_of(left.pld, right.pld);
  claim.as_if_rdp = worse_of(left.as_if_rdp, right.as_if_rdp);
  claim.as_if_pld = worse_of(left.as_if_pld, right.as_if_pld);
  claim.units = std::max(left.units, right.units);
  claim.as_if_units = std::max(left.as_if_units, right.as_if_units);
  if (claim.exact_access.empty()) claim.exact_access = right.exact_access;
  std::set<std::string> all(left.public_data.begin(), left.public_data.end());
  all.insert(right.public_data.begin(), right.public_data.end());
  claim.public_data.assign(all.begin(), all.end());
  if (claim.stopped.empty()) claim.stopped = right.stopped;
  return claim;
}

Json json_epsilon(const std::optional<Claim>& claim) {
  if (!claim) return nullptr;
  return claim->epsilon ? json_number(*claim->epsilon) : Json(kUnproven);
}

void form_privacy(RecordForm& form, PrivacyClaim& claim) {
  form.choice("unit", claim.unit, {"record", "client", "local", "label"});
  form.text("adjacency", claim.adjacency);
  form.fraction("delta", claim.settings.delta);
  form.text("orders", claim.settings.orders);
  form.choice("conversion", claim.settings.conversion, {"balle", "classic"});
  form.choice("assume", claim.settings.assume, {"nothing", "poisson"});
  form.boolean("assumed", claim.assumed);
  form_claim(form, "epsilon_rdp", "rdp_unproven", claim.rdp);
  form.number("order", claim.order);
  form_claim(form, "epsilon_pld", "pld_unproven", claim.pld);
  form_claim(form, "as_if_epsilon_rdp", "as_if_rdp_unproven", claim.as_if_rdp);
  form_claim(form, "as_if_epsilon_pld", "as_if_pld_unproven", claim.as_if_pld);
  form_claim(form, "made_epsilon_rdp", "made_rdp_unproven", claim.made_rdp);
  form_claim(form, "made_epsilon_pld", "made_pld_unproven", claim.made_pld);
  form.flag("per_client", claim.per_client);
  if (claim.per_client) {
    form_claim(form, "least_epsilon_rdp", "least_rdp_unproven", claim.least_rdp);
    form_claim(form, "least_epsilon_pld", "least_pld_unproven", claim.least_pld);
    form.integer("spent_clients", claim.spent_clients, 0);
  }
  if (form.has("per_distance", claim.per_distance))
    form.amount("per_distance", form.part(claim.per_distance));
  if (form.has("nominal", claim.nominal)) form.field("nominal", claim.nominal, &JsonFields::numbers);
  form.boolean("varied", claim.varied);
  form.flag("unplanned", claim.unplanned);
  form.text("exact_access", claim.exact_access);
  form.field("public_data", claim.public_data, &JsonFields::list_of_texts);
  if (form.has("units", claim.units)) form.integer("units", claim.units, 1);
  if (form.has("as_if_units", claim.as_if_units)) form.integer("as_if_units", claim.as_if_units, 1);
  form.field("budget", claim.budget, &JsonFields::per_client);
  form.text("stopped", claim.stopped);
  if (form.fields() != nullptr) check(claim, *form.fields());
}

void append_privacy(Json& json, const PrivacyClaim& claim) { append_fields(json, claim, form_privacy); }

}  // namespace fedarena::results
