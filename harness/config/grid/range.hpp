#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/config/syntax/document.hpp"

namespace fedarena::config {

/// Whether the entry of [tuning] is a range such as {from = 0.001, to = 1.0, scale = "log"}.
bool is_range(const Setting& entry);

/// `count` different values drawn uniformly from the range that the entry gives, on its scale ("linear" or
/// "log"); whole numbers where both ends are, both included, else numbers of four significant digits. They
/// depend on the seed and the entry's path alone, and the first of them not on `count`. Throws Error for what
/// is no range, and for one that holds fewer values.
std::vector<Written> drawn_from(const Setting& entry, std::size_t count, std::uint64_t seed);

}  // namespace fedarena::config
