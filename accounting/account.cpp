#include "fedarena/accounting/account.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "fedarena/accounting/metric.hpp"
#include "fedarena/accounting/pld.hpp"
#include "fedarena/base/error.hpp"

#include "accounting/checks.hpp"
#include "accounting/rdp_reader.hpp"

namespace fedarena {
namespace {

// The largest PLD epsilon over all lists. In descending order of their RDP epsilons, until that of the rest
// is no larger than a PLD bound that was found: RDP bounds the rest from above too, so that bound holds for
// all.
Claim largest_pld(const RdpReading& reading, const AccountSettings& settings) {
  using Priced = std::pair<const std::vector<Access>, RdpWorth>;
  std::vector<const Priced*> order;
  for (const Priced& priced : reading.worths) order.push_back(&priced);
  const auto bound = [](const Priced* priced) { return priced->second.claim.epsilon.value_or(kInfinity); };
  std::stable_sort(order.begin(), order.end(),
                   [&](const Priced* left, const Priced* right) { return bound(left) > bound(right); });
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

const Claim& worse(const Claim& left, const Claim& right) {
  return badness(right) > badness(left) ? right : left;
}

std::vector<Access> as_assumed(std::vector<Access> accesses, const AccountSettings& settings) {
  if (settings.assume == "nothing") return accesses;
  if (settings.assume != "poisson") {
    throw Error(Complaint{.found = fmt::format("unknown assumption \"{}\"", settings.assume),
                          .allowed = "\"nothing\", \"poisson\""});
  }
  for (Access& access : accesses) access.event = assuming_poisson(std::move(access.event));
  return accesses;
}

Claim pld_claim(const std::vector<Access>& accesses, const AccountSettings& settings) {
  check_delta(settings.delta);
  for (const Access& access : accesses) validate(access.event);
  const std::vector<Access> assumed = as_assumed(accesses, settings);
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

}  // namespace fedarena
