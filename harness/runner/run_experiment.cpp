#include "harness/runner/run_experiment.hpp"

#include <span>
#include <string>

#include <fmt/ranges.h>
#include <torch/cuda.h>

#include "datasets/registry.hpp"
#include "harness/gradients/per_example.hpp"
#include "harness/models/zoo.hpp"
#include "harness/oracle/policies.hpp"
#include "harness/oracle/private_uplink.hpp"
#include "harness/runner/cell_record.hpp"
#include "harness/runner/environment.hpp"
#include "harness/runner/progress.hpp"
#include "harness/runner/simulation.hpp"
#include "partitions/statistics.hpp"
#include "results/state_privacy.hpp"

namespace fedarena {
namespace {

// "classes (clients = 5, classes_per_client = 2)"
std::string choice_text(const Choice& choice) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : choice.settings)
    parts.push_back(fmt::format("{} = {}", name, to_text(value)));
  return parts.empty() ? choice.name : fmt::format("{} ({})", choice.name, fmt::join(parts, ", "));
}

torch::TensorOptions tensor_options(const Experiment& experiment) {
  if (experiment.device == "cuda" && !torch::cuda::is_available()) {
    throw Error(
        Complaint{.found = "the device \"cuda\" is asked for, but LibTorch sees no GPU",
                  .remedy = "Use --device cpu, or configure with a CUDA build of LibTorch (see README.md)."});
  }
  return torch::TensorOptions()
      .dtype(experiment.dtype == "float64" ? torch::kFloat64 : torch::kFloat32)
      .device(experiment.device == "cuda" ? torch::kCUDA : torch::kCPU);
}

// What all cells of an experiment share.
class Arena {
 public:
  Arena(const Experiment& experiment, const PluginHost& host, const RunOptions& options,
        const std::atomic<bool>& stop)
      : experiment_(experiment),
        host_(host),
        options_(options),
        stop_(stop),
        pool_(options.workers, use_one_torch_thread),
        environment_(observe_environment(host, options.workers, experiment.device)),
        progress_(options.messages,
                  static_cast<std::int64_t>(experiment.seeds.size() * experiment.algorithms.size()),
                  experiment.rounds),
        dataset_(load_dataset(experiment.data.name, default_search_path())),
        model_(build_model(experiment.model.name, experiment.model.settings, model_input()),
               tensor_options(experiment)) {
    if (const std::string warning = slow_blas_warning(environment_); !warning.empty()) progress_.say(warning);
    if (!dataset_.note.empty()) progress_.say("note: " + dataset_.note);
  }

  bool run() {
    for (const std::int64_t seed : experiment_.seeds) {
      const Partition partition = make_partition(experiment_.partition.name, experiment_.partition.settings,
                                                 partition_input(), static_cast<std::uint64_t>(seed));
      progress_.say(fmt::format(
          "seed {}: {}", seed,
          describe(experiment_.partition.name, partition_statistics(partition, partition_input()))));
      check_policies(static_cast<std::int64_t>(partition.size()));
      for (const AlgorithmEntry& entry : experiment_.algorithms) {
        if (!run_cell(entry, seed, partition)) return false;
      }
    }
    return true;
  }

 private:
  ModelInput model_input() const {
    const Examples& train = dataset_.train;
    const bool regression = dataset_.classes == 0;
    return {.shape = train.inputs.sizes().slice(1).vec(),
            .outputs = regression ? train.targets.size(1) : dataset_.classes,
            .regression = regression};
  }

  PartitionInput partition_input() const {
    const Examples& train = dataset_.train;
    PartitionInput input{.labels = {}, .examples = train.size(), .classes = dataset_.classes};
    if (dataset_.classes > 0) {
      input.labels = {train.targets.data_ptr<std::int64_t>(), static_cast<std::size_t>(train.size())};
    }
    return input;
  }

