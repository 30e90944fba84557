#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/config/syntax/document.hpp"

namespace fedarena::config {

/// The [slurm] of a document: options of sbatch and their values, in the order of the file; "": an option
/// without a value. Throws Error for names that are not an option's, for options that `fedarena submit` sets
/// itself or that would have something of the file executed, and for values that are not one line.
std::vector<std::pair<std::string, std::string>> sbatch_options(const Document& document);

}  // namespace fedarena::config
