#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"

namespace fedarena {

/// The names that `load_dataset` knows, in the order of the registry's table.
std::vector<std::string> dataset_names();

/// One sentence on the data set, for help texts. Throws Error when the name is unknown.
std::string dataset_summary(const std::string& name);

/// Reads the data set from the first folder of `search_path` that holds all of its files, and verifies sizes,
/// label range and SHA-256; an embedded data set ignores the path. Deterministic; a few hundred MB for the
/// largest. Throws Error when the name is unknown, when the files are not there, or when one is not the
/// published file.
Dataset load_dataset(const std::string& name, const std::vector<std::filesystem::path>& search_path);

/// The folders of the environment variable FEDARENA_DATA (separated by colons, empty entries ignored), then
/// `$XDG_CACHE_HOME/fedarena`, or `~/.cache/fedarena` where XDG_CACHE_HOME is not an absolute path.
std::vector<std::filesystem::path> default_search_path();

}  // namespace fedarena
