#pragma once

#include <optional>
#include <span>

#include "results/statistics/statistics.hpp"

namespace fedarena::results {

/// How often differences are drawn again.
inline constexpr int kResamples = 10000;

/// The bootstrap interval of the mean of finite differences: percentiles of the means of kResamples
/// resamples, expanded for small numbers as Hesterberg (The American Statistician 69, 2015) proposes, who
/// takes from Student's t how far out they lie. No bootstrap reaches beyond the least and the largest
/// difference: see bootstrap_reach(). The same bits on every machine. None for fewer than two differences,
/// and for equal ones.
std::optional<Interval> bootstrap_interval(std::span<const double> differences, double level);

/// The most that any interval between the least and the largest of `count` differences can hold the centre of
/// a symmetric distribution with: 1 - 2^(1 - count), 75 % for three.
double bootstrap_reach(std::size_t count);

}  // namespace fedarena::results
