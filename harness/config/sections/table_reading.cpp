#include "harness/config/sections/table_reading.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "fedarena/base/find.hpp"

#include "harness/config/sections/unknown.hpp"

namespace fedarena::config {
namespace {

constexpr std::size_t kLongestString = 4096;

// The setting's value, checked against the field; the rest goes into the message.
Value checked(const Setting& setting, const Field& field, const std::string& allowed,
              const std::string& owner = "", const std::string& remedy = "") {
  const ParsedValue& written = setting.written;
  Complaint complaint{.place = written.place, .allowed = allowed};
  if (!written.value) {
    complaint.found = fmt::format("{} is {}", field.name, written.kind);
  } else if (const auto* text = std::get_if<std::string>(&*written.value);
             text != nullptr && text->size() > kLongestString) {
    complaint.found = fmt::format("{} is a string of {} bytes", field.name, text->size());
    complaint.allowed += fmt::format(", of at most {} bytes", kLongestString);
  } else {
    try {
      return field.checked(*written.value);
    } catch (const Error& error) {
      complaint.found = error.complaint().found;
      complaint.nearest = error.complaint().nearest;
      complaint.remedy = remedy;
    }
  }
  if (!owner.empty()) complaint.found += fmt::format(" (for {})", owner);
  complain(std::move(complaint));
}

Value checked(const Setting& setting, const Key& key) {
  Value value = checked(setting, key.field, key.allowed(), "", key.remedy);
  if (key.objection == nullptr) return value;
  if (const auto objection = key.objection(value)) {
    Place place = setting.written.place;
    if (objection->element < setting.written.elements.size()) {
      std::tie(place.line, place.column) = setting.written.elements[objection->element];
    }
    complain(
        {.place = place, .found = objection->found, .allowed = key.allowed(), .nearest = objection->nearest});
  }
  return value;
}

std::vector<std::string> names(const SectionSpec& spec, const CatalogEntry* entry) {
  std::vector<std::string> result = names_of(spec.keys, &Key::name);
  for (const SectionSpec& own : spec.own) result.push_back(own.key());
  if (entry != nullptr) add_names(result, entry->fields);
  return result;
}

// The algorithm's own table, or nullptr. Throws Error where something else has its name.
const Table* own_table(const Table& algorithm, const SectionSpec& own) {
  const Setting* setting = algorithm.find(own.key());
  if (setting == nullptr) return nullptr;
  const ParsedValue& written = setting->written;
  if (const Table* table = written.table()) return table;
  complain({.place = written.place,
            .found = fmt::format("{} is {}", own.key(), written.text()),
            .allowed = "a section",
            .remedy = fmt::format("write {} below the algorithm, with {}", own.header(),
                                  own.keys.front().field.name)});
}

bool gives(const Table* table, std::string_view key) {
  return table != nullptr && table->find(key) != nullptr;
}

bool gives_all_of(const Table* table, const Table& other) {
  return std::ranges::all_of(other.settings,
                             [&](const Setting& setting) { return gives(table, setting.key); });
}

}  // namespace

// Written out, a default must read back.
Value checked_setting(const Setting& setting, const Field& field, const std::string& owner) {
  if (setting.written.value == field.fallback) return field.fallback;
  return checked(setting, field, field.allowed(), owner);
}

void read_keys(const Table& table, const SectionSpec& spec, const std::vector<SectionSpec>& specs,
               void* into) {
  for (const Setting& setting : table.settings) {
    if (const Key* key = spec.find(setting.key)) {
      key->field.store(into, checked(setting, *key));
    } else if (spec.kind == SectionSpec::Kind::kFixed) {
      complain_unknown_key(setting.key, setting.place, spec, names(spec, nullptr), specs);
    }
  }
  for (const Key& key : spec.keys) {
    if (table.find(key.field.name) != nullptr) continue;
    if (key.required) {
      complain({.place = table.place,
                .found = fmt::format("{} has no \"{}\"", spec.header(), key.field.name),
                .allowed = key.allowed()});
    }
    key.field.store(into, key.field.fallback);
  }
}

const CatalogEntry& chosen(const SectionSpec& spec, const std::string& name, const Place& place) {
  const CatalogEntry* entry = find_entry(*spec.entries, name);
  // Only a catalog with nothing in it lets every name through.
  if (entry == nullptr)
    complain({.place = place, .found = fmt::format("{} offers no {}", spec.header(), in_quotes(name))});
  return *entry;
}

Settings given_settings(const Table& table, const SectionSpec& spec, const CatalogEntry& entry,
                        const std::vector<SectionSpec>& specs) {
  Settings given;
  for (const Setting& setting : table.settings) {
    if (spec.find(setting.key) != nullptr || spec.find_own(setting.key) != nullptr) continue;
    const Field* field = find_field(entry.fields, setting.key);
    if (field == nullptr) complain_unknown_key(setting.key, setting.place, spec, names(spec, &entry), specs);
    given.emplace_back(field->name, checked_setting(setting, *field));
  }
  return given;
}

Settings filled(const CatalogEntry& entry, const Settings& given, const Settings& inherited) {
  Settings result;
  for (const Field& field : entry.fields) {
    const auto* value = find_named(given, field.name, &Settings::value_type::first);
    if (value == nullptr) value = find_named(inherited, field.name, &Settings::value_type::first);
    const Value& held = value == nullptr ? field.fallback : value->second;
    if (!field.later || held != field.fallback) result.emplace_back(field.name, held);
  }
  return result;
}

// The override without which, and without those after it, the rules hold; nullptr where they never do.
const Setting* to_blame(const CatalogEntry& entry, Settings settings, const Table& table) {
  for (std::size_t left = table.settings.size(); left-- > 0;) {
    const Setting& setting = table.settings[left];
    auto* value = find_named(settings, setting.key, &Settings::value_type::first);
    if (!setting.overridden || value == nullptr) continue;
    const Field& field = *find_field(entry.fields, setting.key);
    try {
      value->second = setting.of_file ? field.checked(*setting.of_file) : field.fallback;
      entry.check(settings);
      return &setting;
    } catch (const Error&) {
      continue;  // the file's own value is refused as well
    }
  }
  return nullptr;
}

void check_rules(const CatalogEntry& entry, const Settings& settings, const Table& table,
                 const Place& elsewhere) {
  if (!entry.check) return;
  try {
    entry.check(settings);
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    complaint.place = table.place.file.empty() ? elsewhere : table.place;
    for (const Setting& setting : table.settings) {
      if (complaint.found.starts_with(setting.key + " ")) complaint.place = setting.written.place;
    }
    if (const Setting* setting = to_blame(entry, settings, table)) complaint.place = setting->place;
    complain(std::move(complaint));
  }
}

void add_names(std::vector<std::string>& names, const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    if (!contains(names, field.name)) names.push_back(field.name);
  }
}

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

