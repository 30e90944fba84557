#include <filesystem>
#include <vector>

#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/runner/finished_run.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "harness/runner/plan/weights_file.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/find_runs.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct ModelArguments {
  fs::path run, output;
  std::vector<fs::path> plugin_path;
};

int write_model(const ModelArguments& arguments) {
  check_output("--output", arguments.output, {".npz"});
  const auto run = results::open_one_run(arguments.run);
  const LoadedPlugins plugins = load_plugins(arguments.plugin_path);
  // Wherever it was trained.
  const PlannedCell cell = recorded_cell(config::read_document(run.path() / results::kExperimentFile),
                                         plugins.catalog, {"experiment.device=cpu"});
  const Experiment& experiment = cell.point->experiment;
  SharedInputs inputs;
  const Model& model = inputs.model(experiment);
  const Checkpoint checkpoint = read_checkpoint(run, model);
  results::replace_file(arguments.output, results::to_npz(named_arrays(checkpoint.params, model)));
  print("{}: the global model after round {} of {}: {}, {} parameters, {}\n", arguments.output.string(),
        checkpoint.round, experiment.rounds, counted(checkpoint.params.size(), "tensor"),
        model.layout()->numel(), experiment.dtype);
  return kSuccess;
}

}  // namespace

void add_model_command(CLI::App& app, Action& action) {
  const auto [command, arguments] = add_command(
      app, action, write_model, "model",
      "Write the global model of a run as NumPy arrays, to use it elsewhere or to begin from it.");
  command.add_option("RUN", arguments.run, "run directory, finished or not, or a folder with one")
      ->required();
  add_value(command, "-o,--output", "FILE", arguments.output, "the file to write: .npz")->required();
  add_plugin_path(command, arguments.plugin_path);
}

}  // namespace fedarena
