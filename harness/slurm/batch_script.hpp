#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace fedarena::slurm
