#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fedarena/base/schema.hpp"

#include "datasets/source.hpp"

namespace fedarena {

/// The names that `load_dataset` knows, in the order of the registry's table.
std::vector<std::string> dataset_names();

/// What the data set's file says of it. Throws Error when the name is unknown.
const DatasetSource& dataset_source(const std::string& name);

/// The files that `load_dataset` would read, by their names alone: their content is not looked at. None for a
/// data set that the program draws or that the user brings under a path. Throws Error when they are not
/// there.
std::vector<std::filesystem::path> find_dataset(const std::string& name, const Settings& settings,
                                                const SearchPath& search_path);

/// The files and folders of the user's own that settings name (`path`, `test_path`, ...), as far as they are
/// there; none for other data sets. Throws Error when the name is unknown.
std::vector<std::filesystem::path> own_files(const std::string& name, const Settings& settings,
                                             const SearchPath& search_path);

/// Throws Error, without a place, where settings do not go together. They must be all of the data set's.
void check_dataset(const std::string& name, const Settings& settings);

/// The name with those settings that differ from their defaults, as tables show it: "cifar100 (labels =
/// "coarse")".
std::string describe_dataset(const std::string& name, const Settings& settings);

/// Reads the data set from the first folder of `search_path` that holds all of its files, and verifies sizes,
/// label range and SHA-256; an embedded data set ignores the path. Settings that are not given have their
/// defaults. Deterministic; a few hundred MB for the largest. Throws Error when the name or a setting is
/// unknown or out of range, when the files are not there, or when one is not the published file.
Dataset load_dataset(const std::string& name, const Settings& settings, const SearchPath& search_path);

/// The training inputs of the same data set with its columns of numbers as they are in files, in double
/// precision and not scaled by anything; undefined for a data set without such columns. Throws what
/// load_dataset() throws of files and settings.
torch::Tensor load_unscaled_inputs(const std::string& name, const Settings& settings,
                                   const SearchPath& search_path);

/// The folders of the environment variable FEDARENA_DATA (separated by colons, empty entries ignored), then
/// `$XDG_CACHE_HOME/fedarena`, or `~/.cache/fedarena` where XDG_CACHE_HOME is not an absolute path.
SearchPath default_search_path();

}  // namespace fedarena
