#pragma once

#include <optional>

#include "datasets/dataset.hpp"
#include "harness/runner/plan/host_memory.hpp"

namespace fedarena {

/// Copies a data set to memory of the host. nullopt where the system has none.
std::optional<HostMemory> hold(const Dataset& dataset);

/// The data set in that memory, equal to the one that hold() was given. Its inputs and targets lie there.
Dataset dataset_in(const HostMemory& memory);

}  // namespace fedarena
