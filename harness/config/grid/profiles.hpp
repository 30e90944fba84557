#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/config/syntax/document.hpp"
#include "harness/config/sections/experiment.hpp"
#include "harness/config/sections/sections.hpp"

namespace fedarena::config {

/// A table [profiles.NAME] of an experiment file: overrides under a name, each "section.key" = value.
struct Profile {
  std::string name;
  Place place;
  std::vector<Setting> entries;  ///< keys are paths, as --set takes them
};

/// The profiles of a document, in the order of the file. Throws Error for names that are not safe as the end
/// of a folder's name and for entries that are no override by their form.
std::vector<Profile> profiles_of(const Document& document, const std::vector<SectionSpec>& specs);

/// The profile of that name. Throws Error, with those that there are, when `file` has none.
const Profile& chosen_profile(const std::vector<Profile>& profiles, std::string_view name,
                              const std::string& file);

/// Puts the entries of the profile into the document, over what is there. Throws as `apply_override` does, at
/// the entry.
void apply_profile(Document& document, const Profile& profile, const std::vector<SectionSpec>& specs);

/// Appends "-NAME" to the experiment's name, so that runs under a profile have folders of their own. Throws
/// Error where that is no name for a folder.
void name_after(const Profile& profile, Experiment& experiment, const std::vector<SectionSpec>& specs);

}  // namespace fedarena::config
