#include "harness/runner/plan/cell_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "harness/gradients/engine/per_example.hpp"
#include "harness/oracle/policies.hpp"
#include "harness/oracle/private_uplink.hpp"
#include "harness/runner/plan/changed_cells.hpp"
#include "harness/runner/plan/device.hpp"
#include "harness/runner/plan/memory.hpp"
#include "harness/runner/record/builds.hpp"
#include "harness/runner/record/environment.hpp"
#include "results/record/claim_text.hpp"
#include "results/record/round_file.hpp"

namespace fedarena {
namespace {

// Empty where all clients are tested, or none is to be.
std::string untested_clients(const PartitionedData& dealt) {
  const auto untested =
      std::ranges::count_if(dealt.client_tests, [](const auto& share) { return share.empty(); });
  if (untested == 0) return {};
  const auto clients = std::ssize(dealt.client_tests);
  return fmt::format("note: only {} of {} clients have test examples of their own", clients - untested,
                     clients);
}

// Before anything is trained, what makes every epsilon of an algorithm infinite.
std::string exact_tests_note(const AlgorithmEntry& entry, const PrivacyPolicy& policy,
                             const PartitionedData& dealt) {
  // A budget is refused because of it.
  if (!entry.is_private() || has_budget(policy) || !dealt.tests_tell_label_counts) return {};
  if (std::holds_alternative<DeclaredPublic>(label_count_access(policy))) return {};
  return fmt::format(
      "note: {}: epsilon will be infinite, because tests of clients tell how many examples of each class "
      "each client holds; public_label_counts = true says that everybody knows",
      entry.label);
}

// Numbers of examples are the clients' secret there, and the means that they weigh are refused in round 1.
void check_weighting(const AlgorithmEntry& entry) {
  const Value by_examples(std::string("examples"));
  if (!contains(entry.settings, Settings::value_type("weighting", by_examples))) return;
  throw Error(Complaint{
      .found =
          fmt::format("weighting is \"examples\" (for {}), and the policy \"client\" hides how many examples "
                      "a client has",
                      entry.label),
      .allowed = "\"uniform\"",
      .remedy = "set weighting = \"uniform\" in [training], or for this algorithm"});
}

// What only the model and the number of clients can tell, said before anything is trained.
void check_policy(const AlgorithmEntry& entry, const PrivacyPolicy& policy, const Experiment& experiment,
                  const Model& model, std::int64_t clients, const CellChecks::Say& say) {
  if (std::holds_alternative<RecordPolicy>(policy)) {
    require_per_example_gradients(model.architecture());
    say(per_example_warning(model));
  }
  if (const auto* client = std::get_if<ClientPolicy>(&policy)) {
    check_weighting(entry);
    const std::int64_t cohort = experiment.cohort_size(clients);
    check_as_if(*client, cohort, clients - experiment.held_out_clients(clients));
    noise_multipliers(*client, cohort);
  }
}

// Under whatever name or path they come. Some rows of tables are alike without being the same person's.
void check_proxy(const AlgorithmEntry& entry, const Experiment& experiment, SharedInputs& inputs) {
  constexpr double kMostAlike = 0.5;
  if (!entry.is_private()) return;
  const double known = inputs.known_proxies(experiment);
  if (known <= kMostAlike) return;
  throw Error(Complaint{
      .found = fmt::format("{:.0f} % of the examples of [proxy] are among those of [data], which {} hides by "
                           "the policy {}: private data are not public",
                           100 * known, fedarena::quoted(entry.label), fedarena::quoted(entry.privacy.name)),
      .remedy = "choose data for [proxy] that nobody trains on"});
}

// What a run cannot write down would end it for good, after days maybe.
void check_rounds_fit(const Experiment& experiment, std::int64_t classes) {
  results::RoundRecord record;
  const std::size_t unevaluated = results::size_in_memory(record);
  record.classes.emplace().accuracy.resize(static_cast<std::size_t>(classes));
  const std::int64_t every = experiment.evaluation.every;
  const auto rounds = static_cast<std::size_t>(experiment.rounds);
  const auto evaluated = static_cast<std::size_t>((experiment.rounds + every - 1) / every);
  const std::size_t size = evaluated * results::size_in_memory(record) + (rounds - evaluated) * unevaluated;
  const std::size_t most = results::RoundLimits().records;
  if (size <= most) return;
  throw Error(Complaint{.found = fmt::format("the records of {}, {} of them evaluated on {}, take {} MiB",
                                             counted(experiment.rounds, "round"), evaluated,
                                             counted(classes, "class", "classes"), size >> 20),
                        .allowed = fmt::format("at most {} MiB, which every command can read", most >> 20),
                        .remedy = "evaluate less often: set every in [evaluation]; or run fewer rounds"});
}

// Numbers meet weights in their type.
void check_numbers(const AlgorithmEntry& entry, const std::string& dtype) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (dtype != "float32") return;
  Settings all = entry.settings;
  all.insert(all.end(), entry.privacy.settings.begin(), entry.privacy.settings.end());
  for (const auto& [name, value] : all) {
    const auto* number = std::get_if<double>(&value);
    const auto* list = std::get_if<PerClient>(&value);
    const double largest = number != nullptr ? std::abs(*number) : list != nullptr ? list->most() : 0;
    if (!std::isfinite(largest) || largest <= kLargest) continue;
    throw Error(Complaint{
        .found = fmt::format("{} is {} (for {})", name, to_text(value), entry.label),
        .allowed = fmt::format("numbers up to {:.3g}, the largest of the dtype \"{}\"", kLargest, dtype)});
  }
}

void check_classes(const AlgorithmEntry& entry, const Experiment& experiment, const PluginHost& host,
                   const Dataset& dataset) {
  if (dataset.classes > 0 || !host.info(entry.name).description.requires_classes) return;
  throw Error(
      Complaint{.found = fmt::format("{} works on classes, and the data set {} is a regression",
                                     fedarena::quoted(entry.name), fedarena::quoted(experiment.data.name)),
                .remedy = "leave it out, or choose data with classes"});
}

// What settings that the SDK declares do to images, said before a round is spent on finding out.
void check_images(const AlgorithmEntry& entry, const Model& model) {
  const auto& shape = model.architecture().input_shape;
  if (shape.size() == 3) return;
  for (const auto& [name, value] : entry.settings) {
    const auto* choice = std::get_if<std::string>(&value);
    if (choice == nullptr) continue;
    const bool augments = name.ends_with("augmentation") && *choice != "none";
    const bool draws = name == "generator" && (*choice == "datalens" || *choice == "dp-merf");
    if (!augments && !draws) continue;
    throw Error(Complaint{
        .found =
            fmt::format("{} is {} (for {}), which {} images, and the model's inputs are of shape [{}]", name,
                        to_text(value), entry.label, augments ? "changes" : "draws", fmt::join(shape, ", ")),
        .allowed = "[channels, height, width]",
        .remedy = fmt::format("Set {} = \"{}\", or choose images and a model for them.", name,
                              augments ? "none" : "psg")});
  }
}

void check_labels(const PrivacyPolicy& policy, const Experiment& experiment, std::int64_t seed,
                  const Dataset& dataset, const Partition& partition) {
  const auto* labels = std::get_if<LabelPolicy>(&policy);
  if (labels == nullptr) return;
  labels->check(dataset.classes, experiment.rounds, partition,
                held_out_clients(experiment, seed, std::ssize(partition)));
}

}  // namespace

