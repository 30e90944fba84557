#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/live/folder_locks.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/record.hpp"

namespace fedarena::results {

/// What goes on in a run directory. People look for the first ones first.
enum class Work {
  kRunning,      ///< a process is at it
  kQueued,       ///< waits for a machine of a cluster
  kLeft,         ///< recorded as running, but no process of this machine is at it
  kInterrupted,  ///< stopped in order, to be resumed
  kFailed,       ///< its algorithm failed
  kBroken,       ///< cannot be read
  kFinished
};

/// In that order.
inline constexpr std::array<std::string_view, 7> kWorkNames = {
    "running", "queued", "no process", "interrupted", "failed", "broken", "finished"};
inline std::string_view name_of(Work work) { return kWorkNames.at(static_cast<std::size_t>(work)); }

/// What a reader should know of cells that are kLeft.
inline constexpr std::string_view kLeftNote =
    "no process: recorded as running, but killed, or at work on another machine";

/// One cell of an experiment, as far as it is.
struct LiveCell {
  std::filesystem::path path;  ///< its run directory
  std::string problem = {};    ///< file, field and reason, in one line; empty unless broken
  Work work = Work::kBroken;
  // The rest is empty in a broken one.
  Summary summary = {};                 ///< as recorded; of a queued one, what names it and its rounds
  std::string name = {};                ///< "partition.alpha=0.1, fedavg, seed 1"; "(control)" behind it
  bool control = false;                 ///< of an audit: it adds no noise
  std::int64_t done = 0;                ///< rounds on disk
  std::optional<double> accuracy = {};  ///< of the last evaluated round; none on regression data
  std::optional<double> loss = {};      ///< of the last evaluated round; may be nan or infinite
  /// RDP, after the last round, as claimed once finished; none where unproven.
  std::optional<double> epsilon = {};
  std::vector<double> curve = {};         ///< accuracy by evaluated round; loss on regression data
  std::optional<double> round_seconds{};  ///< mean over the rounds on disk
  std::optional<double> since_written{};  ///< seconds since the last round; none before it and once finished
  std::string task = {};                  ///< of a cluster: "5_3 on n1", or why it waits
  std::optional<double>
      seconds_left{};  ///< an estimate; none unless running, with a round done, and where secret

  /// Whether seconds tell the sizes of samples, which privacy keeps secret.
  bool has_secret_seconds() const { return is_secret(DrawnSizes::kBatches, summary.privacy); }
};

/// Says that a process is at the cell, and how long it will take, unless that would tell secret seconds.
void set_running(LiveCell& cell);

/// What the record of a run says. `rounds`: those on disk; of a finished run the summary tells how many they
/// are and the last evaluation, so that none need be given. `held`: whether a process holds the directory;
/// none when that cannot be told, and the record alone counts. `since_written`: seconds since the rounds were
/// written last. `settings`: of its experiment file.
LiveCell live_cell(const std::filesystem::path& path, const Summary& summary,
                   std::span<const RoundRecord> rounds, std::optional<bool> held, double since_written,
                   const ResolvedSettings& settings = {});

/// As `find_runs`, but folders may hold no run, yet or any more.
std::vector<FoundRun> runs_below(std::vector<std::filesystem::path> folders);

/// The cells of runs as they are now, in the same order. Reads the rounds of unfinished runs alone, whose
/// summaries may date from their last checkpoint.
std::vector<LiveCell> cells_of(std::span<const FoundRun> runs, const FolderLocks& locks);

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
  // Rounds as they were read, when the file was written, and what is claimed by then.
  struct Reading {
    std::filesystem::file_time_type written = {};
    std::uintmax_t size = 0;
    std::vector<RoundRecord> rounds = {};
    std::optional<PrivacyClaim> claim = {};
  };

  LiveCell cell_of(const FoundRun& run, const FolderLocks& locks, std::filesystem::file_time_type now);
  const Reading& read_rounds(const FoundRun& run);

  std::vector<std::filesystem::path> folders_;
  std::map<std::filesystem::path, Reading> readings_;
  std::set<std::int64_t> processes_;
};

}  // namespace fedarena::results
