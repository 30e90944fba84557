#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "fedarena/base/export.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena {

// Points and centres are rows of floating matrices of one type: [points, numbers], [centres, numbers].

/// Of each point, the number of a centre.
using Choices = std::vector<std::size_t>;

struct FEDARENA_API Clusters {
  torch::Tensor centres;
  Choices choices;  ///< whose means the centres are
};

/// The clusters of the points by Lloyd's iterations (1982) from these centres: so many at most, or until
/// nothing changes. An empty cluster keeps its centre; of centres equally near the first counts, and one that
/// is not finite is the last.
FEDARENA_API Clusters lloyd(const torch::Tensor& points, torch::Tensor centres, int most_iterations = 20);

/// The means of the points with each choice, weighted by numbers >= 0, one a point; a row of `otherwise`
/// where they have no weight.
FEDARENA_API torch::Tensor cluster_means(const torch::Tensor& points, const Choices& choices,
                                         const std::vector<double>& weights, const torch::Tensor& otherwise);

/// Different points to start from, as k-means++ chooses them (Arthur and Vassilvitskii 2007): the first
/// uniformly, each other with a probability proportional to its squared distance from the nearest before.
/// Needs 1 <= count <= points. Positions, int64 [count], on the points' device.
FEDARENA_API torch::Tensor spread_points(const torch::Tensor& points, std::int64_t count, Stream& draws);

/// Of each centre the position of the nearest point, the first of equally near ones; int64 [centres], on the
/// points' device. One point may be nearest to several.
FEDARENA_API torch::Tensor nearest_points(const torch::Tensor& points, const torch::Tensor& centres);

}  // namespace fedarena
