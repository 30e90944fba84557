#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

#include "harness/attack/gradient_inversion.hpp"
#include "harness/runner/cell_setup.hpp"
#include "harness/runner/finished_run.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/json_fields.hpp"

namespace fedarena {

/// What `fedarena attack --invert` is asked for.
struct InversionArguments {
  std::string method;  ///< empty: gradients are not inverted
  std::string round = "first";
  std::int64_t clients = 1;
  InversionEffort effort = {};
  std::filesystem::path picture;  ///< empty: RUN-METHOD.png here
};

/// What an inversion works with.
struct InversionSetting {
  CellResources resources;                       ///< with `stop` set, it throws Interrupted
  std::function<void(const std::string&)> tell;  ///< called, by one thread at a time, with how far it is
};

/// What is printed about an attacked run, for people and as JSON.
struct AttackAnswer {
  std::string text;
  results::Json json;
};

void add_inversion_options(CLI::App& command, InversionArguments& arguments);

/// Error where two of the runs would write the same picture.
void check_pictures(std::span<const results::FoundRun> runs, const InversionArguments& arguments);

/// Inverts the uplinks of the first clients of a run, in its first round or the one after its last, and
/// writes the picture.
AttackAnswer invert_run(const FinishedRun& run, const InversionArguments& arguments,
                        const InversionSetting& setting);

}  // namespace fedarena
