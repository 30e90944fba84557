#include "accounting/rdp_reader.hpp"

#include <utility>

#include <fmt/format.h>

#include "fedarena/accounting/metric.hpp"
#include "fedarena/accounting/unproven.hpp"

#include "accounting/checks.hpp"

namespace fedarena {
namespace {

using Accesses = std::vector<Access>;

Claim claimed(double epsilon) { return {.epsilon = epsilon}; }

Claim refused(const std::string& reason) { return {.epsilon = std::nullopt, .unproven = reason}; }

}  // namespace

std::optional<Claim> plain_claim(const Accesses& accesses) {
  if (accesses.empty()) return claimed(0);
  const auto unprivatised = [](const Event& event) { return std::holds_alternative<ExactAccess>(event); };
  if (any_event(accesses, unprivatised)) return claimed(kInfinity);
  const auto is_metric = [](const Event& event) { return std::holds_alternative<MetricLaplace>(event); };
  if (any_event(accesses, is_metric)) return refused(kNoDistance);
  if (adjacencies(accesses).size() < 2) return std::nullopt;
  return refused(fmt::format("the accesses mix {} neighbours", describe(adjacencies(accesses))));
}

RdpReader::RdpReader(const AccountSettings& settings)
    : settings_(settings),
      nothing_spent_(rdp_orders(settings.orders)),
      conversion_(conversion_of(settings.conversion)) {
  check_delta(settings.delta);
  as_assumed({}, settings);
}

RdpWorth RdpReader::worth(const Accesses& happened) const {
  for (const Access& access : happened) validate(access.event);
  const Accesses accesses = as_assumed(happened, settings_);
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

RdpReading RdpReader::read(const Ledger& ledger, bool each_client) const {
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
      Accesses accesses = as_assumed(ledger.charged(client), settings_);
      auto at = reading.worths.find(accesses);
      if (at == reading.worths.end()) {
        reading.adjacencies.merge(adjacencies(accesses));
        const RdpWorth computed = this->worth(accesses);
        at = reading.worths.emplace(std::move(accesses), computed).first;
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
  if (reading.adjacencies.contains(Adjacency::kZeroOut)) reading.adjacencies.erase(Adjacency::kAddRemove);
  if (reading.adjacencies.size() > 1 && reading.claim.epsilon != kInfinity) {
    reading.claim = refused(fmt::format("the clients mix {} neighbours", describe(reading.adjacencies)));
  }
  return reading;
}

}  // namespace fedarena
