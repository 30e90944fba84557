#include "fedarena/accounting/account.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fedarena/accounting/metric.hpp"
#include "fedarena/accounting/names.hpp"
#include "fedarena/accounting/odometer.hpp"
#include "fedarena/accounting/pld.hpp"
#include "fedarena/accounting/rdp.hpp"
#include "fedarena/accounting/unproven.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

#include "accounting/checks.hpp"

namespace fedarena {
namespace {

using Accesses = std::vector<Access>;

Claim claimed(double epsilon) { return {.epsilon = epsilon}; }

Claim refused(const std::string& reason) { return {.epsilon = std::nullopt, .unproven = reason}; }

// The claim that needs no accountant, if there is one: 0 of nothing, infinity of an exact access, none of a
// mix of adjacencies. An exact access comes first: whatever else there is, infinity is true.
std::optional<Claim> plain_claim(const Accesses& accesses) {
  if (accesses.empty()) return claimed(0);
  const auto unprivatised = [](const Event& event) { return std::holds_alternative<ExactAccess>(event); };
  if (any_event(accesses, unprivatised)) return claimed(kInfinity);
  const auto is_metric = [](const Event& event) { return std::holds_alternative<MetricLaplace>(event); };
  if (any_event(accesses, is_metric)) return refused(kNoDistance);
  if (adjacencies(accesses).size() < 2) return std::nullopt;
  return refused(fmt::format("the accesses mix {} neighbours", describe(adjacencies(accesses))));
}

// Equal events together, all in one order: an epsilon is the same to the last digit however its list came
// about, as a plan or as what was made of it, round by round or at once.
Accesses in_order(Accesses accesses) {
  std::ranges::stable_sort(accesses,
                           [](const Access& left, const Access& right) { return left.event < right.event; });
  Accesses merged;
  for (Access& access : accesses) {
    std::int64_t sum = 0;
    if (!merged.empty() && merged.back().event == access.event &&
        !__builtin_add_overflow(merged.back().count, access.count, &sum))
      merged.back().count = sum;
    else
      merged.push_back(std::move(access));
  }
  return merged;
}

// What one list of accesses is worth by RDP.
using RdpWorth = Odometer::Worth;

// A ledger as the RDP accountant reads it.
struct RdpReading {
  Claim claim;  // of the whole run
  std::set<Adjacency> adjacencies;
  std::vector<ClientAccount> clients;
  // The worth of every distinct list of accesses: clients with equal accesses share one.
  std::map<std::vector<Access>, RdpWorth> worths;
};

// The largest PLD epsilon over all lists. In descending order of their RDP epsilons, until that of the rest
// is no larger than a PLD bound that was found: RDP bounds the rest from above too, so that bound holds for
// all.
Claim largest_pld(const RdpReading& reading, const AccountSettings& settings) {
  using Priced = std::pair<const std::vector<Access>, RdpWorth>;
  std::vector<const Priced*> order;
  for (const Priced& priced : reading.worths) order.push_back(&priced);
  const auto bound = [](const Priced* priced) { return priced->second.claim.epsilon.value_or(kInfinity); };
  std::ranges::stable_sort(order, std::greater{}, bound);
  Claim result{.epsilon = 0};
  for (const Priced* priced : order) {
    if (result.epsilon && bound(priced) <= *result.epsilon) break;
    result = worse(result, pld_claim(priced->first, settings));
  }
  return result;
}

// Ranks above every finite epsilon and below infinity, which is the worst whatever the other may be.
double badness(const Claim& claim) { return claim.epsilon.value_or(std::numeric_limits<double>::max()); }

}  // namespace

// Reads ledgers under fixed settings; keeps the curves of the events it has met. Not in the unnamed
// namespace, for Odometer declares it.
class RdpReader {
 public:
  // Throws Error for settings that no accountant knows.
  explicit RdpReader(const AccountSettings& settings)
      : settings_(settings),
        nothing_spent_(rdp_orders(settings.orders)),
        conversion_(conversion_of(settings.conversion)) {
    check_delta(settings.delta);
    as_assumed({}, settings);
  }

  RdpWorth worth(const Accesses& happened) const {
    for (const Access& access : happened) validate(access.event);
    const Accesses accesses = in_order(as_assumed(happened, settings_));
    if (std::optional<Claim> claim = plain_claim(accesses)) return {.claim = *std::move(claim), .order = 0};
    RdpAccountant accountant = nothing_spent_;
    try {
      for (const Access& access : accesses) accountant.add(access.event, access.count);
    } catch (const Unproven& reason) {
      return {.claim = refused(reason.what()), .order = 0};
    }
    const RdpEpsilon result = accountant.epsilon(settings_.delta, conversion_);
    return {.claim = claimed(result.epsilon), .order = result.epsilon == kInfinity ? 0 : result.order};
  }

