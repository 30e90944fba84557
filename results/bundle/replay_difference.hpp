#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fedarena::results {

/// In what two run directories were made by different builds or machines, as far as that can change a bit of
/// a result: program, compiler, LibTorch, BLAS, processor, device, GPU, and the plugin of the run's
/// algorithm. One line each, "commit 0123abc, now 4567def"; none: the same build. What an older record does
/// not say counts as different. A record that cannot be read is an Error.
std::vector<std::string> build_differences(const std::filesystem::path& recorded,
                                           const std::filesystem::path& replayed);

/// One value of a record that came out otherwise when its run was run again.
struct RecordDifference {
  std::string file = {};                     ///< below the run directory
  std::int64_t round = 0;                    ///< 0: not of one round
  std::string field = {};                    ///< empty: the file as a whole
  std::string recorded = {}, replayed = {};  ///< as JSON writes them; "missing" where there is none

  bool operator==(const RecordDifference&) const = default;
};

/// Compares two run directories bit by bit: every field of rounds and summary but the seconds, the point of a
/// grid and the tuning, and every byte of ledger, clients' scores and synthetic sets. The rounds come first,
/// in order. A record that cannot be read is an Error.
std::vector<RecordDifference> record_differences(const std::filesystem::path& recorded,
                                                 const std::filesystem::path& replayed);

/// "rounds.jsonl: round 3: test_accuracy was 0.5, came out as 0.25".
std::string describe(const RecordDifference& difference);

}  // namespace fedarena::results
