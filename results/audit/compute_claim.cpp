#include "results/audit/compute_claim.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fedarena/accounting/odometer.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "results/audit/ledger_findings.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

// At the rates 0 and 1 both kinds of sampling are one.
bool has_fixed_size(const Event& event) {
  const auto* gaussian = std::get_if<SampledGaussian>(&event);
  return gaussian != nullptr && gaussian->sampling == Sampling::kWithoutReplacement && gaussian->rate > 0 &&
         gaussian->rate < 1;
}

// Whether some event that counts has the property.
bool any_counts(const Ledger& ledger, const std::function<bool(const Event&)>& property) {
  const auto among = [&](const std::vector<Ledger::Segment>& segments) {
    return any_event(Ledger::charged_of(segments), property);
  };
  if (among(ledger.population()) || among(ledger.as_if())) return true;
  return charges_each_client(ledger.unit()) && std::ranges::any_of(ledger.clients(), [&](const auto& client) {
           return among(client.second.segments);
         });
}

using IsSegment = std::function<bool(std::int64_t client, const Ledger::Segment& segment)>;

// Of single clients, where records are the unit, for which alone there are plans.
bool any_unplanned(const Ledger& ledger, const IsSegment& counts) {
  return ledger.unit() == Unit::kRecord && std::ranges::any_of(ledger.clients(), [&](const auto& client) {
           return std::ranges::any_of(client.second.segments, [&](const Ledger::Segment& segment) {
             return !segment.unmade && counts(client.first, segment);
           });
         });
}

// The first access that nothing privatised among those that count, and its round.
std::string first_exact_access(const Ledger& ledger, const std::string& algorithm) {
  const std::vector<ExactFinding> found = exact_findings(ledger);
  const auto first = std::ranges::min_element(
      found, [](const auto& left, const auto& right) { return left.first_round < right.first_round; });
  if (first == found.end()) return "";
  return fmt::format("{}: {} of {}, round {}", algorithm, first->access, who(*first), first->first_round);
}

// All of which the claim is about.
std::int64_t units_of(const Ledger& ledger) {
  if (ledger.unit() != Unit::kRecord && ledger.unit() != Unit::kLabel)
    return static_cast<std::int64_t>(ledger.clients().size());
  std::int64_t examples = 0;
  for (const auto& [client, record] : ledger.clients()) examples += record.examples;
  return examples;
}

// Of the population that rescaled noise simulates, which no ledger counts.
std::int64_t as_if_units_of(const Summary& summary, const Ledger& ledger) {
  if (ledger.as_if().empty()) return 0;
  const auto* population =
      find_named(summary.policy_settings, "as_if_population", &std::pair<std::string, std::string>::first);
  return population == nullptr ? 0 : parse_number<std::int64_t>(population->second).value_or(0);
}

// Of the client whose epsilon is the run's.
double order_of(const Account& account) {
  for (const ClientAccount& client : account.clients) {
    if (account.rdp.epsilon && client.rdp.epsilon == account.rdp.epsilon) return client.order;
  }
  return 0;
}

// The client with the least epsilon by RDP among those who took part.
const ClientAccount& least_of(const Account& account, const Ledger& ledger) {
  const ClientAccount* least = &account.clients.front();
  bool took_part = false;
  for (const ClientAccount& client : account.clients) {
    if (ledger.clients().at(client.client).segments.empty()) continue;
    if (!took_part || worse(least->rdp, client.rdp) != client.rdp) least = &client;
    took_part = true;
  }
  return *least;
}

