#pragma once

#include <filesystem>
#include <string>

#include "datasets/published/published_files.hpp"

namespace fedarena {

/// A file or folder that the user named in the setting `key`: an absolute path as it is, any other in the
/// working directory, else in the first folder of the search path that has it. Throws Error when it is empty
/// or nowhere.
std::filesystem::path find_own(const std::string& key, const std::string& path,
                               const SearchPath& search_path);

}  // namespace fedarena
