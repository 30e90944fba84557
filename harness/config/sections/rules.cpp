#include "harness/config/sections/rules.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace fedarena::config {
namespace {

// A registered name of this form is the rest of the name under a policy that it requires.
constexpr std::string_view kPrivatePrefix = "dp-";

void check_required_policy(const std::string& required, const AlgorithmEntry& entry, const Table& table,
                           const SectionSpec& algorithms) {
  if (required.empty() || required == entry.privacy.name) return;
  const SectionSpec& own = *algorithms.find_own(std::string(kPrivacy));
  Complaint complaint{.place = table.find("name")->written.place};
  if (find_entry(*own.entries, required) == nullptr) {
    complaint.found = fmt::format("{} requires the privacy policy {}, which does not exist",
                                  in_quotes(entry.name), in_quotes(required));
    complaint.allowed = own.keys.front().field.allowed();
  } else {
    const Setting* section = table.find(own.key());
    const bool chooses_policy = section != nullptr && section->written.table()->find("policy") != nullptr;
    complaint.found = fmt::format("{} requires the privacy policy {} and would run under {}",
                                  in_quotes(entry.name), in_quotes(required), in_quotes(entry.privacy.name));
    complaint.remedy =
        fmt::format("write [{}] policy = {}", chooses_policy ? own.name : own.key(), in_quotes(required));
    const std::string plain =
        entry.name.starts_with(kPrivatePrefix) ? entry.name.substr(kPrivatePrefix.size()) : std::string();
    if (find_entry(*algorithms.entries, plain) != nullptr)
      complaint.remedy += fmt::format(", or use {}", in_quotes(plain));
  }
  complain(std::move(complaint));
}

// Where the key is written, else where its section is.
Place place_of(const Table& table, std::string_view key) {
  const Setting* setting = table.find(key);
  return setting == nullptr ? table.place : setting->place;
}

// The path of the user's own files, without detours; empty for a data set that has none.
std::filesystem::path path_of(const Choice& data) {
  const auto* path = find_setting<std::string>(data.settings, "path");
  return path == nullptr ? "" : std::filesystem::path(*path).lexically_normal();
}

// What a policy hides cannot be known to everybody. Other settings of a data set take the same examples.
void check_proxy(const Experiment& experiment, const Document& document) {
  const Choice &proxy = experiment.proxy, &data = experiment.data;
  if (proxy.name != data.name || path_of(proxy) != path_of(data)) return;
  for (const AlgorithmEntry& algorithm : experiment.algorithms) {
    if (!algorithm.is_private()) continue;
    complain({.place = place_of(*document.table("proxy"), "name"),
              .found = fmt::format("[proxy] takes the training examples of [data], which {} hides by the "
                                   "policy {}: private data are not public",
                                   in_quotes(algorithm.label), in_quotes(algorithm.privacy.name)),
              .remedy = "choose another data set for [proxy], or files of another path"});
  }
}

// Of so many clients. Throws Error at its place where nobody would train.
std::int64_t held_out_of(std::int64_t clients, const Experiment& experiment, const Document& document) {
  try {
    return experiment.held_out_clients(clients);
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    complaint.place = document.table("evaluation")->find("held_out_clients")->written.place;
    complain(std::move(complaint));
  }
}

void check_cohort(const Experiment& experiment, const Document& document) {
  const auto* count = find_setting<std::int64_t>(experiment.partition.settings, "clients");
  // A partition of 0 clients has as many as the data says.
  const bool is_known = count != nullptr && *count > 0;
  const std::int64_t held_out = is_known ? held_out_of(*count, experiment, document) : 0;
  const Cohort& cohort = experiment.cohort;
  const Table* table = document.table("cohort");
  if (table == nullptr) return;
  if (cohort.size != 0 && cohort.fraction != 0) {
    complain({.place = table->find("fraction")->place,
              .found = "both size and fraction are given",
              .allowed = "one of them",
              .remedy = "leave one out, or set it to 0"});
  }
  if (is_known && cohort.size > *count - held_out) {
    complain(
        {.place = table->find("size")->written.place,
         .found = fmt::format("size is {}", cohort.size),
         .allowed = fmt::format("an integer from 0 to {}, the clients of [partition]{}", *count - held_out,
                                held_out == 0 ? "" : fmt::format(" but the {} held out", held_out))});
  }
}

void check_stopping(const Experiment& experiment, const Document& document) {
  const Stopping& stopping = experiment.stopping;
  if (stopping.improvement > 0 && stopping.patience == 0) {
    complain({.place = document.table("stopping")->find("improvement")->place,
              .found = "improvement without patience changes nothing",
              .remedy = "say how many rounds may pass without it: patience = 10"});
  }
  if (experiment.evaluation.validates()) return;
  for (const auto& [key, asked] : {std::pair("target_accuracy", stopping.target_accuracy > 0),
                                   std::pair("patience", stopping.patience > 0)}) {
    if (!asked) continue;
    complain({.place = document.table("stopping")->find(key)->place,
              .found = fmt::format("{} looks at validation examples, and there are none", key),
              .remedy = "set validation_fraction in [evaluation] to a number above 0"});
  }
}

void check_evaluation(const Experiment& experiment, const Document& document) {
  const Evaluation& evaluation = experiment.evaluation;
  if (evaluation.held_out_clients == 0) return;
  const Place place = document.table("evaluation")->find("held_out_clients")->place;
  if (!evaluation.per_client) {
    complain({.place = place,
              .found = "held_out_clients are tested on examples of their own, and no client is tested",
              .remedy = "set per_client = true"});
  }
  if (evaluation.validation_fraction > 0) {
    complain({.place = place,
              .found = "both held_out_clients and validation_fraction are given",
              .allowed = "one of them to validate on",
              .remedy = "leave one out"});
  }
  if (experiment.audit.kind != "none") {
    complain({.place = place,
              .found = "held_out_clients would hold canaries that nothing is trained on",
              .remedy = "leave out [audit] or held_out_clients"});
  }
}

// Canaries go through the mechanisms of a policy; without it there is nothing to audit.
void check_audited(const AlgorithmEntry& algorithm, const Audit& audit, const Table& table) {
  const Place place = place_of(table, "kind");
  const std::string needed = audit.kind == "client" ? "client" : "record";
  if (algorithm.privacy.name != needed) {
    complain({.place = place,
              .found = fmt::format("canaries of the kind {}, and {} runs under the policy {}",
                                   in_quotes(audit.kind), in_quotes(algorithm.label),
                                   in_quotes(algorithm.privacy.name)),
              .allowed = fmt::format("the policy {}", in_quotes(needed)),
              .remedy = algorithm.privacy.name == "label"
                            ? R"(under "label" inputs are public: whether a canary is in is not a secret)"
                        : needed == "record" ? R"(canaries of the kind "client" audit the policy "client")"
                                             : R"(the other kinds audit the policy "record")"});
  }
  const auto* sampling = find_setting<std::string>(algorithm.privacy.settings, "sampling");
  const bool fixed_size = sampling != nullptr && *sampling == "without-replacement";
  if (audit.kind != "mislabelled" && fixed_size) {
    complain({.place = place,
              .found = fmt::format("canaries of the kind {} under sampling \"without-replacement\"",
                                   in_quotes(audit.kind)),
              .allowed = R"(sampling "poisson")",
              .remedy =
                  "such a canary comes in addition, and a sample of a fixed size has no room for it; the "
                  "kind \"mislabelled\" takes the place of an example"});
  }
  const auto* budget = find_setting<PerClient>(algorithm.privacy.settings, "budget");
  if (audit.noise == "off" && budget != nullptr && *budget != PerClient(0)) {
    complain({.place = place_of(table, "noise"),
              .found = "noise is off and there is a budget, which not one round without noise would meet",
              .remedy = "set budget = 0.0"});
  }
}

void check_audit(Experiment& experiment, const Document& document) {
  Audit& audit = experiment.audit;
  const Table* table = document.table(kAudit);
  if (table == nullptr) return;
  if (audit.kind == "none") {
    if (table->find("kind") != nullptr) {
      audit = {};
      return;
    }
    complain({.place = table->place,
              .found = "[audit] has no kind",
              .remedy = R"(write kind = "gradient", "mislabelled" or "client")"});
  }
  if (audit.guesses == 0) audit.guesses = std::max<std::int64_t>(2, audit.canaries / 10 * 2);
  if (audit.guesses % 2 != 0 || audit.guesses > audit.canaries) {
    complain({.place = place_of(*table, "guesses"),
              .found = fmt::format("guesses is {}", audit.guesses),
              .allowed = fmt::format("an even integer from 0 to {}, the canaries", audit.canaries),
              .remedy = "half of the guesses are \"in\", half are \"out\", each about another canary"});
  }
  for (const AlgorithmEntry& algorithm : experiment.algorithms) check_audited(algorithm, audit, *table);
}

// A noise multiplier beside what finds it: in the section that asks for that, or in a nearer one.
void check_noise(const AlgorithmEntry& entry, const Table& table, const SectionSpec& algorithms,
                 const Table* shared) {
  if (entry.noise_for_epsilon() == 0) return;
  const Setting* section = table.find(algorithms.find_own(std::string(kPrivacy))->key());
  const Table* own = section == nullptr ? nullptr : section->written.table();
  const auto given_in = [](const Table* place, const char* key) {
    return place == nullptr ? nullptr : place->find(key);
  };
  const Setting* nearer = given_in(own, kNoiseMultiplier);
  const bool asks_itself = given_in(own, kNoiseForEpsilon) != nullptr;
  const Setting* given = nearer != nullptr || asks_itself ? nearer : given_in(shared, kNoiseMultiplier);
  if (given == nullptr) return;
  complain({.place = given->place,
            .found = "noise_multiplier is given, and noise_for_epsilon, which finds it",
            .allowed = "one of them",
            .remedy = nearer != nullptr && !asks_itself
                          ? "leave it out, or set noise_for_epsilon = 0.0 beside it"
                          : "leave one out"});
}

}  // namespace

