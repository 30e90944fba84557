#include "harness/config/grid/overrides.hpp"

#include <algorithm>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "harness/config/sections/unknown.hpp"

namespace fedarena::config {
namespace {

constexpr std::string_view kOverrideForm = "section.key=value or algorithms.LABEL.key=value";

struct Target {
  Table* table = nullptr;
  std::string key;
};

// Labels may hold dots, so the path is matched against the labels that there are; the longest wins.
Target algorithm_target(Section* section, std::string_view rest, const SectionSpec& spec,
                        const Place& place) {
  Target target;
  std::size_t longest = 0;
  std::vector<std::string> labels;
  if (section != nullptr) {
    for (Table& table : section->tables) {
      const std::string label = label_of(table);
      if (label.empty()) continue;
      labels.push_back(label);
      for (const std::string& prefix : {label + ".", in_quotes(label) + "."}) {
        if (prefix.size() <= longest || !rest.starts_with(prefix)) continue;
        longest = prefix.size();
        target = {&table, std::string(rest.substr(prefix.size()))};
      }
    }
  }
  if (target.table != nullptr) return target;
  if (contains(labels, std::string(rest)))
    complain({.place = place, .found = "no key", .allowed = "algorithms.LABEL.key=value"});
  std::string_view named = rest.substr(0, rest.rfind('.'));
  for (const SectionSpec& own : spec.own) {
    const std::string suffix = fmt::format(".{}", own.key());
    if (named.ends_with(suffix)) named.remove_suffix(suffix.size());
  }
  complain({.place = place,
            .found = "no algorithm is labelled " + in_quotes(named),
            .allowed = labels.empty() ? "none, the file lists no algorithm" : join_names(labels),
            .nearest = nearest_to(named, labels),
            .remedy = "write algorithms.LABEL.key=value"});
}

// A list that something else goes over, or that goes over something else, would be another than it seems.
void check_listed(const Setting& present, std::string_view path, const OverrideSource& source) {
  if (source.lists.empty() || !present.overridden) return;
  if (present.listed) {
    complain({.place = source.place,
              .found = fmt::format("[{}] gives {} twice", source.lists, in_quotes(path)),
              .remedy = fmt::format("the other is at {}", present.place.str())});
  }
  complain({.place = present.place,
            .found = fmt::format("no effect: [{}] gives {}", source.lists, in_quotes(path)),
            .remedy = fmt::format("write {}.{}=[value]", source.lists, path)});
}

void put(Table& table, const std::string& key, std::string_view path, const OverrideSource& source,
         ParsedValue written) {
  Setting setting{.key = key,
                  .place = source.place,
                  .written = std::move(written),
                  .overridden = true,
                  .listed = !source.lists.empty()};
  if (Setting* present = table.find(key)) {
    check_listed(*present, path, source);
    setting.of_file = present->overridden ? present->of_file : present->written.value;
    *present = std::move(setting);
  } else {
    table.settings.push_back(std::move(setting));
  }
}

// The algorithm's own section that the key names, and the key within.
Target within_own(Target target, const SectionSpec& spec, const OverrideSource& source) {
  const std::size_t dot = target.key.find('.');
  if (dot == std::string::npos || spec.find_own(target.key.substr(0, dot)) == nullptr) return target;
  const std::string name = target.key.substr(0, dot);
  if (target.table->find(name) == nullptr) {
    put(*target.table, name, name, source,
        {.place = source.place, .kind = "a table", .tables = {Table{source.place, {}}}});
  }
  // Something else than a table is a mistake of its own, and reported as such: the target is nothing.
  return {target.table->find(name)->written.table(), target.key.substr(dot + 1)};
}

// What messages offer.
std::vector<SectionSpec> overridable(std::vector<SectionSpec> specs) {
  std::erase_if(specs, [](const SectionSpec& spec) { return spec.kind == SectionSpec::Kind::kProfiles; });
  return specs;
}

// Each is read with the whole file, so that a hostile file could take for ever.
constexpr std::size_t kMostProfiles = 100;
constexpr std::string_view kEntryForm =
    "\"section.key\" = value or \"algorithms.LABEL.key\" = value, with the path in quotes";

void check_folder(const std::string& name, const Place& place, const std::vector<SectionSpec>& specs) {
  const Key& key = *find_spec(specs, "experiment")->find("name");
  if (const auto objection = key.objection(name))
    complain({.place = place, .found = objection->found, .allowed = key.allowed()});
}

// Without quotes, TOML takes the dots of a path for tables.
void check_entry(const Setting& entry) {
  if (!entry.written.table()) return;
  complain({.place = entry.place,
            .found = in_quotes(entry.key) + " is a table",
            .allowed = std::string(kEntryForm)});
}

}  // namespace

std::string label_of(const Table& table) {
  for (const char* key : {"label", "name"}) {
    const Setting* setting = table.find(key);
    const auto* text = setting == nullptr ? nullptr : setting->written.get<std::string>();
    if (text != nullptr) return *text;
  }
  return {};
}

void put_override(Document& document, std::string_view path, const OverrideSource& source,
                  ParsedValue written, const std::vector<SectionSpec>& specs) {
  const Place& place = source.place;
  const std::size_t dot = path.find('.');
  const SectionSpec* spec = find_spec(specs, path.substr(0, dot));
  if (spec != nullptr && spec->kind == SectionSpec::Kind::kProfiles) {
    complain({.place = place,
              .found = "an override of a profile",
              .allowed = source.form,
              .remedy = "choose a profile with --profile NAME"});
  }
  if (dot == std::string_view::npos) {
    if (spec != nullptr) complain({.place = place, .found = "no key", .allowed = source.form});
    complain_homeless_key(std::string(path), place, overridable(specs));
  }
  if (spec == nullptr) complain_unknown_section(std::string(path.substr(0, dot)), place, overridable(specs));

  Section* section = document.find(spec->name);
  const std::string_view rest = path.substr(dot + 1);
  if (spec->kind == SectionSpec::Kind::kAlgorithms) {
    const Target target = within_own(algorithm_target(section, rest, *spec, place), *spec, source);
    if (target.table != nullptr) put(*target.table, target.key, path, source, std::move(written));
    return;
  }
  if (section == nullptr) {
    section = &document.sections.emplace_back(
        Section{.name = spec->name, .place = place, .tables = {Table{place, {}}}});
  }
  // A section of another form is the file's mistake, and reported as such.
  if (section->form == Section::Form::kTable)
    put(section->tables.front(), std::string(rest), path, source, std::move(written));
}

void apply_override(Document& document, const std::string& text, const std::vector<SectionSpec>& specs) {
  // The text is the place, so it must be fit to print.
  const bool printable = first_invalid_utf8(text) == text.size() &&
                         std::ranges::none_of(text, [](char byte) { return byte >= 0 && byte < 0x20; });
  if (!printable)
    complain(
        {.place = {.file = "--set"}, .found = "text with unprintable bytes", .allowed = "one line of UTF-8"});
  const Place place{.file = "--set " + shortened(text, 200)};

  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    complain({.place = place, .found = "no \"=\"", .allowed = std::string(kOverrideForm)});
  const std::string_view path = trimmed(std::string_view(text).substr(0, equals));
  put_override(document, path, {place, std::string(kOverrideForm)},
               parse_value(trimmed(std::string_view(text).substr(equals + 1)), place), specs);
}

std::vector<Profile> profiles_of(const Document& document, const std::vector<SectionSpec>& specs) {
  std::vector<Profile> profiles;
  const Section* section = document.find(kProfiles);
  if (section == nullptr) return profiles;
  const char* const remedy = "write [profiles.NAME], once for each profile";
  if (section->form != Section::Form::kTable)
    complain({.place = section->place, .found = "\"profiles\" is not a section", .remedy = remedy});
  for (const Setting& setting : section->tables.front().settings) {
    if (!setting.written.table()) {
      complain({.place = setting.place,
                .found = fmt::format("the profile {} is {}", in_quotes(setting.key), setting.written.kind),
                .allowed = "a section",
                .remedy = remedy});
    }
    if (profiles.size() == kMostProfiles) {
      complain({.place = setting.place,
                .found = fmt::format("more than {} profiles", kMostProfiles),
                .allowed = fmt::format("at most {}", kMostProfiles)});
    }
    check_folder(setting.key, setting.place, specs);
    profiles.push_back({setting.key, setting.place, setting.written.table()->settings});
    for (const Setting& entry : profiles.back().entries) check_entry(entry);
  }
  return profiles;
}

const Profile& chosen_profile(const std::vector<Profile>& profiles, std::string_view name,
                              const std::string& file) {
  if (const Profile* chosen = find_named(profiles, name, &Profile::name)) return *chosen;
  const std::vector<std::string> names = names_of(profiles, &Profile::name);
  complain({.place = {.file = "--profile"},
            .found = fmt::format("{} has no profile {}", file, in_quotes(name)),
            .allowed = names.empty() ? "none, the file has no profiles" : join_names(names),
            .nearest = nearest_to(name, names)});
}

void apply_profile(Document& document, const Profile& profile, const std::vector<SectionSpec>& specs) {
  for (const Setting& entry : profile.entries) {
    put_override(document, entry.key, {entry.place, std::string(kEntryForm)}, entry.written, specs);
  }
}

void name_after(const Profile& profile, Experiment& experiment, const std::vector<SectionSpec>& specs) {
  const std::string name = experiment.name + "-" + profile.name;
  check_folder(name, profile.place, specs);
  experiment.name = name;
}

}  // namespace fedarena::config
