#include "harness/config/sections/reader.hpp"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "harness/config/sections/slurm_section.hpp"
#include "harness/config/sections/table_reading.hpp"
#include "harness/config/sections/unknown.hpp"

namespace fedarena::config {
namespace {

using Kind = SectionSpec::Kind;

class Reader {
 public:
  Reader(const Document& document, const std::vector<SectionSpec>& specs)
      : document_(document), specs_(specs) {}

  Experiment read() {
    for (const Section& section : document_.sections) check_form(section);
    for (const SectionSpec& spec : specs_) {
      if (spec.required() && document_.find(spec.name) == nullptr) complain_missing(spec);
    }
    for (const SectionSpec& spec : specs_) {
      if (spec.kind == Kind::kFixed) read_keys(table(spec), spec, specs_, spec.part(experiment_));
      if (spec.kind == Kind::kChoice) read_choice(table(spec), spec);
      if (spec.kind == Kind::kAlgorithms) read_algorithms(spec);
      if (spec.kind == Kind::kSlurm) sbatch_options(document_);
    }
    check_proxy();
    check_cohort();
    check_evaluation();
    check_stopping();
    check_audit();
    return std::move(experiment_);
  }

 private:
  void check_form(const Section& section) const {
    const SectionSpec* spec = find_spec(specs_, section.name);
    if (spec == nullptr) {
      if (section.form == Section::Form::kValue) complain_homeless_key(section.name, section.place, specs_);
      complain_unknown_section(section.name, section.place, specs_);
    }
    const bool repeated = spec->kind == Kind::kAlgorithms;
    if (section.form == (repeated ? Section::Form::kTables : Section::Form::kTable)) return;
    const std::string form = section.form == Section::Form::kTable    ? "one section"
                             : section.form == Section::Form::kTables ? "a list of sections"
                                                                      : "a value";
    complain({.place = section.place,
              .found = fmt::format("\"{}\" is {}", section.name, form),
              .allowed = repeated ? "a list of sections" : "one section",
              .remedy = fmt::format("write {}{}", spec->header(),
                                    repeated ? ", once for each algorithm" : ", once")});
  }

  [[noreturn]] void complain_missing(const SectionSpec& spec) const {
    std::vector<std::string> needed;
    for (const Key& key : spec.keys) {
      if (key.required) needed.push_back(key.field.name);
    }
    complain({.place = {.file = document_.file},
              .found = spec.header() + " is missing",
              .remedy = fmt::format("write {} with {}", spec.header(), join_names(needed))});
  }

  // The section's settings; an optional section that is not there has none.
  const Table& table(const SectionSpec& spec) const {
    static const Table kNone{};
    const Table* table = document_.table(spec.name);
    return table == nullptr ? kNone : *table;
  }

  void read_choice(const Table& table, const SectionSpec& spec) {
    auto& choice = *static_cast<Choice*>(spec.part(experiment_));
    read_keys(table, spec, specs_, &choice);
    const CatalogEntry& entry = chosen(spec, choice.name, table.place);
    choice.settings = filled(entry, given_settings(table, spec, entry, specs_));
    check_rules(entry, choice.settings, table, {.file = document_.file});
  }

  void read_algorithms(const SectionSpec& spec) {
    const Section& section = *document_.find(spec.name);
    if (section.tables.empty()) complain_missing(spec);
    for (const Table& table : section.tables) {
      AlgorithmEntry algorithm;
      read_keys(table, spec, specs_, &algorithm);
      chosen(spec, algorithm.name, table.place);
      if (algorithm.label.empty()) algorithm.label = algorithm.name;
      experiment_.algorithms.push_back(std::move(algorithm));
    }
    check_labels(section);
    check_training(spec);
    for (std::size_t index = 0; index < section.tables.size(); ++index) {
      AlgorithmEntry& algorithm = experiment_.algorithms[index];
      const CatalogEntry& entry = *find_entry(*spec.entries, algorithm.name);
      // The algorithm's own come first, and the first of a name is the one that counts.
      Settings given = given_settings(section.tables[index], spec, entry, specs_);
      for (const Setting& setting : training()) {
        const Field* field = find_field(entry.fields, setting.key);
        if (field != nullptr)
          given.emplace_back(field->name, checked_setting(setting, *field, algorithm.name));
      }
      algorithm.settings = filled(entry, given);
      check_rules(entry, algorithm.settings, section.tables[index], section.tables[index].place);
    }
    for (const SectionSpec& own : spec.own) read_own(section.tables, own);
    for (std::size_t index = 0; index < section.tables.size(); ++index) {
      check_required_policy(experiment_.algorithms[index], section.tables[index], spec);
      check_required_proxy(experiment_, experiment_.algorithms[index], section.tables[index], spec);
      check_one_round(experiment_, experiment_.algorithms[index], section.tables[index], spec);
    }
  }

