#include "harness/runner/plan/cell_checks.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "harness/gradients/engine/per_example.hpp"
#include "harness/oracle/policies.hpp"
#include "harness/oracle/private_uplink.hpp"
#include "harness/runner/cell_setup.hpp"
#include "results/record/claim_text.hpp"

namespace fedarena {
namespace {

using Say = std::function<void(const std::string& line)>;

// Empty where delta is small enough, or nothing is private.
std::string delta_note(const AlgorithmEntry& entry, const Partition& partition) {
  const PrivacyPolicy policy = policy_of(entry);
  const Accounting* settings = accounting(policy);
  if (settings == nullptr) return {};
  results::PrivacyClaim claim{.unit = entry.privacy.name, .settings = *settings};
  for (const auto& shard : partition) {
    const bool of_examples = claim.unit == "record" || claim.unit == "label";
    claim.units += of_examples ? std::ssize(shard) : 1;
  }
  if (const auto* client = std::get_if<ClientPolicy>(&policy)) claim.as_if_units = client->as_if_population;
  const std::string warning = results::delta_warning(claim);
  return warning.empty() ? "" : fmt::format("note: {}: {}", entry.label, warning);
}

// Empty where all clients are tested, or none is to be.
std::string untested_clients(const PartitionedData& dealt) {
  const auto untested =
      std::ranges::count_if(dealt.client_tests, [](const auto& share) { return share.empty(); });
  if (untested == 0) return {};
  const auto clients = std::ssize(dealt.client_tests);
  return fmt::format("note: only {} of {} clients have test examples of their own", clients - untested,
                     clients);
}

// What only the model and the number of clients can tell, said before anything is trained.
void check_policy(const AlgorithmEntry& entry, const Experiment& experiment, const Model& model,
                  std::int64_t clients, const Say& say) {
  const PrivacyPolicy policy = policy_of(entry);
  if (std::holds_alternative<RecordPolicy>(policy)) {
    require_per_example_gradients(model.architecture());
    say(per_example_warning(model));
  }
  if (const auto* client = std::get_if<ClientPolicy>(&policy)) {
    const std::int64_t cohort = experiment.cohort_size(clients);
    check_as_if(*client, cohort, clients - experiment.held_out_clients(clients));
    noise_multipliers(*client, cohort);
  }
}

void check_labels(const AlgorithmEntry& entry, const Experiment& experiment, std::int64_t seed,
                  const Dataset& dataset, const Partition& partition) {
  const PrivacyPolicy policy = policy_of(entry);
  const auto* labels = std::get_if<LabelPolicy>(&policy);
  if (labels == nullptr) return;
  const std::vector<std::int64_t> held_out = held_out_clients(experiment, seed, std::ssize(partition));
  std::int64_t smallest = dataset.train.size();
  for (std::int64_t client = 0; client < std::ssize(partition); ++client) {
    if (!std::ranges::binary_search(held_out, client))
      smallest = std::min(smallest, std::ssize(partition[static_cast<std::size_t>(client)]));
  }
  labels->check(dataset.classes, experiment.rounds, smallest);
}

}  // namespace

void check_cell(const PlannedCell& cell, SharedInputs& inputs, const Say& say) {
  const Experiment& experiment = cell.point->experiment;
  const Dataset& dataset = inputs.dataset(experiment);
  const Model& model = inputs.model(experiment);
  say(dataset.taken);
  if (const std::string note = data_note(experiment, dataset); !note.empty()) say("note: " + note);
  const auto dealt = inputs.dealt(experiment, cell.seed);
  const auto clients = static_cast<std::int64_t>(dealt->partition.size());
  say(untested_clients(*dealt));
  check_policy(*cell.algorithm, experiment, model, clients, say);
  check_labels(*cell.algorithm, experiment, cell.seed, dataset, dealt->partition);
  const Canaries room(canary_plan(experiment), static_cast<std::uint64_t>(cell.seed), dealt->partition,
                      dataset.train, dataset.classes, model.layout()->numel());
  say(delta_note(*cell.algorithm, dealt->partition));
}

}  // namespace fedarena
