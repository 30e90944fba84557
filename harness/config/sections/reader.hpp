#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/sections/catalog.hpp"
#include "harness/config/syntax/document.hpp"
#include "harness/config/sections/experiment.hpp"
#include "harness/config/grid/profiles.hpp"
#include "harness/config/sections/sections.hpp"

namespace fedarena::config {

/// A file as it is asked for: under a profile or none, with overrides. What it refers to must outlive it.
struct FileVariant {
  std::string_view text;
  const std::string& file;  ///< what messages call it
  const std::vector<SectionSpec>& specs;
  const Profile* profile = nullptr;
  const std::vector<std::string>& overrides;
};

/// The document with the profile and the overrides in it. Each call parses the text again: copies of a
/// document share tables. Throws Error.
Document document_of(const FileVariant& variant);

/// The experiment that a document of the file says, without a look at [sweep] and [tuning]. Throws Error.
Experiment experiment_of(const FileVariant& variant, Document document);

/// What `read` makes of the file under the profile, or none, with the overrides. It also reads the file under
/// every other profile, without overrides: a mistake in a profile shows whenever the file is read, not when
/// somebody first needs the profile.
template <typename Read>
auto under_profiles(std::string_view text, const std::string& file, const std::vector<std::string>& overrides,
                    const Catalog& catalog, const std::optional<std::string>& profile, const Read& read) {
  const std::vector<SectionSpec> specs = sections(catalog);
  const std::vector<Profile> profiles = profiles_of(parse_document(text, file), specs);
  const Profile* const chosen = profile ? &chosen_profile(profiles, *profile, file) : nullptr;
  auto result = read(FileVariant{text, file, specs, chosen, overrides});
  const std::vector<std::string> none;
  for (const Profile& other : profiles) {
    if (&other != chosen) read(FileVariant{text, file, specs, &other, none});
  }
  return result;
}

}  // namespace fedarena::config
