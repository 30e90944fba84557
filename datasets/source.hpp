#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fedarena/base/schema.hpp"

#include "datasets/dataset.hpp"
#include "datasets/published/published_files.hpp"

namespace fedarena {

/// What a data set's file gives to the registry.
struct DatasetSource {
  std::string name;                ///< as experiments write it
  std::string summary;             ///< one sentence: what it shows, how much of it there is, in what form
  std::vector<Field> fields = {};  ///< its settings
  std::vector<std::string> required = {};  ///< those that have no default: an empty text is refused
  DatasetOrigin origin = DatasetOrigin::kFiles;
  PublishedFiles files = {};  ///< what it is read from, where its origin is kFiles
  /// Reads or makes the data, all but its name. Gets every setting. Throws Error.
  Dataset (*load)(const Settings& settings, const SearchPath& search_path);
  /// The training inputs with the columns of numbers as they are in files, where `load` scales such columns.
  torch::Tensor (*unscaled)(const Settings& settings, const SearchPath& search_path) = nullptr;
  /// The files that `load` would read, where `files` does not list them all; throws Error when they are not
  /// there.
  std::vector<std::filesystem::path> (*find)(const Settings& settings,
                                             const SearchPath& search_path) = nullptr;
  /// Rules that span settings, where there are any; throws Error without a place.
  void (*check)(const Settings& settings) = nullptr;
};

}  // namespace fedarena
