#pragma once

#include <cstddef>
#include <vector>

#include <fedarena/params.hpp>

namespace fedarena {

using Hypotheses = std::vector<Params>;
/// Of each message, the number of a hypothesis.
using Choices = std::vector<std::size_t>;

/// The clusters of `points` by Lloyd's iterations from `centres`: up to 20, or until nothing changes. An
/// empty cluster keeps its centre; of centres equally near the first counts.
Choices lloyd_choices(Hypotheses centres, const std::vector<Params>& points);

/// The weighted mean of the points with choice `j`; `otherwise` where they have no weight.
Params mean_of(std::size_t j, const Choices& choices, const std::vector<Params>& points,
               const std::vector<double>& weights, const Params& otherwise);

}  // namespace fedarena