void check_requirements(const Experiment& experiment, const AlgorithmEntry& entry, const Table& table,
                        const SectionSpec& algorithms, const Document& document) {
  const CatalogEntry& required = *find_entry(*algorithms.entries, entry.name);
  check_required_policy(required.requires_policy, entry, table, algorithms);
  check_noise(entry, table, algorithms, document.table(kPrivacy));
  const Place& place = table.find("name")->written.place;
  if (required.requires_proxy && experiment.proxy.name == kNoProxy) {
    complain(
        {.place = place,
         .found =
             fmt::format("{} requires public data without labels, and there are none", in_quotes(entry.name)),
         .remedy = "write [proxy] with the name of a data set whose inputs have the shape of the run's"});
  }
  if (required.one_round && experiment.rounds != 1) {
    complain({.place = place,
              .found = fmt::format("{} is done after one round, and the experiment has rounds = {}",
                                   in_quotes(entry.name), experiment.rounds),
              .remedy = "set experiment.rounds = 1, in a file of its own where other algorithms need more"});
  }
}

void apply_rules(Experiment& experiment, const Document& document) {
  check_proxy(experiment, document);
  check_evaluation(experiment, document);
  check_cohort(experiment, document);
  check_stopping(experiment, document);
  check_audit(experiment, document);
}

}  // namespace fedarena::config
