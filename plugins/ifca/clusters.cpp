#include "clusters.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>

namespace fedarena {
namespace {

constexpr int kMostIterations = 20;

// Numbers of one vector that are looked at together, so that those of all centres stay in the cache.
constexpr std::int64_t kBlock = 16'384;

// The squared distances of each point to each centre, float64 [points, centres]. Not by products of points
// and centres, in which what tells near centres apart would be lost to rounding.
torch::Tensor squared_distances(const std::vector<Params>& points, const Hypotheses& centres) {
  const std::int64_t numbers = centres.front().flat().numel();
  torch::Tensor sums = torch::zeros({std::ssize(points), std::ssize(centres)}, torch::kFloat64);
  for (std::int64_t begin = 0; begin < numbers; begin += kBlock) {
    const std::int64_t length = std::min(kBlock, numbers - begin);
    std::vector<torch::Tensor> blocks;
    for (const Params& centre : centres) blocks.push_back(centre.flat().narrow(0, begin, length));
    const torch::Tensor block = torch::stack(blocks);
    torch::Tensor difference = torch::empty_like(block);
    for (std::size_t i = 0; i < points.size(); ++i) {
      torch::sub_out(difference, block, points[i].flat().narrow(0, begin, length));
      sums[static_cast<std::int64_t>(i)] += difference.mul_(difference).sum(1);
    }
  }
  const double far = std::numeric_limits<double>::infinity();
  return sums.nan_to_num(far, far);
}

}  // namespace

Choices lloyd_choices(Hypotheses centres, const std::vector<Params>& points) {
  const std::vector<double> alike(points.size(), 1.0);
  Choices choices;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    Choices next;
    const torch::Tensor distances = squared_distances(points, centres);
    const auto* own = distances.data_ptr<double>();
    for (std::size_t i = 0; i < points.size(); ++i, own += centres.size())
      next.push_back(static_cast<std::size_t>(std::min_element(own, own + centres.size()) - own));
    if (next == choices) break;
    choices = std::move(next);
    for (std::size_t j = 0; j < centres.size(); ++j)
      centres[j] = mean_of(j, choices, points, alike, centres[j]);
  }
  return choices;
}

Params mean_of(std::size_t j, const Choices& choices, const std::vector<Params>& points,
               const std::vector<double>& weights, const Params& otherwise) {
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) sum += choices[i] == j ? weights[i] : 0;
  if (!(sum > 0)) return otherwise;
  Params mean = zeros_like(points.front());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (choices[i] == j) mean.add_scaled(weights[i] / sum, points[i]);
  }
  return mean;
}

}  // namespace fedarena
