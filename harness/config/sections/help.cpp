#include "harness/config/sections/help.hpp"

#include <algorithm>
#include <array>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "harness/config/sections/sections.hpp"

namespace fedarena {
namespace {

using config::Key;
using config::SectionSpec;

using Row = std::array<std::string, 5>;  // name, type, default, allowed, sentence

Row row(const Key& key) {
  const std::string type = type_name(key.field.fallback);
  std::string allowed = key.allowed();
  // The type has a column of its own.
  if (allowed.starts_with(type)) allowed.erase(0, type.size() + (allowed.size() > type.size() ? 1 : 0));
  return {key.field.name, type.substr(type.find(' ') + 1),
          key.required ? "required" : to_text(key.field.fallback), allowed.empty() ? "any" : allowed,
          key.field.doc};
}

// One long list of names should not push every sentence off the screen.
constexpr std::size_t kWidestColumn = 40;

std::string aligned(const std::vector<Key>& keys, std::size_t indent) {
  std::vector<Row> rows;
  for (const Key& key : keys) rows.push_back(row(key));
  std::array<std::size_t, 5> widths{};
  for (const Row& cells : rows) {
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (cells[column].size() <= kWidestColumn)
        widths[column] = std::max(widths[column], cells[column].size());
    }
  }
  std::string text;
  for (const Row& cells : rows) {
    std::string line(indent, ' ');
    for (std::size_t column = 0; column < cells.size(); ++column) {
      line += fmt::format("{:{}}  ", cells[column], widths[column]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string keys_help(const SectionSpec& spec) {
  return fmt::format("\n{}  {}\n", spec.header(), spec.doc) + aligned(spec.keys, 2);
}

std::string entry_help(const SectionSpec& spec, const CatalogEntry& entry) {
  std::string text =
      fmt::format("\n  {} = \"{}\"  {}\n", spec.keys.front().field.name, entry.name, entry.summary);
  if (!entry.requires_policy.empty()) {
    text += fmt::format("    Requires the privacy policy \"{}\".\n", entry.requires_policy);
  }
  if (entry.requires_proxy) text += "    Requires public data without labels, [proxy].\n";
  if (entry.requires_classes) text += "    Requires data with classes.\n";
  if (entry.one_round) text += "    Requires experiments of one round.\n";
  return text + fields_help(entry.fields, entry.required, 4);
}

bool chooses(const SectionSpec& spec) {
  return spec.kind != SectionSpec::Kind::kTraining && spec.entries != nullptr;
}

std::string section_help(const SectionSpec& spec, const Catalog& catalog) {
  std::string text = keys_help(spec);
  const bool as_in_data = spec.entries == &catalog.proxies;
  if (!chooses(spec) || as_in_data) return text;
  for (const CatalogEntry& entry : *spec.entries) text += entry_help(spec, entry);
  // Their choices are listed in the section of the same key.
  for (const SectionSpec& own : spec.own) text += keys_help(own);
  return text;
}

}  // namespace

std::string experiment_help(const Catalog& catalog) {
  std::string text =
      "An experiment file is TOML. Below: every key with its type, its default, what is allowed, and what it "
      "means.\n"
      "On the command line, --set section.key=value, --set algorithms.LABEL.key=value and\n"
      "--set algorithms.LABEL.privacy.key=value replace what a file says.\n";
  for (const SectionSpec& spec : config::sections(catalog)) text += section_help(spec, catalog);
  return text;
}

std::string section_help(const Catalog& catalog, const std::string& section, const std::string& entry) {
  const std::vector<SectionSpec> specs = config::sections(catalog);
  const SectionSpec* spec = config::find_spec(specs, section);
  if (spec == nullptr) {
    throw unknown_name(fmt::format("an experiment file has no section \"{}\"", section), section,
                       names_of(specs, &SectionSpec::name));
  }
  if (entry.empty()) return section_help(*spec, catalog).substr(1);
  if (!chooses(*spec)) {
    throw Error(
        Complaint{.found = fmt::format("\"{}\" names nothing: {} has no choices", entry, spec->header()),
                  .remedy = fmt::format("`fedarena help {}` explains its keys.", section)});
  }
  const auto chosen = std::ranges::find(*spec->entries, entry, &CatalogEntry::name);
  if (chosen == spec->entries->end()) {
    throw unknown_name(fmt::format("{} has no {} \"{}\"", spec->header(), spec->keys.front().name(), entry),
                       entry, names_of(*spec->entries, &CatalogEntry::name));
  }
  return entry_help(*spec, *chosen).substr(1);
}

std::string fields_help(const std::vector<Field>& fields, const std::vector<std::string>& required,
                        std::size_t indent) {
  std::vector<Key> keys;
  for (const Field& field : fields)
    keys.push_back({.field = field, .required = contains(required, field.name)});
  return aligned(keys, indent);
}

}  // namespace fedarena
