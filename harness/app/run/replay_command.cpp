#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/pool.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/app/temporary_folder.hpp"
#include "harness/oracle/policies.hpp"
#include "harness/oracle/random_source.hpp"
#include "harness/runner/cell_setup.hpp"
#include "harness/runner/plan/device.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "harness/runner/run_experiment.hpp"
#include "results/bundle/bundle.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

// Of each run; a run on another machine may differ in every round.
constexpr std::size_t kMostShown = 10;

struct ReplayArguments {
  fs::path file, out;
  std::vector<fs::path> plugin_path;
  int workers = WorkPool::available_cores();
};

// What came of the runs so far.
struct Tally {
  std::size_t runs = 0, same = 0;
  std::size_t unrepeatable = 0;  // beside these
  bool same_build_differed = false;
  std::vector<std::string> builds;  // each difference of builds once
};

std::string accuracy_text(const fs::path& run) {
  const results::Summary summary = results::RunDirectory::open(run).summary();
  if (results::diverged(summary)) return "diverged";
  if (summary.final_test_accuracy)
    return fmt::format("accuracy {:.2f} %", 100 * *summary.final_test_accuracy);
  return fmt::format("loss {:.6g}", summary.final_test_loss.value_or(0));
}

void report_unrepeatable(const std::string& name, const fs::path& recorded, const fs::path& replayed,
                         Tally& tally) {
  ++tally.unrepeatable;
  print(
      "{}: cannot come out with the same bits: its noise and samples are from the system's generator "
      "(noise_source = \"{}\"); {} was recorded, {} came out\n",
      name, kSystemNoise, accuracy_text(recorded), accuracy_text(replayed));
}

void report(const std::string& name, const fs::path& recorded, const fs::path& replayed, Tally& tally) {
  ++tally.runs;
  const std::vector<results::RecordDifference> differences = results::record_differences(recorded, replayed);
  const std::vector<std::string> builds = results::build_differences(recorded, replayed);
  const std::string build = builds.empty() ? "the same build" : "another build";
  if (differences.empty()) {
    ++tally.same;
    print("{}: the same bits, by {}\n", name, build);
  } else {
    tally.same_build_differed |= builds.empty();
    print("{}: {}, by {}; {} was recorded, {} came out\n", name,
          counted(differences.size(), "value differs", "values differ"), build, accuracy_text(recorded),
          accuracy_text(replayed));
    for (std::size_t i = 0; i < std::min(kMostShown, differences.size()); ++i) {
      print("  {}\n", describe(differences[i]));
    }
    if (differences.size() > kMostShown) print("  and {} more\n", differences.size() - kMostShown);
  }
  for (const std::string& line : builds) {
    if (!contains(tally.builds, line)) {
      tally.builds.push_back(line);
    }
  }
}

// The same bits come from no other device, so that there is no option for one.
void check_device(const fs::path& recorded, const std::string& device) {
  try {
    device_of(device);
  } catch (const Error& error) {
    throw Error::in(recorded, error.complaint().found,
                    {.allowed = error.complaint().allowed,
                     .remedy = "Replay it where there is such a GPU: another device gives other bits."});
  }
}

// Nor from other data.
void check_data(const fs::path& recorded, const results::Summary& summary, const std::string& now) {
  if (now == summary.data_hash) return;
  throw Error::in(recorded,
                  fmt::format("this run was made from other data: {}: their SHA-256 was {}, now {}",
                              summary.dataset, summary.data_hash, now),
                  {.remedy = "Put the old data back: other data give other bits."});
}

// Before hours are spent on the first.
void check_empty(const results::Manifest& manifest, const fs::path& out) {
  for (const results::BundledRun& run : manifest.runs) {
    const fs::path folder = out / run.folder;
    std::error_code ignored;
    if (!fs::exists(folder, ignored) || fs::is_empty(folder, ignored)) continue;
    throw Error::in(folder, "--out: this folder of a run is not empty, and a replay starts over",
                    {.remedy = "give another folder, or remove this one"});
  }
}

int run_replay(const ReplayArguments& arguments) {
  if (!arguments.out.empty()) check_outside_runs("--out", arguments.out);
  const TemporaryFolder unpacked;
  const TemporaryFolder thrown_away;
  const results::Manifest manifest =
      results::unpack_bundle(arguments.file, unpacked.path(), &unpacked.stop());
  const fs::path out = arguments.out.empty() ? thrown_away.path() : arguments.out;
  check_empty(manifest, out);
  const LoadedPlugins plugins = load_plugins(arguments.plugin_path);
  const auto cell_of = [&](const results::BundledRun& bundled) {
    const fs::path file = fs::path(bundled.folder) / results::kExperimentFile;
    return recorded_cell(config::read_document(unpacked.path() / file, (arguments.file / file).string()),
                         plugins.catalog);
  };
  // Before hours are spent on the first.
  for (SharedInputs inputs; const results::BundledRun& bundled : manifest.runs) {
    unpacked.check_stop();
    const PlannedCell cell = cell_of(bundled);
    const Experiment& experiment = cell.point->experiment;
    check_device(bundled.folder, experiment.device);
    check_data(bundled.folder, results::RunDirectory::open(unpacked.path() / bundled.folder).summary(),
               inputs.data_hash(experiment));
    inputs.initial_weights(experiment);
  }
  Tally tally;
  for (const results::BundledRun& bundled : manifest.runs) {
    const fs::path recorded = unpacked.path() / bundled.folder;
    const PlannedCell cell = cell_of(bundled);
    RunOptions options;
    options.out = out / bundled.folder;
    // A folder that was renamed holds one of the run's own name.
    if (options.out.filename() == cell.folder()) options.out = options.out.parent_path();
    options.workers = arguments.workers;
    options.describes_data = false;
    if (!run_cells({cell}, plugins.host, options, unpacked.stop())) {
      print(stderr, "Stopped; a replay starts over the next time{}.\n",
            arguments.out.empty() ? "" : fmt::format(", once {} is removed", arguments.out.string()));
      return kInterrupted;
    }
    const fs::path replayed = options.out / cell.folder();
    if (is_repeatable(policy_of(*cell.algorithm)))
      report(bundled.folder, recorded, replayed, tally);
    else
      report_unrepeatable(bundled.folder, recorded, replayed, tally);
  }
  for (const std::string& line : tally.builds) print("another build: {}\n", line);
  print("{} of {} came out with the same bits", tally.same, counted(tally.runs, "run"));
  if (tally.unrepeatable > 0) print("; {} more cannot be compared", tally.unrepeatable);
  print("\n");
  if (!tally.same_build_differed) return kSuccess;
  throw Error::in(arguments.file, "the same build gave other bits than are recorded",
                  {.remedy = "An algorithm draws or keeps what is not in its streams and state, the records "
                             "were edited, or a library that is not part of fedarena changed; "
                             "`fedarena verify` checks the records by themselves."});
}

}  // namespace

void add_replay_command(CLI::App& app, Action& action) {
  const auto [command, arguments] = add_command(
      app, action, run_replay, "replay", "Run the runs of a bundle again and compare them bit by bit.");
  command.add_option("FILE", arguments.file, "a bundle, made by `fedarena bundle`")->required();
  command.add_option("--out", arguments.out, "folder that keeps the new run directories; default none");
  add_workers(command, arguments.workers);
  add_plugin_path(command, arguments.plugin_path);
}

}  // namespace fedarena
