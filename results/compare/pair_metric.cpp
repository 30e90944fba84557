#include "results/compare/pair_metric.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/test_metrics.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

[[noreturn]] void refuse(const FoundRun& run, const std::string& reason) {
  throw Error(Complaint{.found = fmt::format("{} has {}", run.path.string(), reason),
                        .remedy = "--metric chooses another number, --labels other rows"});
}

}  // namespace

PairMetric::PairMetric(const std::optional<RoundMetric>& metric, std::span<const RowRuns> rows)
    : from_rounds_(metric.has_value()) {
  const bool any_accuracy = std::ranges::any_of(
      rows, [](const RowRuns& row) { return row.summary().final_test_accuracy.has_value(); });
  metric_ = metric ? *metric : parse_round_metric(any_accuracy ? "accuracy" : "rmse");
}

double PairMetric::of(const FoundRun& run) const {
  if (from_rounds_) {
    const Reading reading = read_metric(metric_, *run.summary, run.path);
    if (!reading.value) refuse(run, reading.missing);
    return *reading.value;
  }
  if (metric_.quantity.name == "rmse") return root_mean_squared_error(*run.summary->final_test_loss);
  if (!run.summary->final_test_accuracy) refuse(run, "no accuracy, because its data are for regression");
  return *run.summary->final_test_accuracy;
}

std::string PairMetric::spread(double size, double beside) const {
  return is_fraction() ? percent(size) : measured_beside(beside, size);
}

std::string PairMetric::difference(double value, double beside) const {
  std::string size = spread(std::abs(value), beside);
  if (size.find_first_of("123456789i") == std::string::npos) return size;  // nothing is left to have a sign
  return (value < 0 ? "-" : "+") + size;
}

}  // namespace fedarena::results