// The account of a ledger, where data decided how much of budgets was spent what these prove.
Account charged_account(const PrivacyClaim& claim, const Ledger& ledger, const ChargedBudget& budget) {
  Account account = fedarena::account(ledger, claim.settings);
  if (claim.budget.least() == 0 || !account.rdp.epsilon) return account;
  Claim worst{.epsilon = 0}, largest_budget{.epsilon = 0};
  for (ClientAccount& client : account.clients) {
    const Claim charged = budget.charge(client.rdp, client.client);
    if (charged != client.rdp) {
      largest_budget = worse(largest_budget, charged);
      client.rdp = charged;
      client.order = 0;
    }
    worst = worse(worst, client.rdp);
  }
  if (largest_budget.epsilon == 0.0) return account;
  account.rdp = worst;
  // PLD is not known of each client; what those with budgets of their own spent is not above these.
  account.pld = claim.budget.is_list() ? worse(account.pld, largest_budget) : budget.charge(account.pld, 0);
  return account;
}

}  // namespace

std::vector<std::string> public_data(const Ledger& ledger) {
  std::set<std::string> found(ledger.public_data().begin(), ledger.public_data().end());
  any_counts(ledger, [&](const Event& event) {
    if (const auto* open = std::get_if<DeclaredPublic>(&event)) found.insert("each client's " + open->what);
    return false;
  });
  return {found.begin(), found.end()};
}

Ledger paid_part(const PrivacyClaim& claim, const Ledger& ledger) {
  const bool one_budget = claim.budget.least() > 0 && !claim.budget.is_list();
  // Charged by what others had asked for.
  const bool left_out_unplanned =
      any_unplanned(ledger, [&](std::int64_t /*client*/, const Ledger::Segment& segment) {
        return segment.last_round > ledger.ended_after();
      });
  if (!one_budget || ledger.ended_after() == 0 || ledger.varies() || left_out_unplanned) return ledger;
  const Odometer odometer(claim.settings);
  // In which rounds of a segment a client took part, the ledger does not say: as late as can be, so that the
  // budget pays for no fewer rounds than it would have.
  const auto pays_until = [&](std::int64_t round) {
    const std::optional<double> epsilon = odometer.epsilon(ledger.after_round(round).fewest).epsilon;
    return epsilon && *epsilon <= claim.budget.number();
  };
  // Rounds cost more and more together.
  std::int64_t paid = ledger.ended_after(), last = ledger.last_round();
  if (pays_until(last) || !pays_until(paid)) return ledger;
  while (last - paid > 1) {
    const std::int64_t middle = paid + (last - paid) / 2;
    (pays_until(middle) ? paid : last) = middle;
  }
  return ledger.after_round(paid).most;
}

bool has_unplanned_answers(const Ledger& ledger, std::optional<std::int64_t> client) {
  return any_unplanned(ledger, [&](std::int64_t whose, const Ledger::Segment& segment) {
    return (!client || whose == *client) && any_event(segment.accesses, is_noised);
  });
}

ChargedBudget::ChargedBudget(const PrivacyClaim& claim, const Ledger& ledger)
    : claim_(claim),
      ledger_(ledger),
      any_(claim.budget.least() > 0),
      all_varied_(any_ && !claim.budget.is_list() && ledger.varies()) {
  if (!any_ || !ledger.varies()) return;
  for (const double budget : claim.budget.numbers()) {
    if (!proven_.contains(budget)) proven_.emplace(budget, epsilon_of_filter(budget, claim.settings));
  }
}

Claim ChargedBudget::charge(const Claim& spent, std::int64_t client) const {
  const bool unprotected = spent.epsilon && std::isinf(*spent.epsilon);
  if (!any_ || unprotected) return spent;
  const bool own = claim_.budget.is_list();
  Claim budget{.epsilon = own ? claim_.budget.of(client) : claim_.budget.number()};
  if (own ? ledger_.varies(client) : all_varied_) return {.epsilon = proven_.at(*budget.epsilon)};
  // Rounds that data left out are charged, but whatever came of them, the budget was not to be passed.
  const bool beyond = !spent.epsilon || *spent.epsilon > *budget.epsilon;
  return ledger_.ended_after() > 0 && beyond ? budget : spent;
}

