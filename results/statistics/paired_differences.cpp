#include "results/statistics/paired_differences.hpp"

#include <algorithm>
#include <cmath>

#include "fedarena/base/error.hpp"

namespace fedarena::results {
namespace {

constexpr int kBits = 40;

double largest_size(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    FEDARENA_CHECK(std::isfinite(value), ==, true);
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

}  // namespace

std::vector<double> paired_differences(std::span<const double> left, std::span<const double> right) {
  FEDARENA_CHECK(left.size(), ==, right.size());
  int exponent = 0;
  std::frexp(std::max(largest_size(left), largest_size(right)), &exponent);
  std::vector<double> differences;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double steps = std::round(std::ldexp(left[i] - right[i], kBits - exponent));
    differences.push_back(std::ldexp(steps, exponent - kBits));
  }
  return differences;
}

}  // namespace fedarena::results
