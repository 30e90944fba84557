#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "fedarena/accounting/ledger.hpp"

namespace fedarena {

// Beside the ledger of an unfinished run whose lost rounds stay charged lies `results::kChargedFile`: how
// many accesses that ledger charges. With the ledger alone, an older one that is put back would take back
// what crashes lost. The mark is written after the ledger and before anything that the noise touched, so that
// a ledger with fewer is not the last one. Whoever puts back all files of a folder leaves no trace.

/// The number in the file of that run directory; none where there is none yet. Throws Error for any other
/// content.
std::optional<std::int64_t> read_charged_mark(const std::filesystem::path& run);
/// Replaces the file, all or nothing.
void write_charged_mark(const std::filesystem::path& run, const Ledger& ledger);
/// Throws Error where the ledger charges fewer accesses than were marked.
void check_charged_mark(const std::filesystem::path& run, const Ledger& ledger, std::int64_t marked);

}  // namespace fedarena
