#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/accounting/ledger.hpp"

namespace fedarena::results {

/// Accesses that nothing privatised, in rounds that were alike.
struct ExactFinding {
  std::optional<std::int64_t> client;  ///< none: all of them at once
  std::int64_t first_round = 0, last_round = 0;
  std::string access;      ///< "gradient", or the event in words
  std::int64_t count = 0;  ///< over these rounds
};

/// The findings of a ledger that promises privacy: those of the population, then client by client, each in
/// the order of rounds. None where nobody's contribution is hidden.
std::vector<ExactFinding> exact_findings(const Ledger& ledger);

}  // namespace fedarena::results
