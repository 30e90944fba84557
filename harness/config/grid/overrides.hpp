#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/config/sections/experiment.hpp"
#include "harness/config/sections/sections.hpp"
#include "harness/config/syntax/document.hpp"

namespace fedarena::config {

/// Where an override was written, and how overrides are written there.
struct OverrideSource {
  Place place;
  std::string form;  ///< for messages: "section.key=value"
  /// The section of lists that gives the value, kSweep or kTuning: then nothing else may.
  std::string_view lists = {};
};

/// The label of an algorithm as the file gives it, before any check; "" where there is none.
std::string label_of(const Table& table);

/// Puts the value at the path "section.key" or "algorithms.LABEL.key" into the document, over what is there.
/// Throws Error as `apply_override` does.
void put_override(Document& document, std::string_view path, const OverrideSource& source,
                  ParsedValue written, const std::vector<SectionSpec>& specs);

/// Puts "section.key=value" into the document, over what is there. Throws Error where the path names no
/// section and no algorithm; keys and values are checked later, as those of the file are.
void apply_override(Document& document, const std::string& text, const std::vector<SectionSpec>& specs);

/// A table [profiles.NAME] of an experiment file: overrides under a name, each "section.key" = value.
struct Profile {
  std::string name;
  Place place;
  std::vector<Setting> entries;  ///< keys are paths, as --set takes them
};

/// The profiles of a document, in the order of the file. Throws Error for names that are not safe as the end
/// of a folder's name and for entries that are not overrides by their form.
std::vector<Profile> profiles_of(const Document& document, const std::vector<SectionSpec>& specs);

/// The profile of that name. Throws Error, with those that there are, when `file` has none.
const Profile& chosen_profile(const std::vector<Profile>& profiles, std::string_view name,
                              const std::string& file);

/// Puts the entries of the profile into the document, over what is there. Throws as `apply_override` does, at
/// the entry.
void apply_profile(Document& document, const Profile& profile, const std::vector<SectionSpec>& specs);

/// Appends "-NAME" to the experiment's name, so that runs under a profile have folders of their own. Throws
/// Error where that is not a name for a folder.
void name_after(const Profile& profile, Experiment& experiment, const std::vector<SectionSpec>& specs);

}  // namespace fedarena::config