  // A section of each algorithm's own, and the section that they share.
  void read_own(const std::vector<Table>& tables, const SectionSpec& own) {
    const SectionSpec* spec = find_spec(specs_, own.key());
    const auto& shared = *static_cast<const Choice*>(spec->part(experiment_));
    std::vector<Choice> choices;
    for (const Table& table : tables) choices.push_back(own_choice(table, own, shared, specs_));
    check_shared_overrides(table(*spec), shared, own, tables, choices);
    for (std::size_t index = 0; index < tables.size(); ++index) {
      experiment_.algorithms[index].*own.own_choice = std::move(choices[index]);
    }
  }

  static const Place& label_place(const Table& table) {
    const Setting* place = &table.settings.front();
    for (const Setting& setting : table.settings) {
      if (setting.key == "label") return setting.written.place;
      if (setting.key == "name") place = &setting;
    }
    return place->written.place;
  }

  void check_labels(const Section& section) const {
    std::unordered_map<std::string, std::size_t> seen;
    for (std::size_t index = 0; index < section.tables.size(); ++index) {
      const std::string& label = experiment_.algorithms[index].label;
      const auto [first, fresh] = seen.emplace(label, index);
      if (fresh) continue;
      complain({.place = label_place(section.tables[index]),
                .found = fmt::format("two algorithms are labelled {}", in_quotes(label)),
                .remedy = fmt::format("give one of them another label; the first is at {}",
                                      label_place(section.tables[first->second]).str())});
    }
  }

  const std::vector<Setting>& training() const {
    static const std::vector<Setting> kNone;
    const Table* table = document_.table("training");
    return table == nullptr ? kNone : table->settings;
  }

  // Every key of [training] must be of use to somebody.
  void check_training(const SectionSpec& algorithms) {
    const std::vector<Setting>& settings = training();
    if (settings.empty()) return;
    std::vector<std::string> known;
    for (const AlgorithmEntry& algorithm : experiment_.algorithms) {
      add_names(known, find_entry(*algorithms.entries, algorithm.name)->fields);
    }
    const SectionSpec& spec = *find_spec(specs_, "training");
    for (const Setting& setting : settings) {
      if (std::find(known.begin(), known.end(), setting.key) == known.end()) {
        complain_unknown_key(setting.key, setting.place, spec, known, specs_);
      }
      if (setting.overridden) check_effect(setting, algorithms);
    }
  }

  // A file may give a default that every algorithm replaces; who asks for a value on the command line wants
  // it.
  void check_effect(const Setting& setting, const SectionSpec& algorithms) const {
    const std::vector<Table>& tables = document_.find(algorithms.name)->tables;
    for (std::size_t index = 0; index < tables.size(); ++index) {
      const CatalogEntry& entry = *find_entry(*algorithms.entries, experiment_.algorithms[index].name);
      const bool own = tables[index].find(setting.key) != nullptr;
      if (find_field(entry.fields, setting.key) != nullptr && !own) return;
    }
    complain({.place = setting.place,
              .found = fmt::format("no effect: every algorithm that has \"{}\" sets its own", setting.key),
              .remedy = fmt::format("write algorithms.LABEL.{}=value", setting.key)});
  }

  // The path of the user's own files, without detours; empty for a data set that has none.
  static std::filesystem::path path_of(const Choice& data) {
    const auto* path = find_named(data.settings, "path", &Settings::value_type::first);
    const auto* text = path == nullptr ? nullptr : std::get_if<std::string>(&path->second);
    return text == nullptr ? "" : std::filesystem::path(*text).lexically_normal();
  }

  // What a policy hides cannot be known to everybody. Other settings of a data set take the same examples.
  void check_proxy() const {
    const Choice &proxy = experiment_.proxy, &data = experiment_.data;
    if (proxy.name != data.name || path_of(proxy) != path_of(data)) return;
    for (const AlgorithmEntry& algorithm : experiment_.algorithms) {
      if (algorithm.privacy.name == "none") continue;
      complain({.place = place_of(*document_.table("proxy"), "name"),
                .found = fmt::format("[proxy] takes the training examples of [data], which {} hides by the "
                                     "policy {}: private data are not public",
                                     in_quotes(algorithm.label), in_quotes(algorithm.privacy.name)),
                .remedy = "choose another data set for [proxy], or files of another path"});
    }
  }

