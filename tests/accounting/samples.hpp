#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/accounting/ledger.hpp"

namespace fedarena {

/// Accesses of one client-round: what, and how often in a row.
inline RoundAccesses accesses(const std::vector<std::pair<std::string, std::int64_t>>& list) {
  RoundAccesses result;
  for (const auto& [what, count] : list) {
    for (std::int64_t i = 0; i < count; ++i) result.add(ExactAccess{what});
  }
  return result;
}

/// Three clients: one with two segments and a round sat out, one with one, and one that never took part.
inline Ledger sample_ledger() {
  Ledger ledger;
  ledger.add_client(0, 600);
  ledger.add_client(3, 0);
  ledger.add_client(7, 41);
  for (const std::int64_t round : {1, 2, 5}) ledger.record(round, 0, accesses({{"gradient", 10}}));
  ledger.record(6, 0, accesses({{"gradient", 10}, {"loss", 1}}));
  ledger.record(2, 7, accesses({{"label counts", 1}, {"gradient", 3}}));
  return ledger;
}

}  // namespace fedarena
