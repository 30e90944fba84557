#pragma once

#include <limits>

namespace fedarena {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace fedarena
