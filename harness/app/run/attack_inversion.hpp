#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "fedarena/base/pool.hpp"

#include "harness/attack/gradient_inversion.hpp"
#include "harness/loader/plugin_host.hpp"
#include "harness/runner/finished_run.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
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

struct InversionAnswer {
  std::string text;
  results::Json json;
};

void add_inversion_options(CLI::App& command, InversionArguments& arguments);

/// Inverts the uplinks of the first clients of a run, in its first round or the one after its last, and
/// writes the picture. The algorithm comes from `plugins`; `tell` is told how far the work is, by one thread
/// at a time.
InversionAnswer invert_run(const FinishedRun& run, const InversionArguments& arguments,
                           const PluginHost& plugins, SharedInputs& inputs, const WorkPool& pool,
                           const std::function<void(const std::string&)>& tell);

}  // namespace fedarena