  // Without `each_client`, its `clients` are empty. Throws Error for an invalid event.
  RdpReading read(const Ledger& ledger, bool each_client = true) const {
    RdpReading reading;
    if (ledger.unit() == Unit::kNothing) {
      reading.claim = refused("the run has no privacy policy, so that it protects nobody");
      return reading;
    }
    reading.claim = claimed(0);
    const RdpWorth* idle = nullptr;  // of clients that never took part, who may be a million
    const auto charge = [&](std::int64_t client, bool took_part) {
      const RdpWorth* worth = took_part ? nullptr : idle;
      if (worth == nullptr) {
        const auto [at, fresh] =
            reading.worths.try_emplace(in_order(as_assumed(ledger.charged(client), settings_)));
        if (fresh) {
          reading.adjacencies.merge(adjacencies(at->first));
          at->second = this->worth(at->first);
          reading.claim = worse(reading.claim, at->second.claim);
        }
        worth = &at->second;
      }
      if (!took_part) idle = worth;
      if (each_client)
        reading.clients.push_back({.client = client, .rdp = worth->claim, .order = worth->order});
    };
    if (ledger.unit() == Unit::kClient) charge(-1, true);
    if (charges_each_client(ledger.unit())) {
      for (const auto& [client, record] : ledger.clients()) charge(client, !record.segments.empty());
    }
    reading.adjacencies = joint(std::move(reading.adjacencies));
    if (reading.adjacencies.size() > 1 && reading.claim.epsilon != kInfinity) {
      reading.claim = refused(fmt::format("the clients mix {} neighbours", describe(reading.adjacencies)));
    }
    return reading;
  }

 private:
  AccountSettings settings_;
  RdpAccountant nothing_spent_;  // its copies share the curves of events
  Conversion conversion_;
};

const Claim& worse(const Claim& left, const Claim& right) {
  return badness(right) > badness(left) ? right : left;
}

std::vector<Access> as_assumed(std::vector<Access> accesses, const AccountSettings& settings) {
  if (settings.assume == "nothing") return accesses;
  if (settings.assume != "poisson")
    throw unknown_name(fmt::format("unknown assumption \"{}\"", settings.assume), settings.assume,
                       kAssumptionNames);
  for (Access& access : accesses) access.event = assuming_poisson(std::move(access.event));
  return accesses;
}

Claim pld_claim(const std::vector<Access>& accesses, const AccountSettings& settings) {
  check_delta(settings.delta);
  for (const Access& access : accesses) validate(access.event);
  const std::vector<Access> assumed = in_order(as_assumed(accesses, settings));
  if (std::optional<Claim> claim = plain_claim(assumed)) return *std::move(claim);
  try {
    return {.epsilon = pld_epsilon(assumed, settings.delta).upper};
  } catch (const Error& reason) {
    // Settings and events are valid: these numbers are beyond what the bounds were shown for.
    return {.epsilon = std::nullopt, .unproven = reason.what()};
  }
}

Account account(const Ledger& ledger, const AccountSettings& settings) {
  const RdpReader reader(settings);
  RdpReading reading = reader.read(ledger);
  Account account;
  account.unit = ledger.unit();
  account.rdp = reading.claim;
  // What makes one accountant's claim of the whole run void, and not that of a client, voids the other's too.
  const bool mixed = reading.adjacencies.size() > 1;
  account.pld = ledger.unit() == Unit::kNothing || mixed ? reading.claim : largest_pld(reading, settings);
  for (const auto& [accesses, worth] : reading.worths) {
    const std::optional<double> claim = per_distance(accesses);
    if (claim) account.per_distance = std::max(*claim, account.per_distance.value_or(0));
    for (const auto& [what, value] : nominal_sums(accesses)) {
      double& largest = account.nominal[what];
      largest = std::max(largest, value);
    }
  }
  if (reading.adjacencies.size() == 1) account.adjacency = *reading.adjacencies.begin();
  account.clients = std::move(reading.clients);
  if (const std::vector<Access> as_if = ledger.charged_as_if(); !as_if.empty()) {
    account.as_if_rdp = reader.worth(as_if).claim;
    account.as_if_pld = pld_claim(as_if, settings);
  }
  return account;
}

double epsilon_of_filter(double budget, const AccountSettings& settings) {
  return epsilon_of_filter(rdp_orders(settings.orders), budget, settings.delta,
                           conversion_of(settings.conversion));
}

Odometer::Odometer(const AccountSettings& settings) : reader_(std::make_shared<RdpReader>(settings)) {}

Claim Odometer::epsilon(const Ledger& ledger) const { return reader_->read(ledger, false).claim; }

Odometer::Worth Odometer::worth(const std::vector<Access>& accesses) const {
  return reader_->worth(accesses);
}

}  // namespace fedarena
