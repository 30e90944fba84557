#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/accounting/ledger.hpp"

namespace fedarena::results {

/// The ledger in that file. An Error names it.
Ledger read_ledger_file(const std::filesystem::path& file);

/// The ledger of the run directory at that path. An Error names the file.
Ledger read_ledger(const std::filesystem::path& run);

/// The same; a ledger of another policy than that of the run's summary is an Error, too.
Ledger read_ledger(const std::filesystem::path& run, const std::string& policy);

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

/// Whether the run ended in a round that an exact access to everybody made too dear for its budget: it is in
/// the ledger as one that was lost, under any noise.
bool ended_in_exact_access(const Ledger& ledger);

/// Whose data it was: "client 3", "all clients".
std::string who(const ExactFinding& finding);

}  // namespace fedarena::results
