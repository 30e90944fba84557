#include "harness/config/sections/reader.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "harness/config/sections/rules.hpp"
#include "harness/config/sections/table_reading.hpp"
#include "harness/config/sections/unknown.hpp"

namespace fedarena::config {
namespace {

using Kind = SectionSpec::Kind;

// What `submit` sets itself, and what would have something executed that a file names: a command, another
// environment (BASH_ENV, LD_PRELOAD), another root of the file system; and what queues nothing, or elsewhere.
// sbatch takes the beginning of a name for the whole.
constexpr std::array<std::string_view, 26> kReserved = {
    "bb",           "bbf",       "array",     "chdir",
    "dependency",   "error",     "clusters",  "help",
    "usage",        "version",   "export",    "export-file",
    "get-user-env", "input",     "job-name",  "kill-on-invalid-dep",
    "no-requeue",   "open-mode", "output",    "parsable",
    "requeue",      "signal",    "test-only", "wait",
    "wrap",         "workdir"};
constexpr std::string_view kContainer = "container";
constexpr std::size_t kLongestOption = 1000;

void check_option_name(const Setting& setting) {
  const std::string& name = setting.key;
  const bool letters = name.size() > 1 && name.front() != '-' && std::ranges::all_of(name, [](char letter) {
                         return ('a' <= letter && letter <= 'z') || letter == '-';
                       });
  if (!letters) {
    complain({.place = setting.place,
              .found = fmt::format("{} is not the name of an option of sbatch", in_quotes(name)),
              .allowed = "the long name: small letters and dashes, such as mem-per-cpu"});
  }
  const bool reserved =
      std::ranges::any_of(kReserved, [&](std::string_view other) { return other.starts_with(name); });
  if (reserved || name.starts_with(kContainer) || kContainer.starts_with(name)) {
    complain(
        {.place = setting.place,
         .found = fmt::format("{} is not an option that a file may set", in_quotes(name)),
         .allowed = "any but those that submit sets itself, name something to execute or queue nothing here",
         .remedy = "leave it out"});
  }
}

// The text of a value; nothing where it is none.
std::string option_value(const Setting& setting) {
  const ParsedValue& written = setting.written;
  const auto* text = written.get<std::string>();
  const auto* number = written.get<std::int64_t>();
  if (number != nullptr) return fmt::format("{}", *number);
  if (text != nullptr && !text->empty() && text->size() <= kLongestOption && one_line(*text) == *text)
    return *text;
  complain(
      {.place = written.place,
       .found = fmt::format("{} is {}", setting.key, written.text()),
       .allowed = fmt::format("true, false, an integer, or one line of at most {} bytes", kLongestOption)});
}

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
    apply_rules(experiment_, document_);
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
        if (field == nullptr) continue;
        given.emplace_back(field->name, checked_setting(setting, *field, algorithm.name));
        if (section.tables[index].find(setting.key) == nullptr)
          algorithm.shared.push_back(fmt::format("{}.{}", kTraining, setting.key));
      }
      algorithm.settings = filled(entry, given);
      check_rules(entry, algorithm.settings, section.tables[index], section.tables[index].place);
    }
    check_effects();
    for (const SectionSpec& own : spec.own) read_own(section.tables, own);
    for (std::size_t index = 0; index < section.tables.size(); ++index) {
      check_requirements(experiment_, experiment_.algorithms[index], section.tables[index], spec, document_);
    }
  }

  // A section of each algorithm's own, and the section that they share.
  void read_own(const std::vector<Table>& tables, const SectionSpec& own) {
    const SectionSpec* spec = find_spec(specs_, own.key());
    const auto& shared = *static_cast<const Choice*>(spec->part(experiment_));
    for (std::size_t index = 0; index < tables.size(); ++index) {
      AlgorithmEntry& algorithm = experiment_.algorithms[index];
      Choice& choice = algorithm.*own.own_choice = own_choice(tables[index], own, shared, specs_);
      add_shared(algorithm.shared, tables[index], own, table(*spec), choice.name == shared.name);
    }
    check_shared_overrides(table(*spec), own, tables,
                           [this](const std::string& path) { return is_taken(path); });
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

  const std::vector<Setting>& training() const { return table(*find_spec(specs_, kTraining)).settings; }

  // Every key of [training] must be of use to somebody.
  void check_training(const SectionSpec& algorithms) {
    const std::vector<Setting>& settings = training();
    if (settings.empty()) return;
    std::vector<std::string> known;
    for (const AlgorithmEntry& algorithm : experiment_.algorithms) {
      add_names(known, find_entry(*algorithms.entries, algorithm.name)->fields);
    }
    const SectionSpec& spec = *find_spec(specs_, kTraining);
    for (const Setting& setting : settings) {
      if (!contains(known, setting.key)) {
        complain_unknown_key(setting.key, setting.place, spec, known, specs_);
      }
    }
  }

  // A file may give a default that every algorithm replaces; who asks for a value on the command line wants
  // it.
  void check_effects() const {
    for (const Setting& setting : training()) {
      if (!setting.overridden || is_taken(fmt::format("{}.{}", kTraining, setting.key))) continue;
      complain({.place = setting.place,
                .found = fmt::format("no effect: every algorithm that has \"{}\" sets its own", setting.key),
                .remedy = fmt::format("write algorithms.LABEL.{}=value", setting.key)});
    }
  }

  bool is_taken(const std::string& path) const {
    return std::ranges::any_of(experiment_.algorithms, [&](const AlgorithmEntry& algorithm) {
      return contains(algorithm.shared, path);
    });
  }

  const Document& document_;
  const std::vector<SectionSpec>& specs_;
  Experiment experiment_;
};

}  // namespace

Experiment experiment_of(const FileVariant& variant, const Document& document) {
  Experiment experiment = Reader(document, variant.specs).read();
  if (variant.profile != nullptr) name_after(*variant.profile, experiment, variant.specs);
  return experiment;
}

std::vector<std::pair<std::string, std::string>> sbatch_options(const Document& document) {
  std::vector<std::pair<std::string, std::string>> options;
  const Table* table = document.table(kSlurm);
  if (table == nullptr) return options;
  for (const Setting& setting : table->settings) {
    check_option_name(setting);
    const auto* flag = setting.written.get<bool>();
    if (flag == nullptr) options.emplace_back(setting.key, option_value(setting));
    if (flag != nullptr && *flag) options.emplace_back(setting.key, "");
  }
  return options;
}

}  // namespace fedarena::config
