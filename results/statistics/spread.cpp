#include "results/statistics/spread.hpp"

#include <cmath>

#include "results/statistics/paired_t_test.hpp"
#include "results/statistics/statistics.hpp"

namespace fedarena::results {

Spread spread_of(std::span<const double> values) {
  Spread spread{.mean = mean(values), .std = sample_standard_deviation(values)};
  if (!spread.std) return spread;
  const auto count = static_cast<double>(values.size());
  spread.half_width = students_t_above((1 - kIntervalLevel) / 2, count - 1) * *spread.std / std::sqrt(count);
  return spread;
}

std::optional<double> behind(PlusMinus plus_minus, const Spread& spread) {
  return plus_minus == PlusMinus::kHalfWidth ? spread.half_width : spread.std;
}

}  // namespace fedarena::results
