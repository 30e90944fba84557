#pragma once

#include <string>

#include <torch/types.h>

#include "harness/loader/plugin_host.hpp"
#include "results/record/json_fields.hpp"

namespace fedarena {

/// What a run runs on, as `environment.json` has it: versions, processor, device, BLAS, workers, plugins.
/// Looks at machine and build; takes some milliseconds. `workers` are recorded as given; `device` is what
/// models are trained on.
results::Json observe_environment(const PluginHost& host, int workers, torch::Device device);

/// What LibTorch and its driver tell of the GPU of that number, which LibTorch must see: the fields of
/// `environment.json` on GPUs, such as "gpu" (its name), "gpu_memory_bytes", "cuda" (what LibTorch was built
/// with), "tf32" and "deterministic". What nobody tells is left out.
results::Json observe_gpu(int number);

/// Whose loops add up numbers in this process: those that LibTorch and, where that is the BLAS, OpenBLAS take
/// on this processor or by ATEN_CPU_CAPABILITY and OPENBLAS_CORETYPE, such as "LibTorch AVX2, OpenBLAS
/// Haswell". Others may round otherwise.
std::string arithmetic();

/// What all ranks of a run must have alike: program, LibTorch and plugins, by their digests.
std::string build_identity(const PluginHost& host);

/// A warning with its remedy when the BLAS is so slow that every figure of speed would mislead; else empty.
std::string slow_blas_warning(const results::Json& environment);

}  // namespace fedarena
