#include "harness/runner/plan/planned_summary.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "harness/oracle/policies.hpp"
#include "harness/runner/cell_setup.hpp"
#include "results/audit/compute_claim.hpp"

namespace fedarena {
namespace {

// Without feature skew where it is off, so that tables keep runs from before there was any with their like.
std::string partition_text(Choice partition) {
  std::erase_if(partition.settings, [](const auto& setting) {
    const auto& [name, value] = setting;
    return (name == "noise" && value == Value(0.0)) ||
           (name == "rotations" && value == Value(std::vector<std::int64_t>{}));
  });
  return choice_text(partition);
}

}  // namespace

results::Summary planned_summary(const PlannedCell& cell, const PartitionedData& dealt,
                                 SharedInputs& inputs) {
  const Experiment& experiment = cell.point->experiment;
  const AlgorithmEntry& entry = *cell.algorithm;
  results::Summary summary;
  summary.experiment = experiment.name;
  summary.label = entry.label;
  summary.algorithm = entry.name;
  summary.dataset = describe_data(experiment);
  summary.dataset_note = data_note(experiment, inputs.dataset(experiment));
  summary.data_hash = inputs.data_hash(experiment);
  summary.partition = partition_text(experiment.partition);
  summary.partition_id = dealt.card.id;
  summary.partition_hash = dealt.card.statistics.index_hash;
  summary.model = choice_text(experiment.model);
  summary.sweep = cell.point->swept;
  summary.tuning = cell.tuning;
  summary.seed = cell.seed;
  summary.rounds = experiment.rounds;
  summary.clients = static_cast<std::int64_t>(dealt.partition.size());
  summary.held_out_clients = experiment.held_out_clients(summary.clients);
  summary.parameters = inputs.model(experiment).layout()->numel();
  const PrivacyPolicy policy = policy_of(entry);
  if (const Accounting* accounting = fedarena::accounting(policy)) {
    results::plan_privacy(summary, entry.privacy.name, *accounting, accounting->budget,
                          differs_by_client(policy));
    // What the claim holds stands there.
    const std::vector<std::string> claimed = {"delta", "budget", "orders", "conversion", "assume"};
    for (const auto& [name, value] : entry.privacy.settings) {
      if (std::ranges::find(claimed, name) == claimed.end())
        summary.policy_settings.emplace_back(name, to_text(value));
    }
  }
  for (const auto& [name, value] : entry.settings)
    summary.algorithm_parameters.emplace_back(name, to_text(value));
  return summary;
}

}  // namespace fedarena
