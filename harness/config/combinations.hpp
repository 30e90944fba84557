#pragma once

#include <cstddef>
#include <vector>

#include "fedarena/base/stream.hpp"

namespace fedarena::config {

/// A number for each dimension: the value that is taken, or how many values there are.
using Indices = std::vector<std::size_t>;

/// All combinations of the values of these dimensions, the last one changing fastest; the others stay at
/// their first value. `counts`: the values of every dimension, at least 1.
std::vector<Indices> all_combinations(const Indices& counts, const Indices& dimensions);

/// `wanted` different ones of them, drawn from the stream of that name; the first do not depend on `wanted`.
/// Of a dimension of which `own` is true, each combination has a value of its own, in order. There must be as
/// many combinations, or one such dimension with as many values.
std::vector<Indices> some_combinations(const Indices& counts, const Indices& dimensions,
                                       const std::vector<bool>& own, std::size_t wanted,
                                       const StreamName& name);

}  // namespace fedarena::config
