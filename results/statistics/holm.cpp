#include "results/statistics/holm.hpp"

#include <algorithm>
#include <numeric>

namespace fedarena::results {

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t left, std::size_t right) { return p_values[left] < p_values[right]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto remaining = static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, remaining * p_values[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace fedarena::results
