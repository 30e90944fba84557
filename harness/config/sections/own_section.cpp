#include "harness/config/sections/own_section.hpp"

#include <algorithm>
#include <string_view>

#include "fedarena/base/nearest.hpp"

#include "harness/config/sections/table_reading.hpp"

namespace fedarena::config {
namespace {

// A registered name of this form is the rest of the name under a policy that it requires.
constexpr std::string_view kPrivatePrefix = "dp-";

// The algorithm's own table, or nullptr. Throws Error where something else has its name.
const Table* own_table(const Table& algorithm, const SectionSpec& own) {
  const Setting* setting = algorithm.find(own.key());
  if (setting == nullptr) return nullptr;
  const Written& written = setting->written;
  if (written.table != nullptr) return written.table.get();
  complain(
      {.place = written.place,
       .found = fmt::format("{} is {}", own.key(), written.value ? to_text(*written.value) : written.kind),
       .allowed = "a section",
       .remedy =
           fmt::format("write {} below the algorithm, with {}", own.header(), own.keys.front().field.name)});
}

bool gives(const Table* table, std::string_view key) {
  return table != nullptr && table->find(key) != nullptr;
}

bool gives_all_of(const Table* table, const Table& other) {
  return std::all_of(other.settings.begin(), other.settings.end(),
                     [&](const Setting& setting) { return gives(table, setting.key); });
}

}  // namespace

Choice own_choice(const Table& algorithm, const SectionSpec& own, const Choice& shared,
                  const std::vector<SectionSpec>& specs) {
  const Table* table = own_table(algorithm, own);
  if (table == nullptr) return shared;
  Choice choice;
  read_keys(*table, own, specs, &choice);
  if (choice.name.empty()) choice.name = shared.name;
  const CatalogEntry& entry = chosen(own, choice.name, table->place);
  const Settings given = given_settings(*table, own, entry, specs);
  choice.settings = filled(entry, given, choice.name == shared.name ? shared.settings : Settings{});
  check_rules(entry, choice.settings, *table, table->place);
  return choice;
}

void check_shared_overrides(const Table& shared_table, const Choice& shared, const SectionSpec& own,
                            const std::vector<Table>& algorithms, const std::vector<Choice>& chosen) {
  const std::string& choosing = own.keys.front().field.name;
  for (const Setting& setting : shared_table.settings) {
    if (!setting.overridden) continue;
    bool heeded = false;
    for (std::size_t index = 0; index < algorithms.size() && !heeded; ++index) {
      const Table* table = own_table(algorithms[index], own);
      // Another choice also decides whether the other shared settings count.
      heeded = setting.key == choosing ? !gives_all_of(table, shared_table)
                                       : chosen[index].name == shared.name && !gives(table, setting.key);
    }
    if (heeded) continue;
    complain({.place = setting.place,
              .found = fmt::format("no effect: no algorithm takes \"{}\" from [{}]", setting.key, own.key()),
              .remedy = fmt::format("write algorithms.LABEL.{}.{}=value", own.key(), setting.key)});
  }
}

void check_required_policy(const AlgorithmEntry& entry, const Table& table, const SectionSpec& algorithms) {
  const std::string& required = find_entry(*algorithms.entries, entry.name)->requires_policy;
  if (required.empty() || required == entry.privacy.name) return;
  const SectionSpec& own = *algorithms.find_own("privacy");
  Complaint complaint{.place = table.find("name")->written.place};
  if (find_entry(*own.entries, required) == nullptr) {
    complaint.found = fmt::format("{} requires the privacy policy {}, which there is not",
                                  in_quotes(entry.name), in_quotes(required));
    complaint.allowed = own.keys.front().field.allowed();
  } else {
    complaint.found = fmt::format("{} requires the privacy policy {} and would run under {}",
                                  in_quotes(entry.name), in_quotes(required), in_quotes(entry.privacy.name));
    complaint.remedy =
        fmt::format("write [{}] policy = {}", gives(own_table(table, own), "policy") ? own.name : own.key(),
                    in_quotes(required));
    const std::string plain =
        entry.name.starts_with(kPrivatePrefix) ? entry.name.substr(kPrivatePrefix.size()) : std::string();
    if (find_entry(*algorithms.entries, plain) != nullptr)
      complaint.remedy += fmt::format(", or use {}", in_quotes(plain));
  }
  complain(std::move(complaint));
}

}  // namespace fedarena::config
