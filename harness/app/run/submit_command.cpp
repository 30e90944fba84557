#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/child_program.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/config/grid/grid.hpp"
#include "harness/runner/plan/changed_cells.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/tune.hpp"
#include "harness/runner/plan/weights_file.hpp"
#include "harness/slurm/queue.hpp"
#include "harness/slurm/submission.hpp"
#include "results/record/durable_file.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExperimentCopy = "experiment.toml";
constexpr const char* kScript = "job.sh";

struct SubmitArguments {
  ExperimentOptions experiment;
  fs::path out;
  std::string partition, time;
  int cpus = 0;
  int ranks = 1;
  int array_limit = 0;
  bool dry_run = false;
  bool cancel = false;
};

// A job array: the cells of a file without [tuning], or one of the two stages of one with it.
struct Stage {
  fs::path out;
  std::vector<PlannedCell> cells;  // those that are not finished
  std::string name = {};           // of --stage
};

// What a tool of Slurm answers. `words` are its arguments as they are; no shell reads them.
std::string ask_slurm(const std::vector<std::string>& words) {
  // sbatch hands on the variables of a task that submits: its count of starts would pass for the new task's.
  const auto answer = call_program(words, {.without = "SLURM_RESTART_COUNT"});
  if (!answer) {
    throw Error(Complaint{
        .found = fmt::format("there is no program {} here", words.front()),
        .remedy = "Install Slurm's commands (Debian and Ubuntu: apt-get install slurm-client), or log in to "
                  "a machine of the cluster that has them; `fedarena run` needs none."});
  }
  if (answer->exit_code == 0) return answer->out;
  throw Error(Complaint{.found = fmt::format("{} refused: {}", words.front(), one_line(answer->err)),
                        .remedy = "--dry-run prints the script that it is given."});
}

// The job of what `sbatch --parsable` prints, "5" or "5;cluster"; wrappers of sites have words around it.
std::string job_in(const std::string& answer) {
  std::string job;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find(';'), line.size()));
    if (slurm::is_job_id(line)) job = line;
  }
  if (!job.empty()) return job;
  throw Error(Complaint{
      .found = fmt::format("sbatch answered {} and no number of a job", quoted(trimmed(one_line(answer)))),
      .remedy = "If `squeue --me` shows that something was queued, cancel it with scancel; sbatch's own "
                "variables (SBATCH_...) and wrappers may change what it prints."});
}

std::vector<PlannedCell> unfinished(std::vector<PlannedCell> cells, const fs::path& out) {
  check_folders(cells, out, /*resume=*/true, {}, /*has_only=*/false);
  std::erase_if(cells,
                [&](const PlannedCell& cell) { return is_finished(recorded_summary(out / cell.folder())); });
  return cells;
}

std::vector<slurm::Task> tasks_of(const fs::path& out) {
  const auto submission = slurm::read_submission(out);
  if (!submission) return {};
  if (auto tasks = slurm::ask_queue({submission->job})) return std::move(*tasks);
  throw Error(
      Complaint{.found = fmt::format("squeue does not say whether job {} is over", submission->job),
                .remedy = "Slurm's controller does not answer, or squeue is missing; try again later."});
}

slurm::Submission submission_of(const Stage& stage, const std::string& job) {
  slurm::Submission submission{.job = job};
  for (const PlannedCell& cell : stage.cells) {
    const Experiment& experiment = cell.point->experiment;
    submission.experiment = experiment.name;
    submission.cells.push_back(
        {cell.folder().string(), cell.name(), cell.algorithm->label, cell.seed, experiment.rounds});
  }
  return submission;
}

// The program that people call, beside this one.
std::string program() { return (fs::read_symlink("/proc/self/exe").parent_path() / "fedarena").string(); }

// An experiment file to be submitted.
class Submitter {
 public:
  explicit Submitter(const SubmitArguments& arguments)
      : arguments_(arguments),
        plan_(read_plan(config::read_document(arguments.experiment.file), overrides(),
                        load_plugins(arguments.experiment.plugin_path).catalog,
                        arguments.experiment.profile)) {
    pin_weights(plan_);
    const std::string& name = plan_.points.front().experiment.name;
    out_ = fs::absolute(arguments.out.empty() ? fs::path("runs") / name : arguments.out).lexically_normal();
    if (!out_.has_filename()) out_ = out_.parent_path();
    check_outside_runs("--out", out_);
    set_option("partition", arguments.partition);
    set_option("time", arguments.time);
    if (arguments.cpus > 0) set_option("cpus-per-task", fmt::format("{}", arguments.cpus));
    if (arguments.ranks > 1) set_option("ntasks", fmt::format("{}", arguments.ranks));
  }

