#pragma once

#include <cstdint>
#include <vector>

#include "fedarena/base/stream.hpp"

#include "results/statistics/roc.hpp"

namespace fedarena::results {

/// Scores of examples of three classes, of which few are different, so that many are equal.
struct RocSample {
  std::vector<double> scores;
  std::vector<std::int64_t> labels;
};

inline RocSample roc_sample(Stream& stream, std::size_t size, std::uint64_t different) {
  RocSample sample;
  for (std::size_t i = 0; i < size; ++i) {
    sample.labels.push_back(static_cast<std::int64_t>(stream.below(3)));
    const std::uint64_t lift = sample.labels.back() == 1 ? 2 : 0;
    sample.scores.push_back(static_cast<double>(stream.below(different) + lift));
  }
  return sample;
}

/// Two classes of two examples each, at these ranks: class 0 has `area` 1 or 0.75.
inline TestRoc two_class_roc(bool perfect) {
  const std::vector<std::int64_t> labels = {0, 0, 1, 1};
  const std::vector<double> scores =
      perfect ? std::vector<double>{4, 3, 2, 1} : std::vector<double>{4, 2, 3, 1};
  std::vector<double> others;
  for (const double score : scores) others.push_back(-score);
  return {.examples = 4, .classes = {class_roc(scores, labels, 0), class_roc(others, labels, 1)}};
}

}  // namespace fedarena::results
