#include "fedarena/accounting/rdp.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "fedarena/accounting/metric.hpp"
#include "fedarena/accounting/unproven.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "accounting/checks.hpp"
#include "accounting/rdp/divergences.hpp"

namespace fedarena {
namespace {

using Curve = std::vector<double>;
using Orders = std::span<const double>;

template <typename Function>
Curve per_order(Orders orders, const Function& function) {
  Curve curve;
  curve.reserve(orders.size());
  for (const double order : orders) curve.push_back(function(order));
  return curve;
}

// order / (2 z^2), and four times that where neighbours lie two clip norms apart (Mironov, CSF 2017, Prop.
// 7).
Curve gaussian(double noise, Adjacency adjacency, Orders orders) {
  const double distance = adjacency == Adjacency::kReplaceOne ? 2 : 1;
  return per_order(orders, [&](double order) {
    const double shift = distance / noise;
    return noise == 0 ? kInfinity : std::max(order * shift * shift / 2, std::numeric_limits<double>::min());
  });
}

Curve sampled_gaussian(const SampledGaussian& event, Orders orders) {
  const double noise = joint_noise_multiplier(event);
  if (event.rate == 0) return Curve(orders.size(), 0);
  if (event.rate == 1 || noise == 0) return gaussian(noise, event.adjacency, orders);
  const bool replaces = event.adjacency == Adjacency::kReplaceOne;
  const bool fixed_size = event.sampling == Sampling::kWithoutReplacement;
  if (fixed_size && !replaces) {
    throw Unproven(Complaint{
        .found = fmt::format("no bound is proven for {} under {}", describe(event), name(event.adjacency)),
        .remedy = "Sample by Poisson, take replace-one as adjacency, or assume Poisson sampling explicitly"});
  }
  const auto log_moments = !replaces    ? poisson_gaussian_log_moments
                           : fixed_size ? fixed_size_log_moments
                                        : poisson_exchange_log_moments;
  Curve curve = log_moments(event.rate, noise, orders);
  for (std::size_t i = 0; i < curve.size(); ++i) curve[i] /= orders[i] - 1;
  return curve;
}

Curve curve_of(const Event& event, Orders orders);

Curve composition(const Composition& event, Orders orders) {
  Curve sum(orders.size(), 0);
  for (const Access& part : event.parts) {
    const Curve curve = curve_of(part.event, orders);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(part.count) * curve[i];
  }
  return sum;
}

Curve curve_of(const Event& event, Orders orders) {
  return std::visit(
      Overload{
          [&](const ExactAccess&) { return Curve(orders.size(), kInfinity); },
          [&](const DeclaredPublic&) { return Curve(orders.size(), 0); },
          [&](const Nominal&) { return Curve(orders.size(), 0); },
          [&](const MetricLaplace&) -> Curve { throw Unproven(Complaint{.found = kNoDistance}); },
          [&](const Gaussian& gauss) { return gaussian(gauss.noise_multiplier, gauss.adjacency, orders); },
          [&](const SampledGaussian& sampled) { return sampled_gaussian(sampled, orders); },
          [&](const Laplace& laplace) {
            return per_order(orders, [&](double order) {
              return laplace.dimension == 1 ? laplace_rdp(laplace.epsilon, order)
                                            : randomized_response_rdp(2, laplace.epsilon, order);
            });
          },
          [&](const RandomizedResponse& response) {
            return per_order(orders, [&](double order) {
              return randomized_response_rdp(static_cast<double>(response.categories), response.epsilon,
                                             order);
            });
          },
          [&](const Composition& parts) { return composition(parts, orders); }},
      event);
}

}  // namespace

std::vector<double> rdp(const Event& event, std::span<const double> orders) {
  validate(event);
  for (const double order : orders) check_order(order);
  return curve_of(event, orders);
}

double rdp(const Event& event, double order) { return rdp(event, std::span(&order, 1)).front(); }

}  // namespace fedarena
