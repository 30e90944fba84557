#pragma once

#include <string>

#include "fedarena/base/stream.hpp"

#include "tests/fuzz/driver/target.hpp"

namespace fedarena::fuzz {

/// Damages bytes in one to four places: always the same way for the same stream.
std::string mutated(const Target& target, std::string bytes, Stream& stream);

}  // namespace fedarena::fuzz
