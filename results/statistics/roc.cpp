#include "results/statistics/roc.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedarena/base/error.hpp"

#include "results/statistics/statistics.hpp"

namespace fedarena::results {
namespace {

// Examples whose score is at least some threshold.
struct Corner {
  std::int64_t false_positives = 0, true_positives = 0;
};

// From (0, 0) to all examples, a corner for each different score.
std::vector<Corner> corners_of(std::span<const double> scores, std::span<const std::int64_t> labels,
                               std::int64_t positive) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t left, std::size_t right) { return scores[left] > scores[right]; });
  std::vector<Corner> corners = {{}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool tie = i > 0 && scores[order[i]] == scores[order[i - 1]];
    if (!tie) corners.push_back(corners.back());
    ++(labels[order[i]] == positive ? corners.back().true_positives : corners.back().false_positives);
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

}  // namespace

ClassRoc class_roc(std::span<const double> scores, std::span<const std::int64_t> labels,
                   std::int64_t positive) {
  FEDARENA_CHECK(scores.size(), ==, labels.size());
  ClassRoc roc;
  roc.positives = std::count(labels.begin(), labels.end(), positive);
  roc.negatives = std::ssize(labels) - roc.positives;
  const bool ordered = std::none_of(scores.begin(), scores.end(), [](double one) { return std::isnan(one); });
  if (roc.positives == 0 || roc.negatives == 0 || !ordered) return roc;
  const std::vector<Corner> corners = corners_of(scores, labels, positive);
  roc.curve = RocCurve{.area = area_below(corners, roc.positives, roc.negatives),
                       .true_positive_rates = rates_of(corners, roc.positives, roc.negatives)};
  return roc;
}

std::optional<RocCurve> macro_average(const TestRoc& roc) {
  std::vector<const RocCurve*> curves;
  for (const ClassRoc& one : roc.classes) {
    if (one.curve) curves.push_back(&*one.curve);
  }
  if (curves.empty()) return std::nullopt;
  std::vector<double> values(curves.size());
  RocCurve average;
  std::transform(curves.begin(), curves.end(), values.begin(),
                 [](const RocCurve* curve) { return curve->area; });
  average.area = mean(values);
  for (std::size_t step = 0; step < average.true_positive_rates.size(); ++step) {
    std::transform(curves.begin(), curves.end(), values.begin(),
                   [&](const RocCurve* curve) { return curve->true_positive_rates[step]; });
    average.true_positive_rates[step] = mean(values);
  }
  return average;
}

AreaBounds area_bounds(const RocRates& true_positive_rates) {
  const std::span<const double> rates = true_positive_rates;
  return {.least = mean(rates.first(rates.size() - 1)), .largest = mean(rates.subspan(1))};
}

}  // namespace fedarena::results
