#pragma once

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
  Document document;                      ///< with the profile's entries and the overrides in it
  const std::vector<SectionSpec>& specs;  ///< which outlive it, as the profile does
  const Profile* profile = nullptr;
};

/// The experiment that the document says, a form of the variant's, without a look at [sweep] and [tuning].
/// Throws Error.
Experiment experiment_of(const FileVariant& variant, const Document& document);

/// The [slurm] of a document: options of sbatch and their values, in the order of the file; "": an option
/// without a value. Throws Error for names that are not an option's, for options that `fedarena submit` sets
/// itself or that would have something of the file executed, and for values that are not one line.
std::vector<std::pair<std::string, std::string>> sbatch_options(const Document& document);

}  // namespace fedarena::config
