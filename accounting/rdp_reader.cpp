#include "accounting/rdp_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "fedarena/accounting/unproven.hpp"

namespace fedarena {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Accesses = std::vector<Access>;

Claim claimed(double epsilon) { return {.epsilon = epsilon}; }

Claim refused(const std::string& reason) { return {.epsilon = std::nullopt, .unproven = reason}; }

bool holds_exact_access(const Accesses& accesses) {
  return std::any_of(accesses.begin(), accesses.end(), [](const Access& access) {
    if (const auto* parts = std::get_if<Composition>(&access.event)) return holds_exact_access(parts->parts);
    return std::holds_alternative<ExactAccess>(access.event);
  });
}

// Laplace noise and randomised response are defined on whatever neighbours the rest has. What is assumed to
// be a Poisson sample is priced for the neighbours of Poisson samples.
void add_adjacencies(const Accesses& accesses, bool assume_poisson, std::set<Adjacency>& found) {
  for (const Access& access : accesses) {
    if (const auto* gaussian = std::get_if<Gaussian>(&access.event)) found.insert(gaussian->adjacency);
    if (const auto* sampled = std::get_if<SampledGaussian>(&access.event)) {
      const bool assumed = assume_poisson && sampled->sampling == Sampling::kWithoutReplacement;
      found.insert(assumed ? Adjacency::kAddRemove : sampled->adjacency);
    }
    if (const auto* parts = std::get_if<Composition>(&access.event)) {
      add_adjacencies(parts->parts, assume_poisson, found);
    }
  }
}

}  // namespace

void check_delta(double delta) {
  if (delta >= 0 && delta < 1) return;
  throw Error(Complaint{.found = fmt::format("delta is {}", delta), .allowed = "a number from 0, below 1"});
}

bool assumes_poisson(const AccountSettings& settings) {
  if (settings.assume == "nothing" || settings.assume == "poisson") return settings.assume == "poisson";
  throw Error(Complaint{.found = fmt::format("unknown assumption \"{}\"", settings.assume),
                        .allowed = "\"nothing\", \"poisson\""});
}

std::optional<Claim> plain_claim(const Accesses& accesses, bool assume_poisson) {
  if (accesses.empty()) return claimed(0);
  if (holds_exact_access(accesses)) return claimed(kInfinity);
  std::set<Adjacency> adjacencies;
  add_adjacencies(accesses, assume_poisson, adjacencies);
  if (adjacencies.size() < 2) return std::nullopt;
  return refused("the accesses mix add-remove and replace-one neighbours");
}

const Claim& larger(const Claim& left, const Claim& right) {
  if (left.epsilon == kInfinity || right.epsilon == kInfinity)
    return left.epsilon == kInfinity ? left : right;
  if (!left.epsilon || !right.epsilon) return left.epsilon ? right : left;
  return *right.epsilon > *left.epsilon ? right : left;
}

RdpReader::RdpReader(const AccountSettings& settings)
    : nothing_spent_(rdp_orders(settings.orders), assumes_poisson(settings)),
      assume_poisson_(assumes_poisson(settings)),
      delta_(settings.delta),
      conversion_(conversion_of(settings.conversion)) {
  check_delta(settings.delta);
}

RdpWorth RdpReader::worth(const Accesses& accesses) const {
  for (const Access& access : accesses) validate(access.event);
  if (std::optional<Claim> claim = plain_claim(accesses, assume_poisson_))
    return {.claim = *std::move(claim), .order = 0};
  RdpAccountant accountant = nothing_spent_;
  try {
    for (const Access& access : accesses) accountant.add(access.event, access.count);
  } catch (const Unproven& reason) {
    return {.claim = refused(reason.what()), .order = 0};
  }
  const RdpEpsilon result = accountant.epsilon(delta_, conversion_);
  return {.claim = claimed(result.epsilon), .order = result.epsilon == kInfinity ? 0 : result.order};
}

RdpReading RdpReader::read(const Ledger& ledger) const {
  RdpReading reading;
  if (ledger.unit() == Unit::kNothing) {
    reading.claim = refused("the run has no privacy policy, so that it protects nobody");
    return reading;
  }
  reading.claim = claimed(0);
  const auto charge = [&](std::int64_t client) {
    Accesses accesses = ledger.charged(client);
    auto at = reading.worths.find(accesses);
    if (at == reading.worths.end()) {
      add_adjacencies(accesses, assume_poisson_, reading.adjacencies);
      const RdpWorth worth = this->worth(accesses);
      at = reading.worths.emplace(std::move(accesses), worth).first;
      reading.claim = larger(reading.claim, worth.claim);
    }
    reading.clients.push_back({.client = client, .rdp = at->second.claim, .order = at->second.order});
  };
  if (ledger.unit() == Unit::kClient) charge(-1);
  if (ledger.unit() == Unit::kRecord) {
    for (const auto& [client, record] : ledger.clients()) charge(client);
  }
  if (reading.adjacencies.size() > 1 && reading.claim.epsilon != kInfinity) {
    reading.claim = refused("the clients mix add-remove and replace-one neighbours");
  }
  return reading;
}

}  // namespace fedarena
