#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "datasets/registry.hpp"

namespace fedarena {

/// What a command line says about a data set.
struct DataOptions {
  std::string name;
  std::vector<std::string> overrides;  ///< "key=value" each
  std::filesystem::path folder;        ///< searched instead of the usual folders; empty: those

  /// The settings that were given, checked. Throws Error at the text that is wrong.
  Settings settings() const;
  SearchPath search_path() const;
};

/// Adds NAME.
CLI::Option* add_dataset_name(CLI::App& command, std::string& name);

/// Adds --set and --from.
void add_data_options(CLI::App& command, DataOptions& options);

/// Whether `fedarena data fetch` can bring the files: they have addresses and digests.
bool can_be_fetched(const std::string& name);

/// The folder of the data set, of those in which its files may lie, that holds `files`; "" when none does.
std::filesystem::path folder_of(const std::string& name, const std::vector<std::filesystem::path>& files,
                                const SearchPath& search_path);

/// "DIR, DIR", for messages.
std::string in_words(const SearchPath& folders);

}  // namespace fedarena