std::optional<PrivacyClaim> claim_so_far(const Summary& summary, const std::filesystem::path& run) {
  std::optional<PrivacyClaim> claim = summary.privacy;
  std::error_code failure;
  if (!claim || summary.state == kFinished || !std::filesystem::exists(run / kLedgerFile, failure))
    return claim;
  const Ledger ledger = read_ledger(run, summary.policy);
  claim->units = units_of(ledger);
  claim->as_if_units = as_if_units_of(summary, ledger);
  claim->public_data = public_data(ledger);
  return claim;
}

void plan_privacy(Summary& summary, const std::string& policy, const AccountSettings& settings,
                  PerClient budget, bool per_client) {
  summary.policy = policy;
  summary.privacy.reset();
  if (policy == "none") return;
  summary.privacy = PrivacyClaim{
      .unit = policy, .settings = settings, .per_client = per_client, .budget = std::move(budget)};
}

void compute_claim(Summary& summary, const Ledger& ledger) {
  if (!summary.privacy) return;
  PrivacyClaim& claim = *summary.privacy;
  FEDARENA_CHECK(claim.unit, ==, name(ledger.unit()));
  const Ledger charged = paid_part(claim, ledger);
  const ChargedBudget budget(claim, charged);
  const Account account = charged_account(claim, charged, budget);
  claim.adjacency = account.adjacency ? std::string(name(*account.adjacency)) : "";
  // Whatever noises it, and if it is never sent, a message may be exchanged for any other.
  if (charged.unit() == Unit::kLocal && claim.adjacency.empty() && account.rdp.epsilon)
    claim.adjacency = name(Adjacency::kReplaceOne);
  claim.units = units_of(charged);
  claim.as_if_units = as_if_units_of(summary, charged);
  claim.assumed = claim.settings.assume != "nothing" && any_counts(charged, has_fixed_size);
  claim.rdp = account.rdp;
  claim.order = order_of(account);
  claim.pld = account.pld;
  claim.as_if_rdp = account.as_if_rdp;
  claim.as_if_pld = account.as_if_pld;
  claim.per_distance = account.per_distance;
  claim.nominal.assign(account.nominal.begin(), account.nominal.end());
  claim.varied = charged.varies();
  // Of clients that vary the claim says so, or charges what their budgets prove.
  const bool own_budgets = claim.budget.is_list();
  // Any answer may have decided on what a round without a plan did not ask for.
  claim.unplanned = is_finite(claim.rdp) && (own_budgets || !claim.varied) &&
                    any_counts(charged, is_noised) &&
                    any_unplanned(charged, [&](std::int64_t client, const Ledger::Segment& /*segment*/) {
                      return !(own_budgets && charged.varies(client));
                    });
  claim.least_rdp = claim.least_pld = std::nullopt;
  if (claim.per_client) {
    const ClientAccount& least = least_of(account, charged);
    claim.least_rdp = least.rdp;
    claim.least_pld = budget.charge(pld_claim(charged.charged(least.client), claim.settings), least.client);
  }
  claim.made_rdp = claim.made_pld = std::nullopt;
  const bool by_budget = claim.budget.least() > 0 && charged.varies();
  if (by_budget && claim.as_if_rdp) {
    claim.as_if_rdp = claim.as_if_pld =
        Claim{.epsilon = {},
              .unproven = "data may have decided how much was asked for, and the budget is the run's own"};
  }
  if (by_budget || charged.charges_more()) {
    const Account made = fedarena::account(ledger.made(), claim.settings);
    // What the worst client was not asked for may be nothing.
    if (by_budget || made.rdp != claim.rdp || made.pld != claim.pld) {
      claim.made_rdp = made.rdp;
      claim.made_pld = made.pld;
    }
  }
  // An exact answer about so small a sample that delta covers it costs nothing.
  const bool infinite = !is_finite(claim);
  claim.public_data = public_data(charged);
  claim.exact_access = infinite ? first_exact_access(charged, summary.algorithm) : "";
}

}  // namespace fedarena::results
