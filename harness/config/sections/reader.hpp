#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/config/grid/overrides.hpp"
#include "harness/config/sections/experiment.hpp"
#include "harness/config/sections/sections.hpp"
#include "harness/config/syntax/document.hpp"

namespace fedarena::config {

/// A file as it is asked for: under a profile or none, with overrides.
struct FileVariant {
  Document document;  ///< with the profile's entries and the overrides in it
  const std::vector<SectionSpec>& specs;
  const Profile* profile = nullptr;
};

/// The document under the profile or none, with the overrides over it. The specs and the profile must outlive
/// it. Throws Error.
FileVariant variant_of(Document document, const std::vector<SectionSpec>& specs, const Profile* profile,
                       const std::vector<std::string>& overrides);

/// The experiment that the document says, a form of the variant's, without a look at [sweep] and [tuning].
/// Throws Error.
Experiment experiment_of(const FileVariant& variant, const Document& document);

/// The [slurm] of a document: options of sbatch and their values, in the order of the file; "": an option
/// without a value. Throws Error for names that are not an option's, for options that `fedarena submit` sets
/// itself or that would have something of the file executed, and for values that are not one line.
std::vector<std::pair<std::string, std::string>> sbatch_options(const Document& document);

/// What `read` makes of the file under the profile, or none, with the overrides. It also reads the file under
/// every other profile, without overrides: a mistake in a profile shows whenever the file is read, not when
/// somebody first needs the profile.
template <typename Read>
auto under_profiles(const Document& file, const std::vector<std::string>& overrides, const Catalog& catalog,
                    const std::optional<std::string>& profile, const Read& read) {
  const std::vector<SectionSpec> specs = sections(catalog);
  const std::vector<Profile> profiles = profiles_of(file, specs);
  const Profile* const chosen = profile ? &chosen_profile(profiles, *profile, file.file) : nullptr;
  auto result = read(variant_of(file, specs, chosen, overrides));
  for (const Profile& other : profiles) {
    if (&other != chosen) read(variant_of(file, specs, &other, {}));
  }
  return result;
}

}  // namespace fedarena::config
