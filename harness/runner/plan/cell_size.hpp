#pragma once

#include "fedarena/base/pool.hpp"
#include "fedarena/model.hpp"

#include "harness/config/sections/experiment.hpp"
#include "harness/runner/plan/memory.hpp"

namespace fedarena {

/// What the memory of a cell depends on; `clients` of the federation.
CellSize cell_size(const Experiment& experiment, const AlgorithmEntry& algorithm, const Model& model,
                   std::int64_t clients, const WorkPool& pool, std::int64_t state_memory);

}  // namespace fedarena
