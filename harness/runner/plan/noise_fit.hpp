#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "harness/runner/cell_setup.hpp"

namespace fedarena {

/// The cells with noise in place of the epsilon that some ask it for (`noise_for_epsilon`): of a point and an
/// algorithm the least noise multiplier, of four digits, with which no seed of the experiment is forecast to
/// cost more by RDP. What they cost is what the ledger says of them, as of any others. `say` takes notes on
/// what was found; a progress line goes to `output`. Throws Error where an algorithm does not say what it
/// will ask for, or no noise reaches the epsilon; and Interrupted.
std::vector<PlannedCell> with_found_noise(const std::vector<PlannedCell>& cells,
                                          const CellResources& resources, std::FILE* output,
                                          const std::function<void(const std::string& line)>& say);

}  // namespace fedarena
