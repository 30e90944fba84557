#include "harness/runner/cell_setup.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "datasets/registry.hpp"
#include "partitions/feature_skew.hpp"

namespace fedarena {

PrivacyPolicy policy_of(const AlgorithmEntry& entry) {
  return make_policy(entry.privacy.name, entry.privacy.settings);
}

bool hides_label_counts(const Experiment& experiment) {
  return std::ranges::any_of(experiment.algorithms, [](const AlgorithmEntry& entry) {
    const PrivacyPolicy policy = policy_of(entry);
    const Accounting* accounting = fedarena::accounting(policy);
    return accounting != nullptr && !accounting->public_label_counts;
  });
}

CanaryPlan canary_plan(const Experiment& experiment) {
  const Audit& audit = experiment.audit;
  if (audit.kind == "none") return {};
  return {.kind = audit.kind, .count = audit.canaries, .control = audit.noise == "off"};
}

std::uint64_t noise_identity(const PlannedCell& cell, SharedInputs& inputs, const std::string& plugin) {
  const Experiment& experiment = cell.point->experiment;
  if (dataset_origin(experiment.data.name) == DatasetOrigin::kDrawn) return cell.identity();
  return cell.identity(fmt::format("\n{}\n{}\n", inputs.data_hash(experiment), plugin));
}

SimulationSetup cell_setup(const PlannedCell& cell, SharedInputs& inputs, const PartitionedData& dealt,
                           const Algorithm& algorithm, const std::string& plugin, const WorkPool& pool,
                           const std::atomic<bool>& stop) {
  const Experiment& experiment = cell.point->experiment;
  return {.dataset = inputs.dataset(experiment),
          .partition = dealt.partition,
          .model = inputs.model(experiment),
          .algorithm = algorithm,
          .pool = pool,
          .stop = stop,
          .seed = static_cast<std::uint64_t>(cell.seed),
          .cell = noise_identity(cell, inputs, plugin),
          .rounds = experiment.rounds,
          .cohort_size = experiment.cohort_size(static_cast<std::int64_t>(dealt.partition.size())),
          .evaluate_every = experiment.evaluation.every,
          .policy = policy_of(*cell.algorithm),
          .client_tests = experiment.evaluation.per_client ? &dealt.client_tests : nullptr,
          .held_out = held_out_clients(experiment, cell.seed, std::ssize(dealt.partition)),
          .tests_tell_label_counts = dealt.tests_tell_label_counts,
          .features = feature_skew(experiment.partition.name, experiment.partition.settings),
          .canaries = canary_plan(experiment),
          .proxy = inputs.proxy(experiment),
          .algorithm_name = fmt::format("algorithm \"{}\"", cell.algorithm->name)};
}

}  // namespace fedarena
