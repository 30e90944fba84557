#include "results/statistics/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fedarena/base/stream.hpp"

#include "results/statistics/paired_tests.hpp"

namespace fedarena::results {
namespace {

// Of no run: the resamples belong to nobody's records.
constexpr std::uint64_t kSeed = 0x626f6f7473747270;

// The share of resamples to leave out at each end.
double expanded_tail(double count, double level) {
  const double reach = students_t_above((1 - level) / 2, count - 1) * std::sqrt(count / (count - 1));
  return std::erfc(reach / std::numbers::sqrt2) / 2;
}

}  // namespace

std::optional<Interval> bootstrap_interval(std::span<const double> differences, double level) {
  const std::size_t count = differences.size();
  const auto differs = [&](double value) { return value != differences.front(); };
  if (count < 2 || std::none_of(differences.begin(), differences.end(), differs)) return std::nullopt;
  Stream stream({.seed = kSeed});
  std::vector<double> means(kResamples);
  for (double& mean : means) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += differences[stream.below(count)];
    mean = sum / static_cast<double>(count);
  }
  std::sort(means.begin(), means.end());
  const double tail = expanded_tail(static_cast<double>(count), level);
  const auto left_out = static_cast<std::size_t>(tail * kResamples);
  return Interval{means[left_out], means[means.size() - 1 - left_out]};
}

double bootstrap_reach(std::size_t count) {
  return 1 - std::ldexp(1.0, 1 - static_cast<int>(std::min<std::size_t>(count, 1000)));
}

}  // namespace fedarena::results