void add_shared(std::vector<std::string>& paths, const Table& algorithm, const SectionSpec& own,
                const Table& shared, bool chooses_the_same) {
  const Table* table = own_table(algorithm, own);
  for (const Setting& setting : shared.settings) {
    if (chooses_the_same && !gives(table, setting.key))
      paths.push_back(fmt::format("{}.{}", own.key(), setting.key));
  }
}

void check_shared_overrides(const Table& shared_table, const SectionSpec& own,
                            const std::vector<Table>& algorithms,
                            const std::function<bool(const std::string& path)>& is_taken) {
  const std::string& choosing = own.keys.front().field.name;
  for (const Setting& setting : shared_table.settings) {
    if (!setting.overridden || is_taken(fmt::format("{}.{}", own.key(), setting.key))) continue;
    // Another choice also decides whether the other shared settings count.
    const bool decides = setting.key == choosing && std::ranges::any_of(algorithms, [&](const Table& one) {
                           return !gives_all_of(own_table(one, own), shared_table);
                         });
    if (decides) continue;
    complain({.place = setting.place,
              .found = fmt::format("no effect: no algorithm takes \"{}\" from [{}]", setting.key, own.key()),
              .remedy = fmt::format("write algorithms.LABEL.{}.{}=value", own.key(), setting.key)});
  }
}

}  // namespace fedarena::config
