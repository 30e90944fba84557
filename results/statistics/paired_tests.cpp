#include "results/statistics/paired_tests.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena::results {
namespace {

constexpr int kBits = 40;
// Of no run: the resamples belong to nobody's records.
constexpr std::uint64_t kSeed = 0x626f6f7473747270;

double largest_size(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    FEDARENA_CHECK(std::isfinite(value), ==, true);
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

struct Ranked {
  std::vector<std::size_t> doubled;  // twice the rank of each difference: mean ranks may be halves
  std::size_t positive = 0;          // sum of those of positive differences
  std::size_t total = 0;             // of all
};

Ranked ranks_of(std::vector<double> differences) {
  std::ranges::sort(differences, [](double left, double right) { return std::abs(left) < std::abs(right); });
  Ranked ranks;
  for (std::size_t begin = 0; begin < differences.size();) {
    std::size_t end = begin;
    while (end < differences.size() && std::abs(differences[end]) == std::abs(differences[begin])) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t rank = begin + 1 + end;  // the mean of begin + 1, ..., end, doubled
      ranks.doubled.push_back(rank);
      ranks.total += rank;
      if (differences[i] > 0) ranks.positive += rank;
    }
    begin = end;
  }
  return ranks;
}

// The share of all choices of signs whose sum is at most `extreme`.
double exact_tail(const Ranked& ranks, std::size_t extreme) {
  std::vector<double> ways(ranks.total + 1);  // of choosing positive ranks with that sum; exact up to 2^53
  ways[0] = 1;
  std::size_t largest = 0;
  for (const std::size_t rank : ranks.doubled) {
    largest += rank;
    for (std::size_t sum = largest; sum >= rank; --sum) ways[sum] += ways[sum - rank];
  }
  double count = 0;
  for (std::size_t sum = 0; sum <= extreme; ++sum) count += ways[sum];
  return std::ldexp(count, -static_cast<int>(ranks.doubled.size()));
}

// The same by the normal distribution of that mean and variance, with a correction for steps of 1.
double normal_tail(const Ranked& ranks, std::size_t extreme) {
  double variance = 0;  // of the doubled sum: each rank is in it or not
  for (const std::size_t rank : ranks.doubled) variance += static_cast<double>(rank * rank) / 4;
  const double distance = static_cast<double>(ranks.total) / 2 - static_cast<double>(extreme) - 1;
  return std::erfc(std::max(0.0, distance) / std::sqrt(variance) / std::numbers::sqrt2) / 2;
}

// The share of resamples to leave out at each end.
double expanded_tail(double count, double level) {
  const double reach = students_t_above((1 - level) / 2, count - 1) * std::sqrt(count / (count - 1));
  return std::erfc(reach / std::numbers::sqrt2) / 2;
}

PairJudgement tests_of(const std::vector<double>& differences) {
  PairJudgement pair;
  if (differences.size() < 2) return pair;
  pair.t = paired_t_test(differences, 1 - kErrorRate);
  pair.ranks = signed_rank_test(differences);
  pair.p = pair.t ? pair.t->p : pair.ranks->p;
  return pair;
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

std::optional<PairedT> paired_t_test(std::span<const double> differences, double level) {
  if (differences.size() < 2) return std::nullopt;
  // Squares of huge losses would be infinite; a power of two changes no digit.
  double largest = 0;
  for (const double difference : differences) largest = std::max(largest, std::abs(difference));
  int exponent = 0;
  std::frexp(largest, &exponent);
  std::vector<double> scaled;
  for (const double difference : differences) scaled.push_back(std::ldexp(difference, -exponent));
  const double deviation = *sample_standard_deviation(scaled);
  if (deviation == 0) return std::nullopt;

  const auto count = static_cast<double>(scaled.size());
  const double error = deviation / std::sqrt(count);
  const double centre = mean(scaled);
  const double statistic = centre / error;
  const double reach = students_t_above((1 - level) / 2, count - 1) * error;
  const boost::math::students_t distribution(count - 1);
  return PairedT{
      .statistic = statistic,
      .p = std::min(1.0, 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(statistic)))),
      .interval = {std::ldexp(centre - reach, exponent), std::ldexp(centre + reach, exponent)}};
}

double students_t_above(double tail, double degrees) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), tail));
}

std::optional<Interval> bootstrap_interval(std::span<const double> differences, double level) {
  const std::size_t count = differences.size();
  const auto differs = [&](double value) { return value != differences.front(); };
  if (count < 2 || std::ranges::none_of(differences, differs)) return std::nullopt;
  Stream stream({.seed = kSeed});
  std::vector<double> means(kResamples);
  for (double& mean : means) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += differences[stream.below(count)];
    mean = sum / static_cast<double>(count);
  }
  const double tail = expanded_tail(static_cast<double>(count), level);
  const auto left_out = static_cast<std::ptrdiff_t>(tail * kResamples);
  const auto low = means.begin() + left_out, high = means.end() - 1 - left_out;
  std::nth_element(means.begin(), low, means.end());
  if (high != low) std::nth_element(low + 1, high, means.end());
  return Interval{*low, *high};
}

double bootstrap_reach(std::size_t count) {
  return 1 - std::ldexp(1.0, 1 - static_cast<int>(std::min<std::size_t>(count, 1000)));
}

SignedRank signed_rank_test(std::span<const double> differences) {
  std::vector<double> nonzero(differences.begin(), differences.end());
  std::erase(nonzero, 0.0);
  SignedRank test{.p = 1, .least = 1, .used = nonzero.size()};
  if (nonzero.empty()) return test;
  const Ranked ranks = ranks_of(std::move(nonzero));
  const std::size_t extreme = std::min(ranks.positive, ranks.total - ranks.positive);
  const double tail = test.used <= kMostExactRanks ? exact_tail(ranks, extreme) : normal_tail(ranks, extreme);
  test.p = std::min(1.0, 2 * tail);
  test.least = std::ldexp(1.0, 1 - static_cast<int>(std::min<std::size_t>(test.used, 1000)));
  return test;
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(
      order, [&](std::size_t left, std::size_t right) { return p_values[left] < p_values[right]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto remaining = static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, remaining * p_values[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

std::vector<PairJudgement> judge_pairs(std::span<const std::vector<double>> differences) {
  std::vector<PairJudgement> pairs;
  std::vector<double> p_values;
  for (const std::vector<double>& values : differences) {
    pairs.push_back(tests_of(values));
    p_values.push_back(values.size() < kLeastSeeds ? 1.0 : *pairs.back().p);
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (differences[i].size() < kLeastSeeds) continue;
    pairs[i].holm = adjusted[i];
    pairs[i].finding = adjusted[i] > kErrorRate     ? Finding::kNoDifference
                       : mean(differences[i]) > 0.0 ? Finding::kAboveZero
                                                    : Finding::kBelowZero;
  }
  return pairs;
}

}  // namespace fedarena::results
