#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/base/file.hpp"

#include "results/images/synthetic_folder.hpp"
#include "results/record/record.hpp"
#include "results/record/round_file.hpp"
#include "results/record/test_metrics.hpp"

namespace fedarena::results {

inline constexpr const char* kExperimentFile = "experiment.toml";
inline constexpr const char* kEnvironmentFile = "environment.json";
inline constexpr const char* kPartitionFile = "partition.json";
inline constexpr const char* kRoundsFile = "rounds.jsonl";
inline constexpr const char* kLedgerFile = "ledger.json";
inline constexpr const char* kClientsFile = "clients.json";
inline constexpr const char* kSummaryFile = "summary.json";
inline constexpr const char* kCheckpointFile = "checkpoint.bin";
inline constexpr const char* kClientStatesFile = "client-states.bin";
/// Says which job of Slurm is at the run; no part of its record.
inline constexpr const char* kClaimFile = "claim.json";

/// The folder that records one run: one algorithm with one seed. Whatever is written is on disk when a call
/// returns; a call that fails (disk full, no permission) throws one Error and leaves what was there before.
/// One writer at a time; readers may look at any moment.
class RunDirectory {
 public:
  /// Makes the folder, with its parents, and an empty record. A folder that already holds a run, or anything
  /// that is not the start of one, is an Error. `partition_json`: its card, or empty for a record without
  /// one.
  static RunDirectory create(const std::filesystem::path& path, std::string_view experiment_toml,
                             std::string_view environment_json, const Summary& summary,
                             std::string_view partition_json = {});

  /// Opens the record of a run to read it; changes nothing on disk. A broken summary is an Error, and so are
  /// broken rounds once somebody asks for them: reading all of them is most of what readers take.
  static RunDirectory open(const std::filesystem::path& path);
  /// Opens the record of a run to write more of it; changes nothing on disk. Broken rounds are an Error, too.
  static RunDirectory resume(const std::filesystem::path& path, const RoundLimits& limits = {});

  const std::filesystem::path& path() const { return path_; }

  /// The summary as it was written last.
  Summary summary() const;
  /// Replaces the summary, all or nothing. That of a finished run comes after the seal of all files, so that
  /// a finished run always has one; a kill between the two leaves it beside the old summary
  /// (`sealed_at_its_end`). Any other takes away a seal.
  void write_summary(const Summary& summary) const;

  /// The rounds on disk, 1, 2, 3, ... A torn last line, left by a crash, is not among them; any other damage
  /// is an Error that names the line.
  std::vector<RoundRecord> rounds() const;
  /// The number of whole rounds when this object first counted them, and of those that it wrote since.
  std::int64_t rounds_recorded() const { return std::ssize(recorded().lines) - 1; }
  /// Adds the round after the last one and brings it to disk; a torn line before it is dropped. More than
  /// anybody may read (RoundLimits) is an Error, since such a run could not end. Synthetic sets that need not
  /// be kept any longer go.
  void append(const RoundRecord& record);
  /// Puts another record of the last round in its place, all or nothing.
  void replace_last(const RoundRecord& record);
  /// Drops all rounds after `last_round_to_keep` (0 drops all), their synthetic sets and a torn line, to
  /// resume from a checkpoint of that round. An Error when the record does not reach that far.
  void truncate_rounds(std::int64_t last_round_to_keep);

  /// What each client's last test said; none where clients are not tested. Before its
  /// round is appended, and after a crash, it may be ahead of the rounds.
  std::optional<ClientScores> client_scores() const;
  /// Replaces it, all or nothing. A round's scores are written before the round is appended.
  void write_client_scores(const ClientScores& scores) const;

  /// What rounds were trained on in place of examples. A round's set is written before the round is appended.
  SyntheticFolder synthetic() const { return SyntheticFolder(path_); }

  /// Replaces a file of the folder, all or nothing.
  void write_file_atomically(const std::string& name, std::string_view bytes) const;
  /// The bytes of a file of the folder, which may have `most` of them.
  std::string read_file(const std::string& name, std::uintmax_t most = kMostBytesOfText) const;
  /// Whether the folder holds this file.
  bool has(const std::string& name) const;

 private:
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  // Where a round's line ends in the file, and the bytes of the records up to it, in a list of them.
  struct Line {
    std::uintmax_t end = 0;
    std::size_t memory = 0;
  };

  // The file of rounds.
  struct Recorded {
    std::vector<Line> lines = std::vector<Line>(1);  // of the whole rounds, behind an empty one
    std::uintmax_t size = 0;                         // with a torn line
  };

  // Read on the first call.
  Recorded& recorded() const;
  void cut_rounds(std::int64_t last_round_to_keep);
  // That of a record so many bytes long; of what nobody could read back, an Error.
  Line line_after(const Line& before, const RoundRecord& record, std::size_t bytes) const;

  std::filesystem::path path_;
  RoundLimits limits_;
  mutable std::optional<Recorded> recorded_;
};

/// The rounds of the run directory `folder`, whose summary was just read: all of them for a finished run, so
/// many as there are for another. A broken record is an Error, and so is a summary of a finished run that
/// says anything else of its last result or its number of rounds. Changes nothing on disk; the run may be at
/// work.
std::vector<RoundRecord> recorded_rounds(const std::filesystem::path& folder, const Summary& summary);
/// The same Errors, where nobody needs the rounds; returns how many there are.
std::int64_t check_recorded_rounds(const std::filesystem::path& folder, const Summary& summary);

}  // namespace fedarena::results
