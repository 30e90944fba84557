#include "harness/config/grid/profiles.hpp"

#include <algorithm>

#include "fedarena/base/nearest.hpp"

#include "harness/config/grid/overrides.hpp"

namespace fedarena::config {
namespace {

// Each is read with the whole file, so that a hostile file could take for ever.
constexpr std::size_t kMostProfiles = 100;
constexpr std::string_view kEntryForm =
    "\"section.key\" = value or \"algorithms.LABEL.key\" = value, with the path in quotes";

const Key& experiment_name(const std::vector<SectionSpec>& specs) {
  const auto spec = std::find_if(specs.begin(), specs.end(),
                                 [](const SectionSpec& candidate) { return candidate.name == "experiment"; });
  FEDARENA_CHECK(spec != specs.end(), ==, true);
  const Key* name = spec->find("name");
  FEDARENA_CHECK(name != nullptr, ==, true);
  return *name;
}

void check_folder(const std::string& name, const Place& place, const std::vector<SectionSpec>& specs) {
  const Key& key = experiment_name(specs);
  if (const auto objection = key.objection(name))
    complain({.place = place, .found = objection->found, .allowed = key.allowed()});
}

// Without quotes, TOML takes the dots of a path for tables.
void check_entry(const Setting& entry) {
  if (entry.written.table == nullptr) return;
  complain({.place = entry.place,
            .found = in_quotes(entry.key) + " is a table",
            .allowed = std::string(kEntryForm)});
}

}  // namespace

std::vector<Profile> profiles_of(const Document& document, const std::vector<SectionSpec>& specs) {
  std::vector<Profile> profiles;
  const auto section = std::find_if(document.begin(), document.end(),
                                    [](const Section& candidate) { return candidate.name == kProfiles; });
  if (section == document.end()) return profiles;
  const char* const remedy = "write [profiles.NAME], once for each profile";
  if (section->form != Section::Form::kTable)
    complain({.place = section->place, .found = "\"profiles\" is no section", .remedy = remedy});
  for (const Setting& setting : section->tables.front().settings) {
    if (setting.written.table == nullptr) {
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
    profiles.push_back({setting.key, setting.place, setting.written.table->settings});
    for (const Setting& entry : profiles.back().entries) check_entry(entry);
  }
  return profiles;
}

const Profile& chosen_profile(const std::vector<Profile>& profiles, std::string_view name,
                              const std::string& file) {
  std::vector<std::string> names;
  for (const Profile& profile : profiles) {
    if (profile.name == name) return profile;
    names.push_back(profile.name);
  }
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
