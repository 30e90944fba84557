#include "results/statistics/paired_t_test.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include "results/statistics/statistics.hpp"

namespace fedarena::results {

std::optional<PairedT> paired_t_test(std::span<const double> differences, double level) {
  if (differences.size() < 2) return std::nullopt;
  // Squares of huge losses would be infinite; a power of two changes no digit.
  double largest = 0;
  for (const double difference : differences) largest = std::max(largest, std::abs(difference));
  int exponent = 0;
  std::frexp(largest, &exponent);
  std::vector<double> scaled;
  for (const double difference : differences) scaled.push_back(std::ldexp(difference, -exponent));
  const double deviation = *sample_standard_deviation(scaled);
  if (deviation == 0) return std::nullopt;

  const auto count = static_cast<double>(scaled.size());
  const double error = deviation / std::sqrt(count);
  const double centre = mean(scaled);
  const double statistic = centre / error;
  const double reach = students_t_above((1 - level) / 2, count - 1) * error;
  const boost::math::students_t distribution(count - 1);
  return PairedT{
      .statistic = statistic,
      .p = std::min(1.0, 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(statistic)))),
      .interval = {std::ldexp(centre - reach, exponent), std::ldexp(centre + reach, exponent)}};
}

double students_t_above(double tail, double degrees) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), tail));
}

}  // namespace fedarena::results
