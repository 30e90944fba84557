#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results/record/record.hpp"
#include "tests/harness/app/program.hpp"

namespace fedarena::test {

/// An experiment on synthetic digits that takes well under a second; tests change what they are about.
struct SmallExperiment {
  std::string data = "glyphs";
  std::string seeds = "[1]";
  std::int64_t rounds = 3;
  std::string partition = "kind = \"iid\"\nclients = 4";
  std::string model = "name = \"logistic\"";
  std::string cohort = {};
  std::int64_t evaluate_every = 1;
  std::string evaluation = {};  ///< further lines of [evaluation]
  std::string training = "local_steps = 4\nbatch_size = 16\nrate = 0.05";
  std::vector<std::string> algorithms = {"fedavg"};
  std::string more = {};                          ///< further lines at the end
  std::map<std::string, std::string> files = {};  ///< those that it names, and what they hold

  std::string toml() const;
  /// Writes it, as small.toml, and its files.
  void write_to(const Scratch& scratch) const;
};

/// Two algorithms under two seeds at six points of a sweep.
inline SmallExperiment small_grid(std::int64_t rounds = 2) {
  return {.seeds = "[1, 2]",
          .rounds = rounds,
          .algorithms = {"fedavg", "fedprox"},
          .more =
              "\n[sweep]\n\"partition\" = [{kind = \"iid\"}, {kind = \"dirichlet\", alpha = 0.5}]\n"
              "\"algorithms.fedprox.mu\" = [0.1, 1]\n"};
}

/// Writes the experiment and has the program run it. Tests share finished runs: the files of an experiment
/// that this process ran before with the same options are copied.
Outcome run_small(const Scratch& scratch, const SmallExperiment& experiment = {},
                  const std::string& options = "--out out");

/// Records a run of fedavg with `rounds` of `planned` rounds done; no program runs.
void record_run(const fs::path& folder, std::int64_t seed, std::int64_t rounds, std::int64_t planned);

/// The rounds of a run directory, which must be valid.
std::vector<results::RoundRecord> rounds_of(const fs::path& run);

/// The same, with the seconds set to 0: what must not depend on speed.
std::vector<results::RoundRecord> timeless_rounds_of(const fs::path& run);

/// The summary of a run directory, which must be valid.
results::Summary summary_of(const fs::path& run);

/// Changes the summary of a run directory, under a new seal.
void edit_summary(const fs::path& run, const std::function<void(results::Summary&)>& edit);

/// Puts `after` in the place of the first `before` in a file.
void replace_in(const fs::path& file, const std::string& before, const std::string& after);

/// How many whole lines `rounds.jsonl` has; 0 when there is none yet.
std::int64_t rounds_on_disk(const fs::path& run);

/// Starts the program, sends it the signal once so many rounds of the run are on disk, and waits for its end.
Outcome signal_after(const Scratch& scratch, const CommandLine& command, const fs::path& run,
                     std::int64_t rounds, int signal);

/// Every run directory below the folder, relative to it, sorted; none where there is no such folder.
std::vector<std::string> cells_in(const fs::path& folder);

/// Every file and folder below `folder` with `part` in its name.
std::vector<std::string> files_named(const fs::path& folder, const std::string& part);

/// Makes a finished run one that a crash ended before its summary was written.
void unfinish(const fs::path& run);

/// Content and time of every file below a folder.
std::map<fs::path, std::pair<std::string, fs::file_time_type>> snapshot_of(const fs::path& folder);

/// The folder above mnist/ with the published files, or an empty path, which is said.
fs::path published_data();

/// Fails the test unless both runs have the same rounds, but for the seconds, and the same final state, bit
/// by bit.
void expect_same_run(const fs::path& left, const fs::path& right);

/// The same of all runs below two folders, of which there must be some, and equal ones.
void expect_same_runs(const fs::path& left, const fs::path& right);

}  // namespace fedarena::test
