#include "fedarena/accounting/pure.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/binomial.hpp>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "accounting/checks.hpp"
#include "accounting/safe_root.hpp"

namespace fedarena {
namespace {

void check(double epsilon, std::int64_t count) {
  check_not_negative(epsilon, "epsilon");
  if (count < 1) throw Error::of("the number of accesses is {}; allowed: an integer >= 1", count);
}

double sum_of_parts(const Composition& event) {
  double sum = 0;
  for (const Access& part : event.parts) sum += static_cast<double>(part.count) * pure_epsilon(part.event);
  return sum;
}

}  // namespace

double pure_epsilon(const Event& event) {
  validate(event);
  return std::visit(
      Overload{[](const ExactAccess&) { return kInfinity; }, [](const DeclaredPublic&) { return 0.0; },
               [](const Nominal&) { return 0.0; }, [](const MetricLaplace&) { return kInfinity; },
               [](const Gaussian&) { return kInfinity; },
               [](const SampledGaussian& sampled) { return sampled.rate == 0 ? 0 : kInfinity; },
               [](const Laplace& laplace) { return laplace.epsilon; },
               [](const RandomizedResponse& response) { return response.epsilon; },
               [](const Composition& composition) { return sum_of_parts(composition); }},
      event);
}

double optimal_composition_delta(double epsilon, std::int64_t count, double total_epsilon) {
  check(epsilon, count);
  check_epsilon(total_epsilon);
  // Of `count` responses l lie: E[max(0, 1 - exp(total - (count - 2l) epsilon))] under the true data, l
  // binomial. The terms rise and fall once, so that summing from the largest outwards may stop.
  const auto k = static_cast<double>(count);
  const double lie = 1 / (1 + std::exp(epsilon)), last = std::ceil((k - total_epsilon / epsilon) / 2) - 1;
  if (epsilon == 0 || !(last >= 0)) return 0;
  const double mode = std::min(last, std::floor(k * lie));
  const double at_mode = boost::math::pdf(boost::math::binomial_distribution<double>(k, lie), mode);
  const auto gain = [&](double l) { return -std::expm1(total_epsilon - (k - 2 * l) * epsilon); };
  double sum = 0;
  constexpr double kNegligible = 1e-20;
  double mass = at_mode;
  for (double l = mode; l >= 0 && mass > kNegligible * at_mode; --l) {
    sum += mass * gain(l);
    mass *= l / (k - l + 1) * std::exp(epsilon);
  }
  mass = at_mode;
  for (double l = mode; l < last && mass > kNegligible * at_mode;) {
    mass *= (k - l) / (l + 1) * std::exp(-epsilon);
    sum += mass * gain(++l);
  }
  return std::min(sum, 1.0);
}

double optimal_composition_epsilon(double epsilon, std::int64_t count, double delta) {
  check(epsilon, count);
  check_delta(delta);
  const double basic = static_cast<double>(count) * epsilon;
  if (delta == 0) return basic;
  const auto excess = [&](double total) {
    return std::clamp(std::log(optimal_composition_delta(epsilon, count, total)) - std::log(delta), -800.0,
                      800.0);
  };
  if (excess(0) <= 0) return 0;
  return safe_root(excess, 0, basic, basic * 1e-15);
}

double advanced_composition_epsilon(double epsilon, std::int64_t count, double delta) {
  check(epsilon, count);
  check_delta(delta);
  const auto k = static_cast<double>(count);
  return std::sqrt(2 * k * -std::log(delta)) * epsilon + k * epsilon * std::expm1(epsilon);
}

}  // namespace fedarena