  int submit() {
    const std::vector<Stage> stages = this->stages();
    if (std::ranges::all_of(stages, [](const Stage& stage) { return stage.cells.empty(); })) {
      print(stderr, "All cells are finished; `fedarena table {}` prints the table.\n",
            shell_word(out_.string()));
      return kSuccess;
    }
    if (arguments_.dry_run) {
      for (const Stage& stage : stages) {
        if (!stage.cells.empty()) print("{}", batch_script(job_of(stage)));
      }
      return kSuccess;
    }
    ask_slurm({"sbatch", "--version"});
    refuse_long_arrays(stages);
    make_folders(slurm::slurm_folder(out_));
    const slurm::Submitting alone(out_);
    for (const fs::path& out : {out_, trials_folder()}) refuse_submitted(out);
    // Later changes of the file must not reach tasks that wait.
    results::replace_file(copy(), read_whole_file(arguments_.experiment.file));
    std::string before;
    for (const Stage& stage : stages) {
      if (!stage.cells.empty()) before = submit(stage, before);
    }
    print(stderr, "Logs are in {}; `fedarena watch {}` shows the cells.\n",
          slurm::slurm_folder(out_).string(), shell_word(out_.string()));
    return kSuccess;
  }

  int cancel() const {
    bool any = false;
    for (const fs::path& out : {out_, trials_folder()}) {
      const std::vector<slurm::Task> tasks = tasks_of(out);
      if (tasks.empty()) continue;
      any = true;
      const std::string job = slurm::read_submission(out)->job;
      ask_slurm({"scancel", job});
      print("{}\n", job);
      print(stderr, "Cancelled {} of job {}; `fedarena submit` goes on with them.\n",
            counted(tasks.size(), "task"), job);
    }
    if (!any) print(stderr, "Nothing that was submitted for {} is queued or runs.\n", out_.string());
    return kSuccess;
  }

 private:
  // The command line goes over the file.
  void set_option(const std::string& option, const std::string& value) {
    if (value.empty()) return;
    std::erase_if(plan_.sbatch_options, [&](const auto& given) { return given.first == option; });
    plan_.sbatch_options.emplace_back(option, value);
  }

  const std::vector<std::string>& overrides() const { return arguments_.experiment.overrides; }
  fs::path trials_folder() const { return trial_options({.out = out_}).out; }
  fs::path copy() const { return slurm::slurm_folder(out_) / kExperimentCopy; }

  std::vector<Stage> stages() {
    if (!plan_.tuning) return {{out_, unfinished(plan_cells(plan_.points), out_)}};
    std::vector<Stage> stages = {
        {trials_folder(), unfinished(plan_cells(plan_.tuning->points), trials_folder()), "trials"}};
    stages.push_back({out_, plan_cells(plan_.points), "cells"});
    if (!stages.front().cells.empty()) return stages;
    // Only now their settings are known, and with them which cells are finished.
    stages.back().cells =
        unfinished(tuned_by_trials(plan_.points.front(), *plan_.tuning, {.out = out_}), out_);
    return stages;
  }

  static void refuse_long_arrays(const std::vector<Stage>& stages) {
    const std::optional<std::size_t> most = slurm::most_tasks();
    for (const Stage& stage : stages) {
      if (!most || stage.cells.size() <= *most) continue;
      throw Error::in(
          stage.out,
          fmt::format("{} are as many tasks of one job array", counted(stage.cells.size(), "cell")),
          {.allowed = fmt::format("{}, the MaxArraySize of this cluster", *most),
           .remedy = "Submit the file in parts, such as --set 'experiment.seeds=[1, 2]', each once the one "
                     "before is over or with an --out of its own; or have MaxArraySize raised"});
    }
  }

