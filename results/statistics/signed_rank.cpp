#include "results/statistics/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace fedarena::results {
namespace {

struct Ranked {
  std::vector<std::size_t> doubled;  // twice the rank of each difference: mean ranks may be halves
  std::size_t positive = 0;          // sum of those of positive differences
  std::size_t total = 0;             // of all
};

Ranked ranks_of(std::vector<double> differences) {
  std::sort(differences.begin(), differences.end(),
            [](double left, double right) { return std::abs(left) < std::abs(right); });
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

}  // namespace

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

}  // namespace fedarena::results
