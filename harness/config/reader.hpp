#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/config/document.hpp"
#include "harness/config/experiment.hpp"
#include "harness/config/profiles.hpp"
#include "harness/config/sections.hpp"

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

}  // namespace fedarena::config
