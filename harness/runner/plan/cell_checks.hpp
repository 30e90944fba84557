#pragma once

#include <functional>
#include <string>

#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/shared_inputs.hpp"

namespace fedarena {

/// Whatever can be said about a cell before anything is trained: notes on its data, its partition and its
/// delta, one line each. Error where its policy, its labels or its canaries do not fit its data or its model.
void check_cell(const PlannedCell& cell, SharedInputs& inputs,
                const std::function<void(const std::string& line)>& say);

}  // namespace fedarena
