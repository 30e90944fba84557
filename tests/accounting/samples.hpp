#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/accounting/ledger.hpp"

namespace fedarena {

inline Event poisson(double rate, double noise, Adjacency adjacency = Adjacency::kAddRemove) {
  return SampledGaussian{Sampling::kPoisson, rate, {noise}, adjacency};
}
inline Event fixed_size(double rate, double noise, Adjacency adjacency = Adjacency::kReplaceOne) {
  return SampledGaussian{Sampling::kWithoutReplacement, rate, {noise}, adjacency};
}

/// Accesses of one client-round: what, and how often in a row.
inline RoundAccesses accesses(const std::vector<std::pair<std::string, std::int64_t>>& list) {
  RoundAccesses result;
  for (const auto& [what, count] : list) {
    for (std::int64_t i = 0; i < count; ++i) result.add(ExactAccess{what});
  }
  return result;
}

/// One event of each kind, with numbers that decimal fractions do not hold.
inline std::vector<Event> event_of_each_kind() {
  const SampledGaussian poisson{Sampling::kPoisson, 64.0 / 2'500, {1.1}, Adjacency::kAddRemove};
  const SampledGaussian fixed{Sampling::kWithoutReplacement, 1.0 / 3, {0.7, 40}, Adjacency::kReplaceOne};
  return {ExactAccess{"loss"},
          Gaussian{1.0 / 7, Adjacency::kReplaceOne},
          poisson,
          fixed,
          Laplace{3, 0.1},
          RandomizedResponse{10, 2.3},
          Composition{{{poisson, 4}, {Composition{{{Laplace{1, 0.3}, 2}}}, 5}}},
          DeclaredPublic{"classes"},
          MetricLaplace{11, 0.1},
          Nominal{"n/nu", 2.2}};
}

/// A ledger of that many clients, 0, 1, ..., none of which took part.
inline Ledger idle_ledger(Unit unit, std::int64_t clients = 1) {
  Ledger ledger(unit);
  for (std::int64_t client = 0; client < clients; ++client) ledger.add_client(client, 600);
  return ledger;
}

/// Three clients: one with two segments and a round sat out, one with one, and one that never took part.
inline Ledger sample_ledger(Unit unit = Unit::kNothing) {
  Ledger ledger(unit);
  ledger.add_client(0, 600);
  ledger.add_client(3, 0);
  ledger.add_client(7, 41);
  for (const std::int64_t round : {1, 2, 5}) ledger.record(round, 0, accesses({{"gradient", 10}}));
  ledger.record(6, 0, accesses({{"gradient", 10}, {"loss", 1}}));
  ledger.record(2, 7, accesses({{"label counts", 1}, {"gradient", 3}}));
  return ledger;
}

/// A ledger in which every field holds something.
inline Ledger full_ledger() {
  Ledger ledger = sample_ledger(Unit::kClient);
  ledger.declare_public({"the server's proxy data"});
  RoundAccesses all;
  for (const Event& event : event_of_each_kind()) all.add(event);
  RoundAccesses planned = all;
  planned.leave_unmade(all.list());
  ledger.record(9, 3, planned);
  ledger.withhold(3);
  for (const std::int64_t round : {1, 2, 3}) {
    ledger.record_population(round, all);
    ledger.record_as_if(round, RoundAccesses({{Gaussian{2}, 1}}));
  }
  ledger.record_population(4, accesses({{"messages", 1}}));
  return ledger;
}

}  // namespace fedarena
