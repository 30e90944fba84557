#pragma once

#include <optional>
#include <span>
#include <string>

#include "results/measures/round_metric.hpp"
#include "results/table/rows.hpp"

namespace fedarena::results {

/// What pairs are compared by: a number of every run, and how it is written.
class PairMetric {
 public:
  /// Without a metric: accuracy of the last round, on regression data the root mean squared error.
  PairMetric(const std::optional<RoundMetric>& metric, std::span<const RowRuns> rows);

  /// The number of a finished run, from its summary where no metric was given and from its rounds otherwise;
  /// may be nan or infinite. An Error where the run has none.
  double of(const FoundRun& run) const;

  bool higher_is_better() const { return metric_.quantity.better == Better::kMore; }
  /// Fractions are printed in percent, their differences in percentage points.
  bool is_fraction() const { return metric_.quantity.is_share(); }
  /// Not what rounds have, but what attacks on the finished run do.
  bool is_of_attacks() const { return metric_.quantity.is_of_attacks(); }
  /// As users write it: "worst-client@round=20".
  const std::string& name() const { return metric_.text; }
  /// For a legend: "Accuracy after the last round".
  std::string meaning() const { return describe(metric_); }

  /// The size of a spread of differences between results that are about `beside`: "1.31", "0.0123".
  std::string spread(double size, double beside) const;
  /// A difference with its sign, to as many digits: "+1.31", "-0.40", "0.00".
  std::string difference(double value, double beside) const;

 private:
  RoundMetric metric_;
  bool from_rounds_ = false;
};

}  // namespace fedarena::results
