#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "harness/config/catalog.hpp"
#include "harness/runner/simulation.hpp"
#include "results/run_directory.hpp"

namespace fedarena {

/// An experiment of two private algorithms, as a file has it. `privacy`: further lines of its [privacy].
std::string experiment_text(const std::string& privacy = "");

/// Everything that the program could choose from.
Catalog whole_catalog();

/// A folder of its own for a test; removed afterwards.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Runs all of a simulation's rounds and records them in that folder as the program does, for an algorithm
/// "NAME" of a plugin "NAME-plugin" under that policy.
results::RunDirectory record(const std::filesystem::path& folder, Simulation& simulation, std::int64_t rounds,
                             const std::string& name, const std::string& policy);

}  // namespace fedarena
