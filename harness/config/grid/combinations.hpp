#pragma once

#include <cstddef>
#include <vector>

namespace fedarena::config {

/// A number for each dimension: the value that is taken, or how many values there are.
using Indices = std::vector<std::size_t>;

/// All combinations of the values of these dimensions, the last one changing fastest; the others stay at
/// their first value. `counts`: the values of every dimension, at least 1.
std::vector<Indices> all_combinations(const Indices& counts, const Indices& dimensions);

}  // namespace fedarena::config
