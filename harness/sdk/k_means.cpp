#include "fedarena/k_means.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

// Numbers of each vector that are looked at together, so that copies stay small.
constexpr std::int64_t kBlock = 16'384;

// The squared distances of each point to each centre less what they are to the first centre, or where it is
// not finite to zero: float64 [points, centres], infinite where they are not numbers. What matters is small
// beside the points' distance from zero, not beside the spread of the centres: so products are of
// differences.
torch::Tensor relative_distances(const torch::Tensor& points, const torch::Tensor& centres) {
  const torch::Tensor origin = centres[0].nan_to_num(0, 0, 0);
  torch::Tensor sums = torch::zeros({points.size(0), centres.size(0)}, torch::kFloat64);
  for (std::int64_t begin = 0; begin < centres.size(1); begin += kBlock) {
    const std::int64_t length = std::min(kBlock, centres.size(1) - begin);
    const torch::Tensor middle = origin.narrow(0, begin, length);
    const torch::Tensor from = points.narrow(1, begin, length) - middle;
    const torch::Tensor to = centres.narrow(1, begin, length) - middle;
    sums += (to.square().sum(1) - 2 * from.mm(to.t())).to(torch::kCPU, torch::kFloat64);
  }
  return sums.nan_to_num(kFar, kFar, kFar);
}

Choices nearest_centres(const torch::Tensor& points, const torch::Tensor& centres) {
  const torch::Tensor nearest = relative_distances(points, centres).argmin(1);
  return {nearest.data_ptr<std::int64_t>(), nearest.data_ptr<std::int64_t>() + nearest.numel()};
}

// A position drawn with a probability proportional to its weight; where none has any, the first that has not
// been taken.
std::int64_t draw_weighted(const std::vector<double>& weights, const std::vector<bool>& taken,
                           Stream& draws) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double left = draws.uniform() * sum;
  auto last = std::find(taken.begin(), taken.end(), false) - taken.begin();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    last = static_cast<std::int64_t>(i);
    left -= weights[i];
    if (left < 0) break;
  }
  return last;
}

}  // namespace

Clusters lloyd(const torch::Tensor& points, torch::Tensor centres, int most_iterations) {
  const std::vector<double> alike(static_cast<std::size_t>(points.size(0)), 1.0);
  Clusters clusters{std::move(centres), {}};
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    Choices next = nearest_centres(points, clusters.centres);
    if (next == clusters.choices) break;
    clusters.choices = std::move(next);
    clusters.centres = cluster_means(points, clusters.choices, alike, clusters.centres);
  }
  return clusters;
}

torch::Tensor cluster_means(const torch::Tensor& points, const Choices& choices,
                            const std::vector<double>& weights, const torch::Tensor& otherwise) {
  const auto clusters = static_cast<std::size_t>(otherwise.size(0));
  std::vector<std::vector<std::int64_t>> members(clusters);
  std::vector<std::vector<double>> shares(clusters);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    members[choices[i]].push_back(static_cast<std::int64_t>(i));
    shares[choices[i]].push_back(weights[i]);
  }
  torch::Tensor means = otherwise.clone();
  for (std::size_t j = 0; j < clusters; ++j) {
    const double sum = std::accumulate(shares[j].begin(), shares[j].end(), 0.0);
    if (!(sum > 0)) continue;
    const torch::Tensor share = torch::tensor(shares[j], torch::kFloat64).div(sum).to(points.options());
    const torch::Tensor rows = torch::tensor(members[j], torch::kInt64).to(points.device());
    for (std::int64_t begin = 0; begin < points.size(1); begin += kBlock) {
      const std::int64_t length = std::min(kBlock, points.size(1) - begin);
      const torch::Tensor own = points.narrow(1, begin, length).index_select(0, rows);
      means[static_cast<std::int64_t>(j)].narrow(0, begin, length).copy_(share.matmul(own));
    }
  }
  return means;
}

torch::Tensor spread_points(const torch::Tensor& points, std::int64_t count, Stream& draws) {
  FEDARENA_CHECK(count, >=, 1);
  FEDARENA_CHECK(count, <=, points.size(0));
  const torch::Tensor from = points - points.mean(0);
  const torch::Tensor lengths = from.square().sum(1);
  const auto total = static_cast<std::size_t>(points.size(0));
  std::vector<double> nearest(total, kFar);
  std::vector<bool> taken(total);
  std::vector<std::int64_t> chosen{static_cast<std::int64_t>(draws.below(total))};
  for (;;) {
    const std::int64_t next = chosen.back();
    taken[static_cast<std::size_t>(next)] = true;
    if (std::ssize(chosen) == count) return torch::tensor(chosen, torch::kInt64).to(points.device());
    const torch::Tensor distances =
        (lengths + lengths[next] - 2 * from.mv(from[next])).to(torch::kCPU, torch::kFloat64);
    const auto* own = distances.data_ptr<double>();
    for (std::size_t i = 0; i < total; ++i) {
      nearest[i] = taken[i] ? 0 : std::min(nearest[i], std::max(0.0, own[i]));
    }
    chosen.push_back(draw_weighted(nearest, taken, draws));
  }
}

torch::Tensor nearest_points(const torch::Tensor& points, const torch::Tensor& centres) {
  const torch::Tensor origin = centres[0].nan_to_num(0, 0, 0);
  const torch::Tensor lengths = (points - origin).square().sum(1, true).to(torch::kCPU, torch::kFloat64);
  const torch::Tensor distances =
      (relative_distances(points, centres) + lengths).nan_to_num(kFar, kFar, kFar);
  return distances.argmin(0).to(points.device());
}

}  // namespace fedarena
