#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"

namespace fedarena {

/// Folders in which data sets are looked for, the first one first.
using SearchPath = std::vector<std::filesystem::path>;

/// What a data set's file gives to the registry.
struct DatasetSource {
  std::string name;     ///< as experiments write it
  std::string summary;  ///< one sentence: what it shows, how much of it there is, in what form
  /// Reads or makes the data; its Dataset has the name of this source. Throws Error.
  Dataset (*load)(const SearchPath& search_path);
};

}  // namespace fedarena
