#include "harness/slurm/submission.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"

#include "harness/slurm/batch_script.hpp"
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

}  // namespace

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
