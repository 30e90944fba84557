#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/config/sections/experiment.hpp"
#include "harness/simulation/simulation.hpp"
#include "results/record/run_directory.hpp"
#include "tests/scratch.hpp"

namespace fedarena {

using test::Scratch;

/// An experiment of two private algorithms, as a file has it. `privacy`: further lines of its [privacy].
std::string experiment_text(const std::string& privacy = "");

/// Everything that the program could choose from.
Catalog whole_catalog();

/// Runs all of a simulation's rounds and records them in that folder as the program does, for an algorithm
/// "NAME" of a plugin "NAME-plugin" under that policy.
results::RunDirectory record(const std::filesystem::path& folder, Simulation& simulation, std::int64_t rounds,
                             const std::string& name, const std::string& policy);

}  // namespace fedarena
