#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/pool.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/app/stop_on_signal.hpp"
#include "harness/config/grid/grid.hpp"
#include "harness/ranks/ranks.hpp"
#include "harness/runner/plan/changed_cells.hpp"
#include "harness/runner/plan/dry_run.hpp"
#include "harness/runner/plan/tune.hpp"
#include "harness/runner/plan/weights_file.hpp"
#include "harness/runner/rank_worker.hpp"
#include "harness/runner/run_experiment.hpp"

namespace fedarena {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

struct RunArguments {
  ExperimentOptions experiment;
  RunOptions run = {.workers = WorkPool::available_cores()};
  std::string device;
  std::vector<std::string> only;
  std::string stage;
  std::optional<double> memory, state_memory;  // in GiB
  bool dry_run = false;
};

int stopped() {
  print(stderr, "Stopped; all complete rounds are kept. The same command with --resume continues.\n");
  return kInterrupted;
}

RunOptions options_of(const RunArguments& arguments, const std::string& name) {
  RunOptions options = arguments.run;
  if (options.out.empty()) options.out = std::filesystem::path("runs") / name;
  check_outside_runs("--out", options.out);
  if (arguments.memory) options.memory = static_cast<std::int64_t>(*arguments.memory * kGiB);
  if (arguments.state_memory)
    options.state_memory = static_cast<std::int64_t>(*arguments.state_memory * kGiB);
  return options;
}

void describe(const std::vector<PlannedCell>& cells, const PluginHost& host, const RunOptions& options,
              const std::atomic<bool>& stop) {
  const RunDescription description = describe_run(cells, host, options, stop);
  print("{}", description.text);
  if (description.refusal) throw Error(*description.refusal);
}

void describe_tuned_run(const GridPoint& point, const TuningPlan& plan, std::size_t cells,
                        const PluginHost& host, const RunOptions& options, const std::atomic<bool>& stop) {
  const RunOptions trials = trial_options(options);
  print("Tuning: {} of each algorithm ({}, seed {}), in {}\n", counted(plan.trials, "trial"), plan.search,
        plan.seed, trials.out.string());
  RunOptions resumed = options;
  resumed.resume = true;
  check_untuned(point, plan, resumed);
  const std::vector<PlannedCell> trial_cells = plan_cells(plan.points);
  describe(trial_cells, host, trials, stop);
  const bool all_finished = std::ranges::all_of(trial_cells, [&](const PlannedCell& trial) {
    return is_finished(recorded_summary(trials.out / trial.folder()));
  });
  print("\nThen {} with the settings of the best trials, in {}{}\n", counted(cells, "cell"),
        options.out.string(), all_finished ? ":" : "; each takes as long as a trial.");
  if (all_finished) describe(tuned_by_trials(point, plan, options), host, options, stop);
}

// What the command is on every rank but the first, whatever it says there. That it was told to stop is no
// reason to end before rank 0 has sent it home: see harness/ranks/DECISIONS.md.
int work(Ranks& ranks, const PluginHost& host, const RunArguments& arguments, const std::atomic<bool>& stop) {
  try {
    work_for_rank_0(ranks, host, arguments.run.workers, stop);
  } catch (const Interrupted&) {  // rank 0 is gone
    return kInterrupted;
  }
  return kSuccess;
}

void check_jobs(const RunArguments& arguments, const Ranks* ranks) {
  if (ranks == nullptr || arguments.run.jobs == 1) return;
  throw Error::in(fmt::format("--jobs {}", arguments.run.jobs),
                  fmt::format("{} ranks share one cell after the other", ranks->count()),
                  {.remedy = "Leave it out"});
}

// The two stages of a file with [tuning].
constexpr const char* kTrials = "trials";
constexpr const char* kCells = "cells";

void check_stage(const RunArguments& arguments, bool tunes) {
  if (!tunes && !arguments.stage.empty())
    throw Error::in("--stage " + arguments.stage, "the file has no [tuning], and so no stages",
                    {.remedy = "Leave it out."});
  if (tunes && arguments.stage.empty() && !arguments.only.empty())
    throw Error::in("--only " + arguments.only.front(), "only a part of a file with [tuning] is asked for",
                    {.remedy = "Leave it out: each algorithm is run with the best of all its trials; or "
                               "run a part of one stage, --stage trials or --stage cells"});
}

int run_experiments(const RunArguments& arguments) {
  const std::atomic<bool>& stop = stop_on_signal();
  const std::unique_ptr<Ranks> ranks = join_ranks(stop, !arguments.only.empty());
  const LoadedPlugins plugins = load_plugins(arguments.experiment.plugin_path);
  const PluginHost& host = plugins.host;
  if (ranks && ranks->rank() > 0) return work(*ranks, host, arguments, stop);
  check_jobs(arguments, ranks.get());
  std::vector<std::string> overrides = arguments.experiment.overrides;
  if (!arguments.device.empty()) overrides.push_back("experiment.device=" + arguments.device);
  FilePlan plan = read_plan(config::read_document(arguments.experiment.file), overrides, plugins.catalog,
                            arguments.experiment.profile);
  check_stage(arguments, plan.tuning.has_value());
  pin_weights(plan);
  const auto& [points, tuning, unused] = plan;
  const bool trials_alone = arguments.stage == kTrials;
  std::vector<PlannedCell> cells = plan_cells(trials_alone ? tuning->points : points, arguments.only);
  RunOptions options = options_of(arguments, points.front().experiment.name);
  if (trials_alone) options = trial_options(options);
  options.ranks = ranks.get();
  const bool chooses = tuning && arguments.stage.empty();
  if (arguments.dry_run && chooses) {
    describe_tuned_run(points.front(), *tuning, cells.size(), host, options, stop);
    return kSuccess;
  }
  if (tuning && !trials_alone) {
    cells = chooses ? tune(points.front(), *tuning, host, options, stop)
                    : tuned_by_trials(points.front(), *tuning, options, arguments.only);
    if (cells.empty()) return stopped();
  }
  if (arguments.dry_run) {
    describe(cells, host, options, stop);
    return kSuccess;
  }
  if (!run_cells(cells, host, options, stop)) return stopped();
  print(stderr, "Results are in {0}; `fedarena table {0}` prints the table.\n",
        shell_word(options.out.string()));
  return kSuccess;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  const auto [command, arguments] = add_command(app, action, run_experiments, "run",
                                                "Run an experiment file: every algorithm with every seed.");
  add_experiment_options(command, arguments.experiment);
  command.add_option("--out", arguments.run.out,
                     "folder for the run directories; default runs/NAME, with a profile runs/NAME-PROFILE");
  add_workers(command, arguments.run.workers);
  add_count(command, "--jobs", arguments.run.jobs, 1, 1024,
            "cells that run at once, on the same workers; changes the time, never the result");
  const Constraint memory = Constraint::between(1e-9, 1e6);  // bytes are counted in 64 bits
  add_number(command, "--memory", arguments.memory, memory,
             "GiB for the data and all cells that run at once; default most of what is free");
  add_number(command, "--state-memory", arguments.state_memory, memory,
             "GiB for what the clients of a cell remember between rounds, by default 0.25; more than that "
             "lies in its run directory; changes no result");
  add_value(command, "--only", "PATTERN", arguments.only,
            "cells of this label, seed (seed-1), point or folder alone, with * and ?; of several each "
            "must fit, and !PATTERN leaves out what fits")
      ->allow_extra_args(false);
  add_choice(command, "--stage", arguments.stage, {kTrials, kCells},
             "of a file with [tuning], its trials alone, or the cells alone, once all trials are finished");
  add_device(command, arguments.device);
  command.add_flag("--resume", arguments.run.resume,
                   "keep finished cells, continue unfinished ones, begin the others");
  command.add_flag("--dry-run", arguments.dry_run,
                   "say what would be run, with sizes and times, and what is finished; write nothing");
}

}  // namespace fedarena
