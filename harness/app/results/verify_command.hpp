#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "harness/app/commands.hpp"
#include "results/audit/verify.hpp"

namespace fedarena {

/// Compares what a run records of its data with the data themselves, which takes LibTorch.
using VerifyData = std::function<results::Verification(const std::filesystem::path& run)>;
/// Makes one that loads each data set once, and knows the algorithms of the plugins in those folders, too.
using MakeVerifyData = std::function<VerifyData(const std::vector<std::filesystem::path>& plugin_path)>;

/// `add_verify_command` of a program that can load data. Without `make_verify_data`, `--data` must not be
/// asked for: `is_light_command` leaves it to the full program.
void add_verify_command(CLI::App& app, Action& action, const MakeVerifyData& make_verify_data);

}  // namespace fedarena
