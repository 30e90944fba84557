#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"
#include "results/live/folder_locks.hpp"
#include "results/live/live_cell.hpp"

namespace fedarena::results {

/// Looks at the run directories of some folders again and again, from another process than the one that
/// writes them. Takes no lock and changes nothing. Files are read again when they changed.
class LiveRuns {
 public:
  /// Folders that exist, with runs in them or not yet; anything else is an Error.
  explicit LiveRuns(std::vector<std::filesystem::path> folders);

  /// All cells as they are now, in natural order of their paths. A directory that vanishes meanwhile is not
  /// among them, and one that cannot be read tells its problem. None where there is no run.
  std::vector<LiveCell> look(const FolderLocks& locks, std::filesystem::file_time_type now);

  /// Whether a process that was seen at a cell is still there: between two cells it holds none.
  bool any_process_left() const;

 private:
  // Rounds as they were read, and when the file was written.
  struct Reading {
    std::filesystem::file_time_type written = {};
    std::uintmax_t size = 0;
    std::vector<RoundRecord> rounds = {};
  };

  LiveCell cell_of(const FoundRun& run, const FolderLocks& locks, std::filesystem::file_time_type now);
  const Reading& read_rounds(const FoundRun& run);

  std::vector<std::filesystem::path> folders_;
  std::map<std::filesystem::path, Reading> readings_;
  std::set<std::int64_t> processes_;
};

}  // namespace fedarena::results
