#include "harness/config/sections/sections.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "harness/config/syntax/document.hpp"

namespace fedarena::config {
namespace {

std::optional<Objection> unsafe_as_folder(const Value& value) {
  const auto& text = std::get<std::string>(value);
  if (is_folder_name(text)) return std::nullopt;
  return Objection{to_text(value) + " is not safe as a folder name"};
}

std::optional<Objection> unknown_device(const Value& value) {
  const auto& text = std::get<std::string>(value);
  if (is_device(text)) return std::nullopt;
  return Objection{.found = "device is " + to_text(value), .nearest = nearest_device(text)};
}

std::optional<Objection> empty_or_repeated(const Value& value) {
  const auto& seeds = std::get<std::vector<std::int64_t>>(value);
  if (seeds.empty()) return Objection{"seeds is empty"};
  std::unordered_set<std::int64_t> seen;
  for (std::size_t index = 0; index < seeds.size(); ++index) {
    if (!seen.insert(seeds[index]).second)
      return Objection{fmt::format("seed {} is listed twice", seeds[index]), index};
  }
  return std::nullopt;
}

template <typename Config>
std::vector<Key> keys_of(const Schema<Config>& schema) {
  std::vector<Key> keys;
  for (const Field& field : schema.fields()) keys.push_back({.field = field});
  return keys;
}

std::vector<Key> experiment_keys() {
  auto keys = keys_of(Schema<Experiment>{
      {"name", &Experiment::name, "Names the experiment and the folder of its runs."},
      {"seeds", &Experiment::seeds, "One run of every algorithm for each.", Constraint::at_least(0)},
      {"rounds", &Experiment::rounds, "Rounds of communication in each run.",
       Constraint::between(1, 1'000'000)},
      {"device", &Experiment::device,
       "Where models are trained: cuda is GPU 0, cuda:N GPU N, and auto GPU 0 where there is one, else the "
       "CPU."},
      {"dtype", &Experiment::dtype, "The type of the model's weights.",
       Constraint::one_of({"float32", "float64"})}});
  keys[0].rule = kFolderNameRule;
  keys[0].objection = unsafe_as_folder;
  keys[1].rule = "a list of integers >= 0, distinct, at least one";
  keys[1].objection = empty_or_repeated;
  keys[3].rule = kDeviceNames;
  keys[3].objection = unknown_device;
  for (std::size_t index = 0; index < 3; ++index) keys[index].required = true;
  return keys;
}

std::vector<Key> cohort_keys() {
  return keys_of(
      Schema<Cohort>{{"size", &Cohort::size, "Clients in a round; 0: all of them.", Constraint::at_least(0)},
                     {"fraction", &Cohort::fraction,
                      "The part of the clients in a round, instead of the size; 0: the size counts.",
                      Constraint::between(0, 1)}});
}

std::vector<Key> evaluation_keys() {
  std::vector<Key> keys = keys_of(Schema<Evaluation>{
      {"every", &Evaluation::every, "Rounds between evaluations; the last round is always evaluated.",
       Constraint::at_least(1)},
      {"validation_fraction", &Evaluation::validation_fraction,
       "The part of the training examples that no client gets, to validate on; the same for every seed.",
       Constraint::between(0, 0.9)},
      {"per_client", &Evaluation::per_client,
       "Whether each client is also tested on test examples of its own users, or of its own mixture of "
       "classes."},
      {"held_out_clients", &Evaluation::held_out_clients,
       "The part of the clients that never train, drawn by the seed, to validate on; needs per_client.",
       Constraint::between(0, 0.9)}});
  keys.back().field.later = true;
  return keys;
}

std::vector<Key> tuning_keys() {
  return keys_of(Schema<TuningKeys>{
      {"search", &TuningKeys::search, "All combinations of the values, or some of them at random.",
       Constraint::one_of({"grid", "random"})},
      {"trials", &TuningKeys::trials, "Runs of each algorithm; 0: all combinations, of a grid.",
       Constraint::between(0, kMostPoints)},
      {"seed", &TuningKeys::seed, "What the trials are drawn from and run under.", Constraint::at_least(0)}});
}

std::vector<Key> stopping_keys() {
  return keys_of(Schema<Stopping>{
      {"target_accuracy", &Stopping::target_accuracy,
       "Stop once the validation accuracy, a fraction, is at least this; 0: no target. Not on regression "
       "data.",
       Constraint::between(0, 1)},
      {"patience", &Stopping::patience,
       "Stop when this many rounds brought no better validation accuracy, or on regression data loss; 0: "
       "never.",
       Constraint::at_least(0)},
      {"improvement", &Stopping::improvement,
       "By how much, as a fraction, a round must beat the last one that counted as better; of a loss, "
       "which part of it.",
       Constraint::between(0, 1)}});
}

std::vector<Key> audit_keys() {
  auto keys = keys_of(Schema<Audit>{
      {"kind", &Audit::kind,
       "What a canary is: a gradient along a coordinate of its own or an example with a wrong label (policy "
       "record), or a client that sends a direction of its own (policy client).",
       Constraint::one_of({"none", "gradient", "mislabelled", "client"})},
      {"canaries", &Audit::canaries, "How many there are; each is in the data with probability 1/2.",
       Constraint::between(2, 1'000'000)},
      {"guesses", &Audit::guesses,
       "How many are guessed afterwards, half of them in and half out; 0: a fifth of the canaries.",
       Constraint::between(0, 1'000'000)},
      {"noise", &Audit::noise,
       "Off is the positive control: the mechanisms add no noise, epsilon is infinite, and the audit must "
       "find it out.",
       Constraint::one_of({"on", "off"})}});
  keys[2].rule = "an even integer from 0 to the canaries";
  for (Key& key : keys) key.field.later = true;
  return keys;
}

// The key that chooses an entry; without a fallback it is required.
std::vector<Key> choice_keys(const std::string& key, const std::string& doc,
                             const std::vector<CatalogEntry>& entries, const std::string& fallback = {}) {
  auto keys = keys_of(
      Schema<Choice>{{key, &Choice::name, doc, Constraint::one_of(names_of(entries, &CatalogEntry::name))}});
  keys[0].required = fallback.empty();
  keys[0].field.fallback = fallback;
  return keys;
}

std::vector<Key> proxy_keys(const std::vector<CatalogEntry>& proxies) {
  auto keys = choice_keys("name", "The data set.", proxies, std::string(kNoProxy));
  keys[0].field.later = true;
  return keys;
}

template <typename Part>
SectionSpec fixed_section(const std::string& name, const std::string& doc, std::vector<Key> keys,
                          Part Experiment::*part) {
  return {.name = name, .doc = doc, .keys = std::move(keys), .part = [part](Experiment& experiment) {
            return &(experiment.*part);
          }};
}

SectionSpec choice_section(const std::string& name, const std::string& doc, std::vector<Key> keys,
                           Choice Experiment::*part, const std::vector<CatalogEntry>& entries) {
  SectionSpec spec = fixed_section(name, doc, std::move(keys), part);
  spec.kind = SectionSpec::Kind::kChoice;
  spec.entries = &entries;
  return spec;
}

SectionSpec own_privacy(const std::vector<CatalogEntry>& policies) {
  auto keys = choice_keys("policy", "The policy of this algorithm; left out: that of [privacy].", policies);
  keys[0].required = false;
  return {.name = "algorithms.privacy",
          .doc =
              "Below an algorithm, for it alone: settings of its policy. What it leaves out comes from "
              "[privacy] when the policy is the same, else it is the policy's default.",
          .kind = SectionSpec::Kind::kChoice,
          .keys = std::move(keys),
          .entries = &policies,
          .own_choice = &AlgorithmEntry::privacy};
}

std::vector<Key> algorithm_keys(const std::vector<CatalogEntry>& algorithms) {
  auto keys = keys_of(
      Schema<AlgorithmEntry>{{"name", &AlgorithmEntry::name, "The algorithm.",
                              Constraint::one_of(names_of(algorithms, &CatalogEntry::name))},
                             {"label", &AlgorithmEntry::label,
                              "Names it in tables and folders, once only; left out: the algorithm's name."}});
  keys[0].required = true;
  keys[0].remedy = "--plugin-path DIR adds the algorithms of the plugins in a folder.";
  keys[1].rule = kFolderNameRule;
  keys[1].objection = unsafe_as_folder;
  return keys;
}

// Of algorithms a registry has refused them before.
void check_reserved(const SectionSpec& spec) {
  if (spec.entries == nullptr) return;
  for (const CatalogEntry& entry : *spec.entries) {
    for (const Field& field : entry.fields) {
      if (spec.find(field.name) == nullptr && spec.find_own(field.name) == nullptr) continue;
      throw Error::of("\"{}\" declares a setting \"{}\", which {} needs for itself", entry.name, field.name,
                      spec.header());
    }
  }
}

}  // namespace

std::string SectionSpec::header() const {
  if (kind == Kind::kProfiles) return fmt::format("[{}.NAME]", name);
  return kind == Kind::kAlgorithms ? fmt::format("[[{}]]", name) : fmt::format("[{}]", name);
}

std::string SectionSpec::key() const { return name.substr(name.rfind('.') + 1); }

const SectionSpec* SectionSpec::find_own(const std::string& key) const {
  return find_named(own, key, &SectionSpec::key);
}

const Key* SectionSpec::find(const std::string& key) const { return find_named(keys, key, &Key::name); }

bool SectionSpec::required() const {
  return std::ranges::any_of(keys, [](const Key& key) { return key.required; });
}

const SectionSpec* find_spec(const std::vector<SectionSpec>& specs, std::string_view name) {
  return find_named(specs, name, &SectionSpec::name);
}

std::vector<SectionSpec> sections(const Catalog& catalog) {
  using Kind = SectionSpec::Kind;
  std::vector<SectionSpec> result = {
      {.name = "experiment",
       .doc = "What is run, how often and where.",
       .keys = experiment_keys(),
       .part = [](Experiment& experiment) { return &experiment; }},
      choice_section("data", "The examples.", choice_keys("name", "The data set.", catalog.datasets),
                     &Experiment::data, catalog.datasets),
      choice_section("proxy",
                     "Public data of the server's own, without labels: training examples of a data set whose "
                     "inputs have the shape of the run's. Its settings, as in [data], and limit (integer, "
                     "default 0): how many are taken, from the first; 0: all.",
                     proxy_keys(catalog.proxies), &Experiment::proxy, catalog.proxies),
      choice_section("partition", "How the examples are dealt to the clients.",
                     choice_keys("kind", "The way of dealing.", catalog.partitions), &Experiment::partition,
                     catalog.partitions),
      choice_section("model", "What is trained.", choice_keys("name", "The model.", catalog.models),
                     &Experiment::model, catalog.models),
      fixed_section("cohort", "Which clients take part in a round.", cohort_keys(), &Experiment::cohort),
      fixed_section("evaluation", "When the model is tested, and on what.", evaluation_keys(),
                    &Experiment::evaluation),
      fixed_section("stopping", "Rules that end a run early, by validation examples alone.", stopping_keys(),
                    &Experiment::stopping),
      fixed_section(std::string(kAudit),
                    "Canaries, by which a run proves a lower bound on its own epsilon (docs/audit.md).",
                    audit_keys(), &Experiment::audit),
      choice_section(std::string(kPrivacy),
                     "The privacy policy; the ledger computes the epsilon of a run, no file can state it.",
                     choice_keys("policy", "What stands between an algorithm and the examples.",
                                 catalog.policies, "none"),
                     &Experiment::privacy, catalog.policies),
      {.name = std::string(kTraining),
       .doc = "Hyper-parameters for every listed algorithm that has them; its own entry goes first.",
       .kind = Kind::kTraining,
       .entries = &catalog.algorithms},
      {.name = "algorithms",
       .doc = "One such section for each algorithm that is compared.",
       .kind = Kind::kAlgorithms,
       .keys = algorithm_keys(catalog.algorithms),
       .entries = &catalog.algorithms,
       .own = {own_privacy(catalog.policies)}},
      {.name = std::string(kSweep),
       .doc = "Values to combine into a grid, each \"section.key\" = [values] with the path in quotes; every "
              "combination is run. \"section\" = [{key = value}] takes tables, and "
              "\"algorithms.LABEL.key\" concerns that algorithm alone.",
       .kind = Kind::kSweep},
      {.name = std::string(kTuning),
       .doc =
           "Values among which every algorithm's settings are chosen, by as many trials each on validation "
           "examples, before it is run under the seeds: \"training.key\" or \"algorithms.LABEL.key\" = "
           "[values] with the path in quotes, or, for a random search, {from = 0.001, to = 1.0, scale = "
           "\"log\"}.",
       .kind = Kind::kTuning,
       .keys = tuning_keys()},
      {.name = std::string(kSlurm),
       .doc = "Options of Slurm's sbatch for fedarena submit, such as account = \"ml\" or mem = \"8G\"; true "
              "stands for an option without a value. They change no run.",
       .kind = Kind::kSlurm},
      {.name = std::string(kProfiles),
       .doc =
           "Overrides under a name, each \"section.key\" = value with the path in quotes; run --profile NAME "
           "applies them, before --set, and appends -NAME to the experiment's name.",
       .kind = Kind::kProfiles}};
  for (const SectionSpec& spec : result) check_reserved(spec);
  return result;
}

}  // namespace fedarena::config