  static void refuse_submitted(const fs::path& out) {
    const std::vector<slurm::Task> tasks = tasks_of(out);
    if (tasks.empty()) return;
    throw Error::in(out,
                    fmt::format("{} of job {} are queued, run or end just now", counted(tasks.size(), "cell"),
                                slurm::read_submission(out)->job),
                    {.remedy = "Wait for them, or stop them with --cancel"});
  }

  // Submits it to begin after the job before, if there is one; prints and returns its job.
  std::string submit(const Stage& stage, const std::string& before) const {
    const fs::path folder = slurm::slurm_folder(stage.out);
    make_folders(folder);
    const fs::path script = folder / kScript;
    const slurm::BatchJob description = job_of(stage);
    results::replace_file(script, batch_script(description));
    // On the command line, too: variables such as SBATCH_TIMELIMIT go over what stands in the script.
    std::vector<std::string> words = {"sbatch", "--parsable"};
    for (const auto& [name, value] : sbatch_options(description))
      words.push_back(value.empty() ? "--" + name : fmt::format("--{}={}", name, value));
    if (!before.empty()) {
      words.push_back("--dependency=afterok:" + before);
      words.emplace_back("--kill-on-invalid-dep=yes");
    }
    words.push_back(script.string());
    const std::string job = job_in(ask_slurm(words));
    try {
      slurm::write_submission(stage.out, submission_of(stage, job));
    } catch (const Error&) {
      ask_slurm({"scancel", job});
      throw;
    }
    print("{}\n", job);
    print(stderr, "Submitted job {}: {}{}.\n", job, counted(stage.cells.size(), "cell"),
          stage.name == "trials" ? " of tuning" : "");
    return job;
  }

  slurm::BatchJob job_of(const Stage& stage) const {
    slurm::BatchJob job{.name = plan_.points.front().experiment.name,
                        .array_limit = arguments_.array_limit,
                        .ranks = arguments_.ranks,
                        .out = stage.out,
                        .folder = fs::current_path(),
                        .command = {program(), "run", copy().string(), "--out", out_.string(), "--resume"},
                        .options = plan_.sbatch_options};
    for (const PlannedCell& cell : stage.cells) job.cells.push_back(cell.folder().string());
    const auto add = [&](const std::string& option, const std::string& value) {
      job.command.insert(job.command.end(), {option, value});
    };
    if (arguments_.experiment.profile) add("--profile", *arguments_.experiment.profile);
    for (const std::string& text : overrides()) add("--set", text);
    for (const fs::path& path : arguments_.experiment.plugin_path) add("--plugin-path", path.string());
    if (!stage.name.empty()) add("--stage", stage.name);
    return job;
  }

  const SubmitArguments& arguments_;
  FilePlan plan_;
  fs::path out_;  // absolute
};

int run_submit(const SubmitArguments& arguments) {
  Submitter submitter(arguments);
  return arguments.cancel ? submitter.cancel() : submitter.submit();
}

}  // namespace

void add_submit_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_submit, "submit",
                  "Queue an experiment file on a cluster: a job array of Slurm, a task a cell.");
  add_experiment_options(command, arguments.experiment);
  command.add_option("--out", arguments.out,
                     "folder for the run directories, which all machines share; default as of run");
  add_value(command, "--partition", "NAME", arguments.partition,
            "partition of the cluster; replaces that of [slurm]");
  add_value(command, "--time", "TIME", arguments.time,
            "limit of a task, such as 2:00:00; a cell that reaches it is queued again and goes on");
  add_count(command, "--cpus", arguments.cpus, 1, 1024,
            "cores, and workers, of a task or of each rank; by default one");
  add_count(command, "--ranks", arguments.ranks, 1, 1024,
            "processes that share each cell by MPI, on as many machines as they need; by default one")
      ->type_name("R");
  add_count(command, "--array-limit", arguments.array_limit, 1, 1'000'000,
            "tasks that run at once; by default any number")
      ->type_name("K");
  CLI::Option* dry_run =
      command.add_flag("--dry-run", arguments.dry_run, "print the batch script; submit and write nothing");
  command
      .add_flag("--cancel", arguments.cancel,
                "cancel what was submitted last and is not over; complete rounds are kept")
      ->excludes(dry_run);
}

}  // namespace fedarena
