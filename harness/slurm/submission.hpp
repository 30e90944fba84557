#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fedarena/base/uninterrupted.hpp"

#include "harness/slurm/queue.hpp"
#include "results/live/live_runs.hpp"

namespace fedarena::slurm {

/// A job array with one cell a task.
struct BatchJob {
  std::string name;
  std::vector<std::string> cells = {};  ///< run directories below `out`, such as "fedavg-seed-1"
  int array_limit = 0;                  ///< tasks that run at once; 0: as many as Slurm likes
  int ranks = 1;                        ///< processes that share a cell by MPI
  std::filesystem::path out;            ///< the folder of the runs, absolute
  std::filesystem::path folder;         ///< where it is submitted: paths of the command are relative to it
  std::vector<std::string> command;     ///< that runs the cell whose name is put behind it, and workers
  std::vector<std::pair<std::string, std::string>> options;  ///< further ones of sbatch; "": without a value
};

/// The folder below that of the runs for the script, the record of the submission and the logs.
std::filesystem::path slurm_folder(const std::filesystem::path& out);

/// What sbatch is told of the job, option and value; empty where an option has none.
std::vector<std::pair<std::string, std::string>> sbatch_options(const BatchJob& job);

/// The script that sbatch takes. Whatever comes from a file or a command line stands in quotes, within which
/// neither bash nor sbatch reads anything. Throws Error for control characters in it.
std::string batch_script(const BatchJob& job);

/// A cell that was submitted: what can be told of it before there is a run directory.
struct SubmittedCell {
  std::string folder;  ///< below that of the runs
  std::string name;    ///< "partition.alpha=0.1, fedavg, seed 1"
  std::string label;
  std::int64_t seed = 0, rounds = 0;
  bool operator==(const SubmittedCell&) const = default;
};

/// The job array that was submitted last for a folder of runs: `slurm/submission.json` below it.
struct Submission {
  std::string job;
  std::string experiment = {};
  std::vector<SubmittedCell> cells = {};  ///< by the number of the task
  bool operator==(const Submission&) const = default;
};

std::string to_json_text(const Submission& submission);
/// Anything but a whole record is an Error that names the file and the field.
Submission parse_submission(std::string_view text, const std::string& file);

/// That this process submits something for a folder of runs: the file `slurm/submitting` below it, whose
/// folder is there, as long as this one is. Of several that try at once, on whatever machines, one succeeds
/// and the others throw Error. A signal that would end the program waits.
class Submitting {
 public:
  explicit Submitting(const std::filesystem::path& out);
  ~Submitting();
  Submitting(const Submitting&) = delete;
  Submitting& operator=(const Submitting&) = delete;

 private:
  const Uninterrupted whole_;  // goes last
  std::filesystem::path file_;
};

/// Replaces the record below the folder of the runs.
void write_submission(const std::filesystem::path& out, const Submission& submission);
/// Nothing where the folder has none. Throws as `parse_submission` does.
std::optional<Submission> read_submission(const std::filesystem::path& out);

/// A cell that is queued or runs; or a record of a submission that cannot be read.
struct CellTask {
  std::filesystem::path run;  ///< its run directory, which need not exist; the record's folder
  std::string experiment = {};
  SubmittedCell cell = {};
  Task task = {};
  std::string problem = {};  ///< of a record, and what to do about it, in one line
};

/// The cells at work or queued, of all folders of runs at and up to two levels below these paths, and the
/// records there that cannot be read. Asks squeue where anything was submitted; nothing where it does not
/// answer.
std::optional<std::vector<CellTask>> cell_tasks(std::span<const std::filesystem::path> folders);

/// Says of cells what Slurm does with them, and adds those that have no run directory yet; in natural order
/// of their paths.
void add_tasks(std::vector<results::LiveCell>& cells, std::span<const CellTask> tasks);

}  // namespace fedarena::slurm
