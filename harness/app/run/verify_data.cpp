#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/app/commands.hpp"
#include "harness/app/results/verify_command.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/runner/plan/experiment_data.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "harness/runner/plan/weights_file.hpp"
#include "results/audit/audited_run.hpp"
#include "results/audit/comparison.hpp"
#include "results/audit/expected_inputs.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/test_metrics.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

// Of data whose test examples nobody has counted before.
void compare_classes(const results::RunDirectory& run, const Dataset& dataset,
                     results::Verification& verification) {
  const auto settings = results::resolved_settings(run.read_file(results::kExperimentFile));
  if (dataset.classes == 0 || results::expected_test_counts(settings)) return;
  const torch::Tensor counts = torch::bincount(dataset.test.targets, {}, dataset.classes);
  results::verify_class_accuracies(
      run.rounds(), {counts.data_ptr<std::int64_t>(), static_cast<std::size_t>(counts.numel())},
      results::Comparison(verification, run.path() / results::kRoundsFile));
}

// Which clients were tested, and on how many examples, against those that they were dealt.
void compare_client_tests(const results::RunDirectory& run, const Experiment& experiment, std::int64_t seed,
                          const PartitionedData& dealt, results::Verification& verification) {
  const std::optional<results::ClientScores> scores = run.client_scores();
  if (!scores) return;
  const auto held_out = held_out_clients(experiment, seed, std::ssize(dealt.partition));
  std::map<std::int64_t, std::int64_t> due, tested;  // examples of each client
  for (std::int64_t client = 0; client < std::ssize(dealt.client_tests); ++client) {
    const auto examples = std::ssize(dealt.client_tests[static_cast<std::size_t>(client)]);
    if (examples > 0 && !std::ranges::binary_search(held_out, client)) due[client] = examples;
  }
  for (const auto& score : scores->clients) tested[score.client] = score.test_examples;
  results::Comparison compare(verification, run.path() / results::kClientsFile);
  compare.same("clients tested", std::ssize(tested), std::ssize(due));
  results::Kinds kinds(std::move(compare));
  for (const auto& [client, examples] : tested) {
    const auto found = due.find(client);
    kinds.result(found != due.end() && found->second == examples, "test examples",
                 results::client_text(client), std::to_string(examples),
                 std::to_string(found == due.end() ? 0 : found->second));
  }
  kinds.conclude();
}

results::Verification verify_data(const fs::path& path, const Catalog& catalog, SharedInputs& inputs) {
  results::Verification verification;
  const auto run = results::RunDirectory::open(path);
  const results::Summary summary = run.summary();
  const PlannedCell cell = recorded_cell(config::read_document(path / results::kExperimentFile), catalog);
  const Experiment& experiment = cell.point->experiment;
  results::Comparison compare(verification, path / results::kSummaryFile);
  const std::string data_hash = inputs.data_hash(experiment);
  compare.text("data_hash", summary.data_hash, data_hash);
  if (has_weights(experiment.model)) {
    results::Comparison(verification, path / results::kExperimentFile)
        .text("model.weights_sha256", recorded_weights_hash(experiment.model),
              weights_hash(experiment.model));
  }
  // What follows from other data differs with them.
  if (summary.data_hash != data_hash) return verification;
  compare.text("dataset_note", summary.dataset_note, data_note(experiment, inputs.dataset(experiment)));
  const auto dealt = inputs.dealt(experiment, summary.seed);
  compare.text("partition_hash", summary.partition_hash, dealt->card.statistics.index_hash);
  compare_classes(run, inputs.dataset(experiment), verification);
  compare_client_tests(run, experiment, summary.seed, *dealt, verification);
  if (!run.has(results::kPartitionFile)) return verification;
  const std::string card = to_json_text(recorded_partition(experiment, summary.seed, dealt->card));
  results::Comparison compare_card(verification, path / results::kPartitionFile);
  compare_card.result(run.read_file(results::kPartitionFile) == card, "the card", "recorded otherwise",
                      "as the data give it");
  return verification;
}

}  // namespace

void add_full_verify_command(CLI::App& app, Action& action) {
  add_verify_command(app, action, [](const std::vector<fs::path>& plugin_path) {
    const auto plugins = std::make_shared<const LoadedPlugins>(load_plugins(plugin_path));
    const auto inputs = std::make_shared<SharedInputs>();
    return [plugins, inputs](const fs::path& run) { return verify_data(run, plugins->catalog, *inputs); };
  });
}

}  // namespace fedarena
