#include "fedarena/accounting/rdp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "fedarena/accounting/metric.hpp"
#include "fedarena/accounting/names.hpp"
#include "fedarena/accounting/pure.hpp"
#include "fedarena/accounting/unproven.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/overload.hpp"

#include "accounting/checks.hpp"
#include "accounting/rdp/divergences.hpp"

namespace fedarena {
namespace {

using Curve = std::vector<double>;
using Orders = std::span<const double>;

void append_tenths(std::vector<double>& orders) {
  for (int x = 1; x < 100; ++x) orders.push_back(1 + x / 10.0);
}

void append_whole(std::vector<double>& orders, int first, int last, int step = 1) {
  for (int order = first; order <= last; order += step) orders.push_back(order);
}

std::vector<double> opacus_orders() {
  std::vector<double> orders;
  append_tenths(orders);
  append_whole(orders, 12, 63);
  return orders;
}

// Near 1 for large epsilons, where the best order falls to it; up to 16384 for small ones; between the tenths
// up to 5, where a tenth is a large step.
std::vector<double> default_orders() {
  std::vector<double> orders{1.0001, 1.0002, 1.0005, 1.001, 1.002, 1.005};
  for (int x = 1; x < 10; ++x) orders.push_back(1 + x / 100.0);
  append_tenths(orders);
  for (int x = 1; x < 40; ++x) orders.push_back(1 + (2 * x + 1) / 20.0);
  append_whole(orders, 11, 64);
  append_whole(orders, 68, 128, 4);
  append_whole(orders, 144, 256, 16);
  append_whole(orders, 320, 512, 64);
  append_whole(orders, 640, 1024, 128);
  for (const int order : {2048, 4096, 8192, 16384}) orders.push_back(order);
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  return orders;
}

// No divergence is above a pure epsilon, and none that underflows is nothing.
double within_epsilon(double divergence, double epsilon) {
  return std::min(std::max(divergence, std::numeric_limits<double>::min()), epsilon);
}

constexpr double kLargeExponent = 600;  // its exponential is still a double

// Both moments A are written as A - 1 = a sum of terms that are not negative, so that nothing cancels.

// The divergence of order > 1 between two outputs of k-ary randomised response, epsilon > 0. With k = 2 no
// pure epsilon-DP mechanism has a larger one (Bun & Steinke, TCC 2016, Proposition 3.3).
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
  return within_epsilon(log_moment / b, epsilon);
}

// The divergence of the Laplace mechanism on the line (Mironov, CSF 2017, Proposition 6).
double laplace_rdp(double epsilon, double order) {
  const double b = order - 1, y = b * epsilon, total = 2 * b + 1;
  const double log_moment =
      y < kLargeExponent
          ? std::log1p((order * exp_minus_line(y) + b * exp_minus_line(-order * epsilon)) / total)
          : y + std::log(order / total);
  return within_epsilon(log_moment / b, epsilon);
}

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

std::vector<double> rdp_orders(std::string_view name) {
  if (name == "opacus") return opacus_orders();
  if (name == "default") return default_orders();
  throw unknown_name(fmt::format("unknown orders \"{}\"", name), name, kOrdersNames);
}

std::vector<double> rdp(const Event& event, std::span<const double> orders) {
  validate(event);
  for (const double order : orders) check_order(order);
  return curve_of(event, orders);
}

double rdp(const Event& event, double order) { return rdp(event, std::span(&order, 1)).front(); }

struct RdpAccountant::Curves {
  std::vector<double> orders;
  std::map<Event, std::vector<double>> known;
};

RdpAccountant::RdpAccountant(std::vector<double> orders)
    : curves_(std::make_shared<Curves>()), total_(orders.size(), 0) {
  epsilon_of_rdp(orders, total_, 0);  // refuses orders that are none
  curves_->orders = std::move(orders);
}

const std::vector<double>& RdpAccountant::orders() const { return curves_->orders; }

std::span<const double> RdpAccountant::curve(const Event& event) {
  validate(event);
  if (const auto found = curves_->known.find(event); found != curves_->known.end()) return found->second;
  return curves_->known.emplace(event, fedarena::rdp(event, curves_->orders)).first->second;
}

void RdpAccountant::add(const Event& event, std::int64_t count) {
  if (count < 0) throw Error::of("an event is counted {} times; allowed: an integer >= 0", count);
  const std::span<const double> added = curve(event);
  if (count == 0) return;  // not infinity times 0
  const auto times = static_cast<double>(count);
  for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += times * added[i];
  pure_ += times * pure_epsilon(event);
}

RdpEpsilon RdpAccountant::epsilon(double delta, Conversion conversion) const {
  const RdpEpsilon result = epsilon_of_rdp(orders(), total_, delta, conversion);
  if (pure_ < result.epsilon) return {pure_, kInfinity};
  return result;
}

}  // namespace fedarena