  results::Summary plan(const AlgorithmEntry& entry, const Algorithm& algorithm, std::int64_t seed,
                        const Partition& partition) const {
    results::Summary summary;
    summary.experiment = experiment_.name;
    summary.label = entry.label;
    summary.algorithm = entry.name;
    summary.dataset = experiment_.data.name;
    summary.dataset_note = dataset_.note;
    summary.partition = choice_text(experiment_.partition);
    summary.model = choice_text(experiment_.model);
    summary.seed = seed;
    summary.rounds = experiment_.rounds;
    summary.clients = static_cast<std::int64_t>(partition.size());
    summary.parameters = model_.layout()->numel();
    if (const Accounting* accounting = fedarena::accounting(policy_of(entry))) {
      results::plan_privacy(summary, entry.privacy.name, *accounting, accounting->budget);
      summary.privacy->most_accesses = algorithm.most_accesses();
    }
    for (const auto& [name, value] : entry.settings)
      summary.algorithm_parameters.emplace_back(name, to_text(value));
    return summary;
  }

  static PrivacyPolicy policy_of(const AlgorithmEntry& entry) {
    return make_policy(entry.privacy.name, entry.privacy.settings);
  }

  // What only the model and the number of clients can tell, said before anything is trained.
  void check_policies(std::int64_t clients) {
    for (const AlgorithmEntry& entry : experiment_.algorithms) {
      const PrivacyPolicy policy = policy_of(entry);
      if (std::holds_alternative<RecordPolicy>(policy)) {
        require_per_example_gradients(model_.architecture());
        if (const std::string warning = per_example_warning(model_); !warning.empty()) progress_.say(warning);
      }
      if (const auto* client = std::get_if<ClientPolicy>(&policy)) {
        noise_multipliers(*client, experiment_.cohort_size(clients));
      }
    }
  }

  // False when the user stopped it.
  bool run_cell(const AlgorithmEntry& entry, std::int64_t seed, const Partition& partition) {
    const std::unique_ptr<const Algorithm> algorithm = host_.create(entry.name, entry.settings);
    CellRecord record(options_.out / cell_folder(entry.label, seed), cell(experiment_, entry, seed),
                      environment_.json, plan(entry, *algorithm, seed, partition), options_.resume);
    if (record.finished()) {
      progress_.end_cell(record.summary(), false);
      return true;
    }
    Simulation simulation(
        {.dataset = dataset_,
         .partition = partition,
         .model = model_,
         .algorithm = *algorithm,
         .pool = pool_,
         .stop = stop_,
         .seed = static_cast<std::uint64_t>(seed),
         .rounds = experiment_.rounds,
         .cohort_size = experiment_.cohort_size(static_cast<std::int64_t>(partition.size())),
         .evaluate_every = experiment_.evaluation.every,
         .on_client = [this](std::int64_t done,
                             std::int64_t clients) { progress_.client_done(done, clients); },
         .policy = policy_of(entry)});
    record.restore(simulation);
    progress_.begin_cell(fmt::format("{}, seed {}", entry.label, seed), simulation.rounds_done());
    try {
      while (!simulation.finished()) {
        const results::RoundRecord round = simulation.next_round();
        record.append(round, simulation);
        progress_.round_done(round);
      }
    } catch (const Interrupted&) {
      record.interrupt(simulation);
      return false;
    } catch (const BudgetSpent&) {
      progress_.say(
          fmt::format("{}, seed {}: stopped after round {}: the next one would overspend the budget",
                      entry.label, seed, simulation.rounds_done()));
    }
    record.finish(simulation);
    progress_.end_cell(record.summary(), true);
    return true;
  }

  const Experiment& experiment_;
  const PluginHost& host_;
  const RunOptions& options_;
  const std::atomic<bool>& stop_;
  WorkPool pool_;
  Environment environment_;
  Progress progress_;
  Dataset dataset_;
  Model model_;
};

// Says what is wrong with any cell's folder before hours are spent on the cells before it.
void check_folders(const Experiment& experiment, const RunOptions& options) {
  for (const std::int64_t seed : experiment.seeds) {
    for (const AlgorithmEntry& entry : experiment.algorithms) {
      check_folder(options.out / cell_folder(entry.label, seed), cell(experiment, entry, seed),
                   options.resume);
    }
  }
}

}  // namespace

bool run_experiment(const Experiment& experiment, const PluginHost& host, const RunOptions& options,
                    const std::atomic<bool>& stop) {
  keep_freed_memory();
  use_one_torch_thread();
  check_folders(experiment, options);
  return Arena(experiment, host, options, stop).run();
}

}  // namespace fedarena
