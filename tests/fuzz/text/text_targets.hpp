#pragma once

#include <vector>

#include "tests/fuzz/driver/target.hpp"

namespace fedarena::fuzz {

std::vector<Target> record_targets();
std::vector<Target> experiment_targets();
std::vector<Target> command_targets();

}  // namespace fedarena::fuzz
