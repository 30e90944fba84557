#pragma once

#include <functional>
#include <memory>

#include "tests/conformance/federations.hpp"

namespace fedarena {

/// Whether a run is the same on three ranks as alone: what they share are the loops over clients and over
/// what is tested, personal models among it.
void expect_same_bits_on_ranks(
    const TestRunOptions& options,
    const std::function<std::unique_ptr<TestRun>(const TestRunOptions& options)>& run);

/// Whether a run is the same on a GPU's kernels, walked by the host: the same books, and the same numbers but
/// for rounding, which double precision keeps from growing.
void expect_same_by_gpu_kernels(const std::function<std::unique_ptr<TestRun>()>& run);

/// The same task with model and proxy data in double precision.
Task in_double(Task task);

/// Whether a run goes on to the same bits from a checkpoint after every round.
void expect_continuation(const std::function<std::unique_ptr<TestRun>()>& run);

}  // namespace fedarena
