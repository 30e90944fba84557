#pragma once

#include <string>

#include "harness/loader/plugin_host.hpp"

namespace fedarena {

/// What a run ran on, for `environment.json`.
struct Environment {
  std::string blas;        ///< path of the BLAS library, or "built into LibTorch"
  double blas_gflops = 0;  ///< of one thread, on a 384x384 matrix product of floats
  std::string json;        ///< versions, processor, BLAS, workers, plugins, as JSON
};

/// Looks at machine and build; takes some milliseconds. `workers` and `device` are recorded as given.
Environment observe_environment(const PluginHost& host, int workers, const std::string& device);

/// What all ranks of a run must have alike: program, LibTorch and plugins, by their digests.
std::string build_identity(const PluginHost& host);

/// A warning with its remedy when the BLAS is so slow that every figure of speed would mislead; else empty.
std::string slow_blas_warning(const Environment& environment);

}  // namespace fedarena
