#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/accounting/ledger.hpp"

#include "results/record/record.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/seal.hpp"

// What an unfinished run, which has no seal, keeps so that it does not go on from files that were edited, or
// that are older than what was answered.
namespace fedarena {

/// What a run directory had published when its checkpoint was written, which the checkpoint holds: whoever
/// edits a number of it must not get it sealed by a resumed run.
struct Published {
  std::int64_t rounds = 0;   ///< so many of `rounds.jsonl`
  std::string chain = {};    ///< chained() over them
  results::Seal files = {};  ///< of `clients.json` and of synthetic sets, as far as there are any
  std::string builds = {};   ///< that took part (recorded_builds)
  std::string data = {};     ///< the hash of the data and that of the partition
  std::string cell = {};     ///< the SHA-256 of its experiment file
  /// A round that the checkpoint holds and that the directory may not have yet, or not as it is to stay; its
  /// text is the writer's own. Empty: none.
  std::string unpublished = {};
};

/// A digest of a round and of `before`, that of the rounds before it: of all that comes out alike when a run
/// is run again, which times do not. Of no rounds it is empty.
std::string chained(const std::string& before, results::RoundRecord round);
/// The digests after 0, 1, ... rounds.
std::vector<std::string> chain_of(const std::vector<results::RoundRecord>& rounds);

/// What the directory of that experiment has published of its first `rounds` rounds, whose digest is `chain`.
/// `plan`: the run's summary. `known`: digests of synthetic sets that lie there already; the others are
/// added.
Published published_so_far(const results::RunDirectory& run, const std::string& experiment,
                           std::int64_t rounds, std::string chain, const results::Summary& plan,
                           results::Seal& known);

/// As JSON, and back. Any other text is an Error.
std::string to_json_text(const Published& published);
Published parse_published(std::string_view text);

/// Throws Error where the checkpoint that holds this is not of the cell with that experiment file.
void check_cell(const results::RunDirectory& run, const std::string& experiment, const Published& published);

/// Throws Error that names the file where the directory does not hold what was published, or was made from
/// other data than the plan. Rounds after those may be there, and their files, and builds that went on; of
/// synthetic sets, older ones may be gone. `chain`: the digests of the rounds that are there.
void check_published(const results::RunDirectory& run, const Published& published,
                     const std::vector<std::string>& chain, const results::Summary& plan);

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
