#include "harness/runner/cell_setup.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "datasets/registry.hpp"
#include "harness/digest/sha256.hpp"
#include "harness/loader/guarded_algorithm.hpp"
#include "partitions/feature_skew.hpp"
#include "results/audit/compute_claim.hpp"
#include "results/record/partition_file.hpp"

namespace fedarena {
namespace {

PrivacyPolicy made(const Choice& policy) { return make_policy(policy.name, policy.settings); }

}  // namespace

PrivacyPolicy policy_of(const AlgorithmEntry& entry) { return made(entry.privacy); }

bool hides_label_counts(const GridPoint& point) {
  return std::ranges::any_of(
      point.policies, [](const Choice& policy) { return !accounting(made(policy)).public_label_counts; });
}

std::string taken_words(const GridPoint& point, const Dataset& dataset) {
  const bool hides_inputs = std::ranges::any_of(
      point.policies, [](const Choice& policy) { return unit(made(policy)) != Unit::kLabel; });
  return (hides_label_counts(point) ? dataset.taken_without_labels : dataset.taken) +
         (hides_inputs ? "" : dataset.overlap);
}

CanaryPlan canary_plan(const Experiment& experiment) {
  const Audit& audit = experiment.audit;
  if (audit.kind == "none") return {};
  return {.kind = audit.kind, .count = audit.canaries, .control = audit.noise == "off"};
}

std::uint64_t noise_identity(const PlannedCell& cell, SharedInputs& inputs, const std::string& plugin) {
  const Experiment& experiment = cell.point->experiment;
  std::string text = to_toml(cell.experiment());
  if (dataset_source(experiment.data.name).origin != DatasetOrigin::kDrawn)
    text += fmt::format("\n{}\n{}\n", inputs.data_hash(experiment), plugin);
  return std::stoull(sha256_of(text).substr(0, 16), nullptr, 16);
}

SimulationSetup cell_setup(const PlannedCell& cell, const PartitionedData& dealt, const Algorithm& algorithm,
                           const CellResources& resources) {
  const auto& [host, inputs, pool, stop] = resources;
  const Experiment& experiment = cell.point->experiment;
  return {.dataset = inputs.dataset(experiment),
          .partition = dealt.partition,
          .model = inputs.model(experiment),
          .algorithm = algorithm,
          .pool = pool,
          .stop = stop,
          .seed = static_cast<std::uint64_t>(cell.seed),
          .cell = noise_identity(cell, inputs, host.info(cell.algorithm->name).plugin),
          .rounds = experiment.rounds,
          .cohort_size = experiment.cohort_size(static_cast<std::int64_t>(dealt.partition.size())),
          .evaluate_every = experiment.evaluation.every,
          .policy = policy_of(*cell.algorithm),
          .client_tests = experiment.evaluation.per_client ? &dealt.client_tests : nullptr,
          .held_out = held_out_clients(experiment, cell.seed, std::ssize(dealt.partition)),
          .tests_tell_label_counts = dealt.tests_tell_label_counts,
          .tests_are_of_clients = dealt.tests_are_of_clients,
          .features = feature_skew(experiment.partition.name, experiment.partition.settings),
          .canaries = canary_plan(experiment),
          .public_deal = results::public_deal(cell.algorithm->privacy.name, experiment.data.name,
                                              experiment.partition.name),
          .proxy = inputs.proxy(experiment),
          .initial_weights = inputs.initial_weights(experiment),
          .algorithm_name = fmt::format("algorithm \"{}\"", cell.algorithm->name)};
}

OpenedCell::OpenedCell(const PlannedCell& cell, const CellResources& resources)
    : algorithm_(resources.host.create(cell.algorithm->name, cell.algorithm->settings)),
      dealt_(resources.inputs.dealt(cell.point->experiment, cell.seed)),
      simulation_(cell_setup(cell, *dealt_, *algorithm_, resources)) {}

bool CannotBegin::try_cell(const PlannedCell& cell, const std::function<void()>& begin) {
  try {
    begin();
    return true;
  } catch (const PluginFailure&) {
    throw;
  } catch (const Error& error) {
    if (count_++ > 0) return false;
    first_ = error.complaint();
    first_->found = fmt::format("{}: {}", cell.name(), first_->found);
    return false;
  }
}

std::optional<Complaint> CannotBegin::complaint() const {
  std::optional<Complaint> all = first_;
  if (count_ > 1) all->remedy += fmt::format("\n{} cannot begin either.", counted(count_ - 1, "other cell"));
  return all;
}

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
  summary.partition = choice_text({experiment.partition.name, without_off(experiment.partition.settings)});
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
  if (entry.is_private()) {
    const PrivacyPolicy policy = policy_of(entry);
    const Accounting& settings = accounting(policy);
    results::plan_privacy(summary, entry.privacy.name, settings, settings.budget, differs_by_client(policy));
    // What the claim holds stands there.
    constexpr std::array<std::string_view, 5> kClaimed = {"delta", "budget", "orders", "conversion",
                                                          "assume"};
    for (const auto& [name, value] : entry.privacy.settings) {
      if (!contains(kClaimed, name)) summary.policy_settings.emplace_back(name, to_text(value));
    }
  }
  for (const auto& [name, value] : entry.settings)
    summary.algorithm_parameters.emplace_back(name, to_text(value));
  return summary;
}

}  // namespace fedarena
