#include "harness/slurm/batch_script.hpp"

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena::slurm {
namespace {

// One word of a line #SBATCH: sbatch, like TOML, reads no more than \" and \\ in double quotes.
std::string directive_word(std::string_view text) {
  if (one_line(text) == text && printable(text) == text) return fedarena::quoted(text);
  throw Error(Complaint{.found = fmt::format("{} cannot stand in a batch script", fedarena::quoted(text)),
                        .allowed = "one line of UTF-8"});
}

std::string directive(const std::string& name, const std::string& value) {
  if (value.empty()) return fmt::format("#SBATCH --{}\n", name);
  return fmt::format("#SBATCH --{}={}\n", name, directive_word(value));
}

// Where tasks write. In a name, Slurm replaces what begins with %, unless there is a backslash.
std::string log_pattern(const std::filesystem::path& folder) {
  std::string pattern;
  for (const char letter : folder.string()) pattern += letter == '%' ? "%%" : std::string(1, letter);
  if (pattern.find('\\') == std::string::npos) return pattern + "/%A_%a.log";
  throw Error::in(folder, "Slurm writes no logs into a folder with a backslash in its name",
                  {.remedy = "give another folder with --out"});
}

}  // namespace

std::filesystem::path slurm_folder(const std::filesystem::path& out) { return out / "slurm"; }

std::vector<std::pair<std::string, std::string>> sbatch_options(const BatchJob& job) {
  std::vector<std::pair<std::string, std::string>> options = {
      {"job-name", job.name},
      {"array", fmt::format("0-{}{}", job.cells.size() - 1,
                            job.array_limit > 0 ? fmt::format("%{}", job.array_limit) : "")},
      {"chdir", job.folder.string()},
      {"output", log_pattern(slurm_folder(job.out))},
      {"open-mode", "append"},
      {"requeue", ""},
      {"signal", "B:USR1@120"}};
  options.insert(options.end(), job.options.begin(), job.options.end());
  return options;
}

std::string batch_script(const BatchJob& job) {
  std::string text = "#!/bin/bash\n";
  for (const auto& [name, value] : sbatch_options(job)) text += directive(name, value);
  text += "\ncells=(\n";
  for (const std::string& cell : job.cells) text += fmt::format("  {}\n", shell_word(cell));
  text += fmt::format(R"()
cell=${{cells[SLURM_ARRAY_TASK_ID]}}
# The number of one task of an array, its job's, may be the array's own, which means all tasks.
task=${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID
rounds() {{ cat {}/"$cell"/rounds.jsonl 2>/dev/null | wc -l; }}

# Slurm sends USR1, to this script alone, two minutes before the time limit: the cell then stops at its last round and
# the task is queued again. TERM goes to all processes, when the task is cancelled or makes room for another: the cell
# stops by itself, and whether it is queued again is for Slurm to say.
limit=no
trap 'limit=yes; {}' USR1
trap : TERM
before=$(rounds)
)",
                      shell_word(job.out.string()),
                      // To the ranks alone: srun would kill them.
                      job.ranks > 1 ? "scancel --signal=TERM \"$task\"" : "kill -TERM \"$run\"");
  if (job.ranks > 1) {
    text += fmt::format(
        R"(srun --mpi="${{SLURM_MPI_TYPE:-pmix}}" --ntasks={} --cpus-per-task="${{SLURM_CPUS_PER_TASK:-1}}" \
  --kill-on-bad-exit=1 )",
        job.ranks);
  }
  for (const std::string& word : job.command) text += shell_word(word) + " ";
  text += R"(--workers "${SLURM_CPUS_PER_TASK:-1}" --only "$cell" &
run=$!
while kill -0 "$run" 2>/dev/null; do wait "$run"; done
wait "$run"
status=$?
if [[ $limit == yes && $status != 0 ]]; then
  if (($(rounds) > before)); then
    # Slurm ends a script that it queues again; one that ends by itself just then may count as done.
    scontrol requeue "$task" && sleep 60
  else  # it would be queued for ever
    echo "The time limit passed without a complete round: submit it again with a longer --time." >&2
  fi
fi
exit "$status"
)";
  return text;
}

}  // namespace fedarena::slurm
