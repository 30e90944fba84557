#include "clusters.hpp"

#include <limits>

namespace fedarena {
namespace {

constexpr int kMostIterations = 20;

std::size_t nearest(const Hypotheses& centres, const Params& point) {
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < centres.size(); ++j) {
    const double distance = norm(point - centres[j]);
    if (distance < least) {
      least = distance;
      nearest = j;
    }
  }
  return nearest;
}

}  // namespace

Choices lloyd_choices(Hypotheses centres, const std::vector<Params>& points) {
  const std::vector<double> alike(points.size(), 1.0);
  Choices choices;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    Choices next;
    for (const Params& point : points) next.push_back(nearest(centres, point));
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
