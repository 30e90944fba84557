#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/base/statistical_bounds.hpp"

namespace fedarena {

/// What was added to several answers, in units of the deviation that it ought to have: one vector an answer.
using NoiseVectors = std::vector<std::vector<double>>;

/// Mean 0, variance 1 and Kolmogorov's distance from the standard normal, all coordinates together: three
/// comparisons.
inline void expect_standard_normal(const NoiseVectors& vectors) {
  std::vector<double> values;
  for (const auto& vector : vectors) values.insert(values.end(), vector.begin(), vector.end());
  const auto count = static_cast<double>(values.size());
  EXPECT_LT(std::abs(mean_z(values, 0, 1)), kNormalBound);
  EXPECT_LT(std::abs(variance_z(values, 0, 1, 3)), kNormalBound);
  std::sort(values.begin(), values.end());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double probability = 0.5 * std::erfc(-values[i] / std::sqrt(2));
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, probability - rank / count, (rank + 1) / count - probability});
  }
  EXPECT_LT(std::sqrt(count) * distance, kKolmogorovBound);
}

/// Of products of independent standard normals, sums are normal with variance `count`: one comparison.
inline void expect_uncorrelated(double sum_of_products, double count, const std::string& what) {
  EXPECT_LT(std::abs(sum_of_products) / std::sqrt(count), kNormalBound) << what;
}

/// Covariance 0 between all pairs of coordinates, variance 1 of each: n (n + 1) / 2 comparisons.
inline void expect_identity_covariance(const NoiseVectors& vectors) {
  const auto count = static_cast<double>(vectors.size());
  for (std::size_t i = 0; i < vectors.front().size(); ++i) {
    std::vector<double> own;
    for (const auto& vector : vectors) own.push_back(vector[i]);
    EXPECT_LT(std::abs(variance_z(own, 0, 1, 3)), kNormalBound) << "coordinate " << i;
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0;
      for (const auto& vector : vectors) sum += vector[i] * vector[j];
      expect_uncorrelated(sum, count, "coordinates " + std::to_string(i) + ", " + std::to_string(j));
    }
  }
}

/// No correlation of left[k] with right[k], in any pair of their coordinates: one comparison for equal
/// coordinates, one for all pairs.
inline void expect_independent(const NoiseVectors& left, const NoiseVectors& right, const std::string& what) {
  ASSERT_EQ(left.size(), right.size());
  double equal = 0, all = 0, equal_count = 0, all_count = 0;
  for (std::size_t k = 0; k < left.size(); ++k) {
    for (std::size_t i = 0; i < left[k].size(); ++i) {
      for (std::size_t j = 0; j < right[k].size(); ++j) {
        const double product = left[k][i] * right[k][j];
        all += product;
        ++all_count;
        if (i != j) continue;
        equal += product;
        ++equal_count;
      }
    }
  }
  expect_uncorrelated(equal, equal_count, what);
  expect_uncorrelated(all, all_count, what);
}

}  // namespace fedarena
