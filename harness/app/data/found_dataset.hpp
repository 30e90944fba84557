#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/registry.hpp"

namespace fedarena {

/// Whether `fedarena data fetch` can bring the files: they have addresses and digests.
bool can_be_fetched(const std::string& name);

/// The folder of the data set, of those in which its files may lie, that holds `files`; "" when none does.
std::filesystem::path folder_of(const std::string& name, const std::vector<std::filesystem::path>& files,
                                const SearchPath& search_path);

/// "DIR, DIR", for messages.
std::string in_words(const SearchPath& folders);

}  // namespace fedarena
