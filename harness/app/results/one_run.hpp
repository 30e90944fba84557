#pragma once

#include <filesystem>

#include "results/record/run_directory.hpp"

namespace fedarena {

/// The one run at or below a path, finished or not. An Error when there is none, or more than one.
results::RunDirectory open_one_run(const std::filesystem::path& path);

}  // namespace fedarena
