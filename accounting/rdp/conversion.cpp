#include "fedarena/accounting/conversion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fedarena/accounting/names.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

#include "accounting/checks.hpp"

namespace fedarena {
namespace {

void check_curve(std::span<const double> orders, std::span<const double> rdp) {
  FEDARENA_CHECK(orders.size(), ==, rdp.size());
  if (orders.empty()) throw Error::of("no orders; allowed: at least one");
  for (const double order : orders) check_order(order);
  for (const double divergence : rdp) {
    if (!(divergence >= 0)) throw Error::of("a Rényi divergence is {}; allowed: a number >= 0", divergence);
  }
}

// Whether some divergence vanishes: then the outputs do not depend on the data at all.
bool tells_nothing(std::span<const double> rdp) {
  return std::find(rdp.begin(), rdp.end(), 0.0) != rdp.end();
}

// What a divergence of that order becomes an epsilon by, added to it.
double price_of_delta(double order, double delta, Conversion conversion) {
  const double price = -std::log(delta) / (order - 1);
  return conversion == Conversion::kClassic ? price
                                            : price + std::log1p(-1 / order) - std::log(order) / (order - 1);
}

}  // namespace

Conversion conversion_of(std::string_view name) {
  if (name == "balle") return Conversion::kBalle;
  if (name == "classic") return Conversion::kClassic;
  throw unknown_name(fmt::format("unknown conversion \"{}\"", name), name, kConversionNames);
}

RdpEpsilon epsilon_of_rdp(std::span<const double> orders, std::span<const double> rdp, double delta,
                          Conversion conversion) {
  check_curve(orders, rdp);
  check_delta(delta);
  if (tells_nothing(rdp)) return {0, orders.front()};
  RdpEpsilon best{kInfinity, orders.front()};
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double epsilon = rdp[i] + price_of_delta(orders[i], delta, conversion);
    if (epsilon < best.epsilon) best = {epsilon, orders[i]};
  }
  best.epsilon = std::max(best.epsilon, 0.0);
  return best;
}

double epsilon_of_filter(std::span<const double> orders, double budget, double delta, Conversion conversion) {
  check_epsilon(budget);
  check_delta(delta);
  std::vector<double> paying;
  for (const double order : orders) {
    check_order(order);
    if (price_of_delta(order, delta, conversion) < budget) paying.push_back(order);
  }
  if (budget == kInfinity || paying.size() < 2) return budget;  // nothing is left to choose
  const auto exceeds_one = [&](double more) {
    double sum = 0;
    for (const double order : paying) sum += std::exp(-(order - 1) * more);
    return sum > 1;
  };
  double low = 0, high = 1;
  while (exceeds_one(high)) high *= 2;
  while (high - low > 1e-12 * high) {
    const double middle = low + (high - low) / 2;
    (exceeds_one(middle) ? low : high) = middle;
  }
  return budget + high;
}

double delta_of_rdp(std::span<const double> orders, std::span<const double> rdp, double epsilon) {
  check_curve(orders, rdp);
  check_epsilon(epsilon);
  if (tells_nothing(rdp) || epsilon == kInfinity) return 0;
  double least = 0;  // log of delta 1
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double a = orders[i];
    least = std::min(least, (a - 1) * (rdp[i] - epsilon + std::log1p(-1 / a)) - std::log(a));
  }
  return std::max(std::numeric_limits<double>::denorm_min(), std::exp(least));  // never 0, which it is not
}

}  // namespace fedarena
