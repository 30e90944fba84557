#pragma once

#include <cstdint>

#include "datasets/dataset.hpp"
#include "partitions/partition.hpp"

namespace fedarena {

/// What a partition may look at of examples, which must outlive it. `classes`: 0 for regression.
PartitionInput partition_input(const Examples& examples, std::int64_t classes);

}  // namespace fedarena
