#pragma once

#include <string>

namespace fedarena::results {

/// A time for people, in two units at most: "12 s", "3 min 05 s", "2 h 07 min", "3 d 04 h".
std::string duration_text(double seconds);

}  // namespace fedarena::results
