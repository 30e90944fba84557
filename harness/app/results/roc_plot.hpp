#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

#include "results/record/find_runs.hpp"

namespace fedarena {

/// What `fedarena plot` is told of receiver operating characteristics.
struct RocOptions {
  bool wanted = false;
  std::optional<std::int64_t> of_class;  ///< none: the macro average over classes
};

/// Adds --roc and --class; `options` must outlive the command.
void add_roc_options(CLI::App& command, RocOptions& options);

/// Throws Error for options that were given together and cannot be.
void check_roc_options(const CLI::App& command, const RocOptions& options);

/// Writes the picture and prints the areas, or every point where `format` is "json".
void draw_roc(std::span<const results::FoundRun> runs, const RocOptions& options,
              const std::filesystem::path& picture, const std::string& format);

}  // namespace fedarena
