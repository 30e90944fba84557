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

}  // namespace

Conversion conversion_of(std::string_view name) {
  if (name == "balle") return Conversion::kBalle;
  if (name == "classic") return Conversion::kClassic;
  const std::vector<std::string> names{kConversionNames.begin(), kConversionNames.end()};
  throw unknown_name(fmt::format("unknown conversion \"{}\"", name), name, names);
}

RdpEpsilon epsilon_of_rdp(std::span<const double> orders, std::span<const double> rdp, double delta,
                          Conversion conversion) {
  check_curve(orders, rdp);
  check_delta(delta);
  if (tells_nothing(rdp)) return {0, orders.front()};
  RdpEpsilon best{kInfinity, orders.front()};
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double a = orders[i];
    double epsilon = rdp[i] - std::log(delta) / (a - 1);
    if (conversion == Conversion::kBalle) epsilon += std::log1p(-1 / a) - std::log(a) / (a - 1);
    if (epsilon < best.epsilon) best = {epsilon, a};
  }
  best.epsilon = std::max(best.epsilon, 0.0);
  return best;
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
