#include <algorithm>
#include <cmath>

#include "accounting/rdp/divergences.hpp"
#include "accounting/rdp/exp_minus_line.hpp"

namespace fedarena {
namespace {

constexpr double kLargeExponent = 600;  // its exponential is still a double

}  // namespace

// Both moments A are written as A - 1 = a sum of terms that are not negative, so that nothing cancels.

double randomized_response_rdp(double categories, double epsilon, double order) {
  const double b = order - 1, y = b * epsilon, decay = std::exp(-epsilon);
  const double log_share = -std::log1p((categories - 1) * decay);  // of the probability of the true category
  double log_moment = 0;
  if (y < kLargeExponent) {
    const double excess = y * -std::expm1(-epsilon) + exp_minus_line(y) + decay * exp_minus_line(-y);
    log_moment = std::log1p(excess * std::exp(log_share));
  } else {
    const double rest = (categories - 2) * decay + std::exp(-order * epsilon);
    log_moment = y + log_share + std::log1p(rest * std::exp(-y));
  }
  return std::min(log_moment / b, epsilon);
}

double laplace_rdp(double epsilon, double order) {
  const double b = order - 1, y = b * epsilon, total = 2 * b + 1;
  const double log_moment =
      y < kLargeExponent
          ? std::log1p((order * exp_minus_line(y) + b * exp_minus_line(-order * epsilon)) / total)
          : y + std::log(order / total);
  return std::min(log_moment / b, epsilon);
}

}  // namespace fedarena
