#include "results/audit/privacy_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "fedarena/accounting/pure.hpp"
#include "fedarena/accounting/rdp.hpp"
#include "fedarena/accounting/unproven.hpp"

#include "results/audit/compute_claim.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/run_setup.hpp"

namespace fedarena::results {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNoPart = std::numeric_limits<double>::quiet_NaN();
// Any order tells whether a divergence is infinite at all orders.
constexpr double kSomeOrder = 2;

// Equal events together, in the order in which they came first.
std::vector<EventShare> kinds_of(const std::vector<Access>& accesses) {
  std::vector<EventShare> kinds;
  std::map<std::vector<Access>, std::size_t> places;
  for (const Access& access : accesses) {
    const auto [place, added] = places.emplace(std::vector<Access>{{access.event, 1}}, kinds.size());
    if (added) kinds.push_back({.event = access.event, .count = 0, .part = kNoPart});
    kinds[place->second].count += access.count;
  }
  return kinds;
}

// What the accesses cost: at that order, or without order (0: as a pure epsilon). Infinity for an exact
// access.
double cost(const Access& kind, double order, RdpAccountant& accountant) {
  if (std::holds_alternative<ExactAccess>(kind.event)) return kInfinity;
  const auto count = static_cast<double>(kind.count);
  if (std::isinf(order)) return count * pure_epsilon(kind.event);
  const std::vector<double>& orders = accountant.orders();
  const auto at = std::ranges::find(orders, order == 0 ? kSomeOrder : order);
  if (at == orders.end()) return kNoPart;
  return count * accountant.curve(kind.event)[static_cast<std::size_t>(at - orders.begin())];
}

void set_parts(ClientGroup& group, const AccountSettings& settings) {
  if (group.by_budget || !group.rdp->epsilon) return;
  RdpAccountant accountant(rdp_orders(settings.orders));
  std::vector<double> costs;
  try {
    for (const EventShare& kind : group.events) {
      const std::vector<Access> assumed = as_assumed({{kind.event, kind.count}}, settings);
      costs.push_back(cost(assumed.front(), group.order, accountant));
    }
  } catch (const Unproven&) {
    return;  // beside an exact access, which decides
  }
  double total = 0;
  for (const double each : costs) total += each;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const bool infinite = std::isinf(costs[i]);
    group.events[i].part = std::isinf(total) ? (infinite ? kInfinity : 0) : total > 0 ? costs[i] / total : 0;
  }
}

// The name of the algorithm's plugin; empty where the record does not say.
std::string plugin_name(const RunDirectory& run, const std::string& algorithm) {
  try {
    const Json plugin = plugin_of(read_environment(run.path()), algorithm);
    return plugin.contains("name") && plugin["name"].is_string() ? plugin["name"].get<std::string>() : "";
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

// In the order of their first clients.
std::vector<ClientGroup> client_groups(const Ledger& ledger, const PerClient& budgets) {
  const bool all_at_once = ledger.unit() == Unit::kClient;
  std::vector<ClientGroup> groups;
  std::map<std::tuple<std::vector<Access>, std::int64_t, double, bool>, std::size_t> places;
  for (const auto& [client, record] : ledger.clients()) {
    const std::vector<Ledger::Segment>& segments = all_at_once ? ledger.population() : record.segments.list();
    // A ledger that protects nobody charges nothing, but what happened can be told.
    const std::vector<Access> accesses = all_at_once || ledger.unit() == Unit::kNothing
                                             ? Ledger::accesses_of(segments)
                                             : ledger.charged(client);
    const std::int64_t rounds = Ledger::participations_of(segments);
    const bool own = budgets.is_list();
    const auto [place, added] = places.emplace(
        std::tuple(accesses, rounds, own ? budgets.of(client) : 0, own && ledger.varies(client)),
        groups.size());
    if (added)
      groups.push_back({.clients = {},
                        .examples_least = record.examples,
                        .examples_most = record.examples,
                        .rounds = rounds,
                        .rdp = {},
                        .events = kinds_of(accesses)});
    ClientGroup& group = groups[place->second];
    group.examples_least = std::min(group.examples_least, record.examples);
    group.examples_most = std::max(group.examples_most, record.examples);
    if (!all_at_once) group.clients.push_back(client);
  }
  return groups;
}

void charge_groups(std::span<ClientGroup> groups, const PrivacyClaim& claim, const Ledger& ledger,
                   const Odometer& odometer) {
  const ChargedBudget budget(claim, ledger);
  for (ClientGroup& group : groups) {
    std::vector<Access> accesses;
    for (const EventShare& kind : group.events) accesses.push_back({kind.event, kind.count});
    const Odometer::Worth spent = odometer.worth(accesses);
    group.rdp = budget.charge(spent.claim, group.clients.empty() ? 0 : group.clients.front());
    group.by_budget = group.rdp != spent.claim;
    if (!group.by_budget) group.order = spent.order;
  }
}

PrivacyReport privacy_report(const RunDirectory& run) {
  PrivacyReport report{.path = run.path(), .summary = run.summary()};
  // Its ledger is written each round, the summary with checkpoints alone.
  if (report.summary.privacy && report.summary.state != kFinished)
    report.summary.rounds_done = run.rounds_recorded();
  Ledger ledger = read_ledger(run.path(), report.summary.policy);
  compute_claim(report.summary, ledger);
  if (report.summary.privacy) ledger = paid_part(*report.summary.privacy, ledger);
  report.plugin = plugin_name(run, report.summary.algorithm);
  report.groups =
      client_groups(ledger, report.summary.privacy ? report.summary.privacy->budget : PerClient(0));
  if (report.summary.privacy) {
    const AccountSettings& settings = report.summary.privacy->settings;
    charge_groups(report.groups, *report.summary.privacy, ledger, Odometer(settings));
    for (ClientGroup& group : report.groups) set_parts(group, settings);
  }
  report.exact = exact_findings(ledger);
  report.keeps =
      std::ranges::any_of(ledger.clients(), [](const auto& client) { return !client.second.kept.empty(); });
  return report;
}

}  // namespace fedarena::results