  void check_cohort() {
    const Cohort& cohort = experiment_.cohort;
    const Table* table = document_.table("cohort");
    if (table == nullptr) return;
    if (cohort.size != 0 && cohort.fraction != 0) {
      complain({.place = table->find("fraction")->place,
                .found = "both size and fraction are given",
                .allowed = "one of them",
                .remedy = "leave one out, or set it to 0"});
    }
    const auto* clients = find_named(experiment_.partition.settings, "clients", &Settings::value_type::first);
    const auto* count = clients == nullptr ? nullptr : std::get_if<std::int64_t>(&clients->second);
    // A partition of 0 clients has as many as the data says.
    if (count != nullptr && *count > 0 && cohort.size > *count) {
      complain({.place = table->find("size")->written.place,
                .found = fmt::format("size is {}", cohort.size),
                .allowed = fmt::format("an integer from 0 to {}, the clients of [partition]", *count)});
    }
  }

  void check_stopping() {
    const Stopping& stopping = experiment_.stopping;
    if (stopping.improvement > 0 && stopping.patience == 0) {
      complain({.place = document_.table("stopping")->find("improvement")->place,
                .found = "improvement without patience changes nothing",
                .remedy = "say how many rounds may pass without it: patience = 10"});
    }
    if (experiment_.evaluation.validates()) return;
    for (const auto& [key, asked] : {std::pair("target_accuracy", stopping.target_accuracy > 0),
                                     std::pair("patience", stopping.patience > 0)}) {
      if (!asked) continue;
      complain({.place = document_.table("stopping")->find(key)->place,
                .found = fmt::format("{} looks at validation examples, and there are none", key),
                .remedy = "set validation_fraction in [evaluation] to a number above 0"});
    }
  }

  void check_evaluation() {
    const Evaluation& evaluation = experiment_.evaluation;
    if (evaluation.held_out_clients == 0) return;
    const Place place = document_.table("evaluation")->find("held_out_clients")->place;
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
    if (experiment_.audit.kind != "none") {
      complain({.place = place,
                .found = "held_out_clients would hold canaries that nothing is trained on",
                .remedy = "leave out [audit] or held_out_clients"});
    }
  }

  // Where the key is written, else where its section is.
  Place place_of(const Table& table, const std::string& key) const {
    const Setting* setting = table.find(key);
    return setting == nullptr ? table.place : setting->place;
  }

  void check_audit() {
    Audit& audit = experiment_.audit;
    const Table* table = document_.table(std::string(kAudit));
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
    for (const AlgorithmEntry& algorithm : experiment_.algorithms) check_audited(algorithm, *table);
  }

  // Canaries go through the mechanisms of a policy; without it there is nothing to audit.
  void check_audited(const AlgorithmEntry& algorithm, const Table& table) const {
    const Audit& audit = experiment_.audit;
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
    const auto is = [&](const char* name, const auto& property) {
      return std::ranges::any_of(algorithm.privacy.settings, [&](const auto& setting) {
        return setting.first == name && property(setting.second);
      });
    };
    const bool fixed_size =
        is("sampling", [](const Value& value) { return value == Value(std::string("without-replacement")); });
    if (audit.kind != "mislabelled" && fixed_size) {
      complain({.place = place,
                .found = fmt::format("canaries of the kind {} under sampling \"without-replacement\"",
                                     in_quotes(audit.kind)),
                .allowed = R"(sampling "poisson")",
                .remedy =
                    "such a canary comes in addition, and a sample of a fixed size has no room for it; the "
                    "kind \"mislabelled\" takes the place of an example"});
    }
    if (audit.noise == "off" &&
        is("budget", [](const Value& value) { return value != Value(PerClient(0)); })) {
      complain({.place = place_of(table, "noise"),
                .found = "noise is off and there is a budget, which not one round without noise would meet",
                .remedy = "set budget = 0.0"});
    }
  }

  const Document& document_;
  const std::vector<SectionSpec>& specs_;
  Experiment experiment_;
};

}  // namespace

FileVariant variant_of(Document document, const std::vector<SectionSpec>& specs, const Profile* profile,
                       const std::vector<std::string>& overrides) {
  if (profile != nullptr) apply_profile(document, *profile, specs);
  for (const std::string& text : overrides) apply_override(document, text, specs);
  return {std::move(document), specs, profile};
}

Experiment experiment_of(const FileVariant& variant, const Document& document) {
  Experiment experiment = Reader(document, variant.specs).read();
  if (variant.profile != nullptr) name_after(*variant.profile, experiment, variant.specs);
  return experiment;
}

}  // namespace fedarena::config
