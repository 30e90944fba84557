#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "harness/config/sections/read.hpp"
#include "harness/config/grid/sweep.hpp"

namespace fedarena::config {

/// Reads the experiment with value `at[i]` of every dimension i. Throws Error.
using ReadAt = std::function<Experiment(const std::vector<std::size_t>& at)>;

/// The points that the dimensions span, as `read_grid` describes them; one point without any.
std::vector<GridPoint> expand(const std::vector<Dimension>& dimensions, const ReadAt& read);

}  // namespace fedarena::config
