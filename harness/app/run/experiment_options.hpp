#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace fedarena {

/// An experiment file as a command line names it.
struct ExperimentOptions {
  std::filesystem::path file;
  std::vector<std::string> overrides;
  std::optional<std::string> profile;
  std::vector<std::filesystem::path> plugin_path;
};

/// Adds FILE, --profile, --set and --plugin-path.
void add_experiment_options(CLI::App& command, ExperimentOptions& options);

}  // namespace fedarena
