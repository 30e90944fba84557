#include "harness/config/sections/table_reading.hpp"

#include <algorithm>
#include <tuple>

#include "harness/config/sections/unknown.hpp"

namespace fedarena::config {
namespace {

constexpr std::size_t kLongestString = 4096;

// The setting's value, checked against the field; `allowed` and `owner` go into the message.
Value checked(const Setting& setting, const Field& field, const std::string& allowed,
              const std::string& owner = "") {
  const Written& written = setting.written;
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
    }
  }
  if (!owner.empty()) complaint.found += fmt::format(" (for {})", owner);
  complain(std::move(complaint));
}

Value checked(const Setting& setting, const Key& key) {
  Value value = checked(setting, key.field, key.allowed());
  if (key.objection == nullptr) return value;
  if (const auto objection = key.objection(value)) {
    Place place = setting.written.place;
    if (objection->element < setting.written.elements.size()) {
      std::tie(place.line, place.column) = setting.written.elements[objection->element];
    }
    complain({.place = place, .found = objection->found, .allowed = key.allowed()});
  }
  return value;
}

std::vector<std::string> names(const SectionSpec& spec, const CatalogEntry* entry) {
  std::vector<std::string> result;
  for (const Key& key : spec.keys) result.push_back(key.field.name);
  for (const SectionSpec& own : spec.own) result.push_back(own.key());
  if (entry != nullptr) add_names(result, entry->fields);
  return result;
}

const Value* find_value(const Settings& settings, const std::string& name) {
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&](const auto& pair) { return pair.first == name; });
  return found == settings.end() ? nullptr : &found->second;
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
    const bool given = std::any_of(table.settings.begin(), table.settings.end(),
                                   [&](const Setting& setting) { return setting.key == key.field.name; });
    if (given) continue;
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
    const Value* value = find_value(given, field.name);
    if (value == nullptr) value = find_value(inherited, field.name);
    result.emplace_back(field.name, value == nullptr ? field.fallback : *value);
  }
  return result;
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
      if (setting.overridden) complaint.place = setting.place;
    }
    complain(std::move(complaint));
  }
}

void add_names(std::vector<std::string>& names, const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    if (std::find(names.begin(), names.end(), field.name) == names.end()) names.push_back(field.name);
  }
}

}  // namespace fedarena::config
