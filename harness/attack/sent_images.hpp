#pragma once

#include <cstdint>

#include <torch/types.h>

#include "harness/runner/finished_run.hpp"

namespace fedarena {

/// The synthetic images that a run keeps of one of its rounds, or of all whose images it kept: [n, channels,
/// height, width], float32, in pixel units (0 to 1 in the data set, here also outside). Error where there are
/// none, where they are of another shape than the data set's, and where pixels are not numbers.
torch::Tensor sent_images(const FinishedRun& run, std::int64_t round);
torch::Tensor sent_images(const FinishedRun& run);

/// The last of those rounds; Error as above.
std::int64_t last_sent_round(const FinishedRun& run);

}  // namespace fedarena
