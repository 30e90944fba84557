#pragma once

#include <vector>

#include "tests/fuzz/driver/target.hpp"

namespace fedarena::fuzz {

std::vector<Target> own_targets();
std::vector<Target> published_targets();
std::vector<Target> message_targets();

}  // namespace fedarena::fuzz
