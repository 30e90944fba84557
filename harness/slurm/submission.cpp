#include "harness/slurm/submission.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "results/record/durable_file.hpp"
#include "results/record/json_fields.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/text.hpp"

namespace fedarena::slurm {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSchema = 1;
constexpr const char* kSubmissionFile = "submission.json";
constexpr const char* kSubmittingFile = "submitting";

fs::path record_of(const fs::path& out) { return slurm_folder(out) / kSubmissionFile; }

// The folders of runs, at and so many levels below one, that something was submitted for, each once. What
// cannot be looked at has none.
void search(const fs::path& folder, int levels, std::vector<fs::path>& found) {
  std::error_code ignored;
  if (fs::exists(record_of(folder), ignored) && !contains(found, folder)) found.push_back(folder);
  if (levels == 0 || fs::exists(folder / results::kSummaryFile, ignored)) return;
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
    std::error_code unknown;
    if (fs::is_directory(at->symlink_status(unknown))) search(at->path(), levels - 1, found);
  }
}

fs::path real(const fs::path& path) {
  std::error_code ignored;
  return fs::weakly_canonical(path, ignored);
}

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
std::string log_pattern(const fs::path& folder) {
  std::string pattern;
  for (const char letter : folder.string()) pattern += letter == '%' ? "%%" : std::string(1, letter);
  if (pattern.find('\\') == std::string::npos) return pattern + "/%A_%a.log";
  throw Error::in(folder, "Slurm writes no logs into a folder with a backslash in its name",
                  {.remedy = "give another folder with --out"});
}

}  // namespace

fs::path slurm_folder(const fs::path& out) { return out / "slurm"; }

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

std::string to_json_text(const Submission& submission) {
  results::Json cells = results::Json::array();
  for (const SubmittedCell& cell : submission.cells) {
    cells.push_back({{"folder", cell.folder},
                     {"name", cell.name},
                     {"label", cell.label},
                     {"seed", cell.seed},
                     {"rounds", cell.rounds}});
  }
  return results::json_text({{"schema", kSchema},
                             {"job", submission.job},
                             {"experiment", submission.experiment},
                             {"cells", std::move(cells)}},
                            1) +
         "\n";
}

Submission parse_submission(std::string_view text, const std::string& file) {
  results::JsonFields fields(text, {.file = file});
  fields.schema(kSchema);
  Submission submission{.job = fields.text("job"), .experiment = fields.text("experiment")};
  if (!is_job_id(submission.job)) fields.reject("job", "the number of a job");
  for (results::JsonFields& cell : fields.objects("cells")) {
    submission.cells.push_back({cell.text("folder"), cell.text("name"), cell.text("label"),
                                cell.integer("seed", 0), cell.integer("rounds", 0)});
    const fs::path folder = submission.cells.back().folder;
    if (folder.empty() || folder.is_absolute() || std::ranges::find(folder, "..") != folder.end())
      cell.reject("folder", "a folder below that of the runs");
    cell.finish();
  }
  fields.finish();
  return submission;
}

Submitting::Submitting(const fs::path& out) : file_(slurm_folder(out) / kSubmittingFile) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  if (results::create_file(file_, fmt::format("process {} on {}", ::getpid(), host.data()))) return;
  constexpr std::size_t kMostBytes = 4096;
  const std::string owner = results::read_whole_file(file_, kMostBytes);
  throw Error::in(
      file_, fmt::format("another `fedarena submit` is at work here: {}", results::one_line(owner)),
      {.remedy = "Wait for it. If it was killed, see in `squeue --me` what it queued, cancel that with "
                 "scancel, and remove this file"});
}

Submitting::~Submitting() {
  std::error_code ignored;
  fs::remove(file_, ignored);
}

void write_submission(const fs::path& out, const Submission& submission) {
  results::replace_file(record_of(out), to_json_text(submission));
}

std::optional<Submission> read_submission(const fs::path& out) {
  const fs::path file = record_of(out);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  const std::string text = results::read_whole_file(file);
  try {
    return parse_submission(text, file.string());
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    complaint.remedy =
        "Restore it, or remove it: runs and logs stay, and only which job was submitted last is forgotten, "
        "so cancel first what `squeue --me` still shows of it, with scancel";
    throw Error(std::move(complaint));
  }
}

std::optional<std::vector<CellTask>> cell_tasks(std::span<const fs::path> folders) {
  std::vector<CellTask> tasks;
  std::vector<fs::path> outs;
  for (const fs::path& folder : folders) {
    const fs::path normal = folder.lexically_normal();
    search(normal.has_filename() ? normal : normal.parent_path(), 2, outs);  // "runs/" is "runs"
  }
  std::map<std::string, CellTask> known;  // by the id of the task
  std::vector<std::string> jobs;
  for (const fs::path& out : outs) {
    Submission submission;
    try {
      submission = read_submission(out).value_or(Submission{});
    } catch (const Error& error) {  // the others are shown
      tasks.push_back({.run = slurm_folder(out), .problem = results::in_one_line(error)});
    }
    if (submission.job.empty()) continue;
    jobs.push_back(submission.job);
    for (std::size_t i = 0; i < submission.cells.size(); ++i) {
      const SubmittedCell& cell = submission.cells[i];
      known.emplace(fmt::format("{}_{}", submission.job, i),
                    CellTask{out / cell.folder, submission.experiment, cell});
    }
  }
  const auto queue = ask_queue(jobs);
  if (!queue) return std::nullopt;
  for (const Task& task : *queue) {
    const auto found = known.find(task.id);
    if (found == known.end()) continue;
    tasks.push_back(found->second);
    tasks.back().task = task;
  }
  return tasks;
}

void add_tasks(std::vector<results::LiveCell>& cells, std::span<const CellTask> tasks) {
  std::map<fs::path, std::size_t> places;
  for (std::size_t i = 0; i < cells.size(); ++i) places.emplace(real(cells[i].path), i);
  for (const auto& [run, experiment, submitted, task, problem] : tasks) {
    if (!problem.empty()) {
      cells.push_back({.path = run, .problem = problem});
      continue;
    }
    const auto [place, is_new] = places.emplace(real(run), cells.size());
    if (is_new) {
      cells.push_back({.path = run, .work = results::Work::kQueued, .name = submitted.name});
      results::Summary& summary = cells.back().summary;
      summary.experiment = experiment;
      summary.label = submitted.label;
      summary.seed = submitted.seed;
      summary.rounds = submitted.rounds;
    }
    results::LiveCell& cell = cells[place->second];
    if (cell.work == results::Work::kFinished || cell.work == results::Work::kBroken) continue;
    cell.task = task.text();
    cell.work = results::Work::kQueued;
    if (task.running()) set_running(cell);
  }
  std::ranges::stable_sort(cells, results::natural_less,
                           [](const results::LiveCell& cell) { return cell.path.generic_string(); });
}

}  // namespace fedarena::slurm
