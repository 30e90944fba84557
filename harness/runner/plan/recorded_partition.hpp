#pragma once

#include <cstdint>

#include "harness/config/sections/experiment.hpp"
#include "partitions/card.hpp"
#include "results/record/partition_file.hpp"

namespace fedarena {

/// What a run directory records of the partition that an experiment deals under `seed`; `card` is its card.
results::RecordedPartition recorded_partition(const Experiment& experiment, std::int64_t seed,
                                              const PartitionCard& card);

}  // namespace fedarena
