#include "results/statistics/roc.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace fedarena::results {
namespace {

// Examples whose score is at least some threshold.
struct Corner {
  std::int64_t false_positives = 0, true_positives = 0;
};

// From (0, 0) to all examples, a corner for each different score.
std::vector<Corner> corners_of(std::span<const double> positives, std::span<const double> negatives) {
  std::vector<std::pair<double, bool>> scores;  // and whether it is a positive's
  for (const double score : positives) scores.emplace_back(score, true);
  for (const double score : negatives) scores.emplace_back(score, false);
  std::ranges::sort(scores, std::ranges::greater(), &std::pair<double, bool>::first);
  std::vector<Corner> corners = {{}};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool tie = i > 0 && scores[i].first == scores[i - 1].first;
    if (!tie) corners.push_back(corners.back());
    ++(scores[i].second ? corners.back().true_positives : corners.back().false_positives);
  }
  return corners;
}

// In whole numbers up to the one division: exact but for its rounding.
double area_below(const std::vector<Corner>& corners, std::int64_t positives, std::int64_t negatives) {
  std::int64_t doubled = 0;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const auto& [false_before, true_before] = corners[i - 1];
    const auto& [false_after, true_after] = corners[i];
    doubled += (false_after - false_before) * (true_before + true_after);
  }
  return static_cast<double>(doubled) / (2 * static_cast<double>(positives) * static_cast<double>(negatives));
}

RocRates rates_of(const std::vector<Corner>& corners, std::int64_t positives, std::int64_t negatives) {
  RocRates rates;
  std::size_t next = 0;  // the first corner to the right of the false positive rate
  for (std::int64_t step = 0; step <= kRocSteps; ++step) {
    // Whether a corner lies at a rate of the grid is a question about whole numbers.
    while (next < corners.size() && corners[next].false_positives * kRocSteps <= step * negatives) ++next;
    const Corner& left = corners[next - 1];
    double reached = static_cast<double>(left.true_positives);
    if (next < corners.size()) {
      const Corner& right = corners[next];
      const std::int64_t beyond = step * negatives - left.false_positives * kRocSteps;
      const std::int64_t width = (right.false_positives - left.false_positives) * kRocSteps;
      reached += static_cast<double>(right.true_positives - left.true_positives) *
                 (static_cast<double>(beyond) / static_cast<double>(width));
    }
    rates[static_cast<std::size_t>(step)] = reached / static_cast<double>(positives);
  }
  return rates;
}

bool have_order(std::span<const double> scores) {
  return !scores.empty() && std::ranges::none_of(scores, [](double score) { return std::isnan(score); });
}

}  // namespace

std::optional<RocCurve> roc_curve(std::span<const double> positives, std::span<const double> negatives) {
  if (!have_order(positives) || !have_order(negatives)) return std::nullopt;
  const std::vector<Corner> corners = corners_of(positives, negatives);
  return RocCurve{.area = area_below(corners, std::ssize(positives), std::ssize(negatives)),
                  .true_positive_rates = rates_of(corners, std::ssize(positives), std::ssize(negatives))};
}

}  // namespace fedarena::results
