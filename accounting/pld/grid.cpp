#include "accounting/pld/grid.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace fedarena::pld {
namespace {

struct Pure {
  double epsilon = 0;
  double count = 0;
};

// What rounding down all losses of pure mechanisms costs at most.
double loss_of_rounding(const std::vector<Pure>& pure, double step) {
  double loss = 0;
  for (const auto& [epsilon, count] : pure) {
    const double index = epsilon / step;
    const double rest = index - std::floor(index + 8 * kRounding * index);
    loss += count * step * std::max(0.0, rest);
  }
  return loss;
}

}  // namespace

double step_for(std::span<const Term> terms, double length, std::size_t size) {
  const double least = length / static_cast<double>(size - 2);
  std::vector<Pure> pure;
  bool continuous = false;
  for (const Term& term : terms) {
    if (const auto* response = std::get_if<ResponsePair>(&term.pair)) {
      pure.push_back({response->epsilon, term.count});
    } else if (const auto* laplace = std::get_if<LaplacePair>(&term.pair)) {
      pure.push_back({laplace->epsilon, term.count});
      continuous = true;
    } else {
      continuous = true;
    }
  }
  if (pure.empty()) return least;
  const double epsilon = pure.front().epsilon;
  const double most = std::floor(epsilon / least);
  if (most < 1) return least;
  // Among many divisors of one epsilon, that which fits the others best; the coarsest of equals.
  constexpr double kTries = 4096;
  const double fewest = std::max(1.0, continuous ? std::ceil(0.75 * most) : 1.0);
  const double stride = std::max(1.0, std::floor((most - fewest) / kTries));
  double best = epsilon / most;
  double least_loss = loss_of_rounding(pure, best);
  const auto tries = static_cast<std::int64_t>(std::ceil((most - fewest) / stride));
  for (std::int64_t index = 0; index < tries; ++index) {
    const double step = epsilon / (fewest + stride * static_cast<double>(index));
    const double loss = loss_of_rounding(pure, step);
    if (loss < least_loss || (loss == least_loss && !continuous && step > best)) {
      best = step;
      least_loss = loss;
    }
  }
  return best;
}

}  // namespace fedarena::pld