std::string delta_note(const AlgorithmEntry& entry, const Partition& partition) {
  if (!entry.is_private()) return {};
  const PrivacyPolicy policy = policy_of(entry);
  results::PrivacyClaim claim{.unit = entry.privacy.name, .settings = accounting(policy)};
  for (const auto& shard : partition) {
    const bool of_examples = claim.unit == "record" || claim.unit == "label";
    claim.units += of_examples ? std::ssize(shard) : 1;
  }
  if (const auto* client = std::get_if<ClientPolicy>(&policy)) claim.as_if_units = client->as_if_population;
  const std::string warning = results::delta_warning(claim);
  return warning.empty() ? "" : fmt::format("note: {}: {}", entry.label, warning);
}

std::vector<std::int64_t> CellChecks::check_all(const std::vector<PlannedCell>& cells, bool resume) {
  check_folders(cells, options_.out, resume);
  check_data(cells, options_.out, resources_.inputs);
  std::vector<std::int64_t> needs;
  for (const PlannedCell& cell : cells) {
    if (resources_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    try {
      needs.push_back(check(cell));
    } catch (const Error& error) {
      if (cell.point->name.empty()) throw;
      const Complaint& told = error.complaint();
      throw Error::at(told.place, fmt::format("{} (at the point {})", told.found, cell.point->name), told);
    }
  }
  return needs;
}

std::int64_t CellChecks::check(const PlannedCell& cell) {
  SharedInputs& inputs = resources_.inputs;
  const Experiment& experiment = cell.point->experiment;
  const auto [environment, is_new] = environments_.try_emplace(experiment.device);
  if (is_new) {
    const torch::Device device = device_of(experiment.device);
    environment->second = observe_environment(resources_.host, options_.workers, device);
    say_(slow_blas_warning(environment->second));
    if (device.is_cuda())
      say_("note: models are trained on a GPU: " + environment->second.value("gpu", "unknown"));
  }
  const Dataset& dataset = inputs.dataset(experiment);
  const Model& model = inputs.model(experiment);
  inputs.initial_weights(experiment);
  check_rounds_fit(experiment, dataset.classes);
  if (options_.describes_data) say_(taken_words(*cell.point, dataset));
  if (const std::string note = data_note(experiment, dataset); !note.empty()) say_("note: " + note);
  const auto dealt = inputs.dealt(experiment, cell.seed);
  const auto clients = std::ssize(dealt->partition);
  say_(untested_clients(*dealt));
  const AlgorithmEntry& entry = *cell.algorithm;
  const PrivacyPolicy policy = policy_of(entry);
  check_classes(entry, experiment, resources_.host, dataset);
  check_images(entry, model);
  check_policy(entry, policy, experiment, model, clients, say_);
  check_proxy(entry, experiment, inputs);
  check_labels(policy, experiment, cell.seed, dataset, dealt->partition);
  const Canaries room(canary_plan(experiment), static_cast<std::uint64_t>(cell.seed), dealt->partition,
                      dataset.train, dataset.classes, model.layout()->numel());
  say_(delta_note(entry, dealt->partition));
  say_(exact_tests_note(entry, policy, *dealt));
  check_numbers(entry, experiment.dtype);
  const std::filesystem::path run = options_.out / cell.folder();
  check_partition(run, recorded_partition(experiment, cell.seed, dealt->card));
  check_plugin_and_device(run, environment->second);
  return estimate_memory(
      cell_size(experiment, entry, model, clients, resources_.pool, options_.state_memory));
}

}  // namespace fedarena
