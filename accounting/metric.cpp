#include "fedarena/accounting/metric.hpp"

#include <algorithm>

#include "accounting/checks.hpp"

namespace fedarena {
namespace {

// Infinite where an access that costs something is not metric.
double metric_sum(const std::vector<Access>& accesses) {
  double sum = 0;
  for (const Access& access : accesses) {
    double cost = kInfinity;
    if (const auto* metric = std::get_if<MetricLaplace>(&access.event)) {
      cost = 1 / metric->scale;
    } else if (const auto* parts = std::get_if<Composition>(&access.event)) {
      cost = metric_sum(parts->parts);
    } else if (is_free(access.event)) {
      cost = 0;
    }
    if (access.count > 0) sum += static_cast<double>(access.count) * cost;
  }
  return sum;
}

void add_nominal(const std::vector<Access>& accesses, double times, std::map<std::string, double>& sums) {
  for (const Access& access : accesses) {
    const double count = times * static_cast<double>(access.count);
    if (const auto* nominal = std::get_if<Nominal>(&access.event)) {
      double& sum = sums[nominal->what];
      sum = nominal->largest ? std::max(sum, nominal->value) : sum + count * nominal->value;
    }
    if (const auto* parts = std::get_if<Composition>(&access.event)) add_nominal(parts->parts, count, sums);
  }
}

}  // namespace

std::optional<double> per_distance(const std::vector<Access>& accesses) {
  const double sum = metric_sum(accesses);
  return sum > 0 && sum < kInfinity ? std::optional(sum) : std::nullopt;
}

std::map<std::string, double> nominal_sums(const std::vector<Access>& accesses) {
  std::map<std::string, double> sums;
  add_nominal(accesses, 1, sums);
  return sums;
}

}  // namespace fedarena
