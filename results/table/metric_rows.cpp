#include "results/table/metric_rows.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

// Which seeds have no value, by reason.
using Missing = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

void add(Missing& missing, const std::string& reason, std::int64_t seed) {
  for (auto& [known, seeds] : missing) {
    if (known == reason) return seeds.push_back(seed);
  }
  missing.push_back({reason, {seed}});
}

// Reads every seed of a row; the row has a result when all of them have one.
Missing read_row(const RoundMetric& metric, Row& row) {
  Missing missing;
  std::vector<double> values;
  for (SeedResult& seed : row.seeds) {
    const std::vector<RoundRecord> rounds = RunDirectory::open(seed.path).rounds();
    const Reading reading = read_metric(metric, rounds);
    seed.metric = reading.value;
    seed.metric_round = reading.round;
    if (reading.value) {
      values.push_back(*reading.value);
    } else {
      add(missing, reading.missing, seed.seed);
    }
  }
  row.result.reset();
  if (missing.empty()) {
    row.result = Result{spread_of(values), is_share(metric.quantity), better(metric.quantity)};
  }
  return missing;
}

}  // namespace

std::vector<std::string> read_metric(const RoundMetric& metric, std::vector<Row>& rows,
                                     const std::function<std::string(const Row&)>& name) {
  std::vector<std::string> notes;
  for (Row& row : rows) {
    for (const auto& [reason, seeds] : read_row(metric, row)) {
      notes.push_back(fmt::format("{}: {} has no value, because seed{} {} {} {}", name(row), metric.text,
                                  seeds.size() == 1 ? "" : "s", fmt::join(seeds, ", "),
                                  seeds.size() == 1 ? "has" : "have", reason));
    }
  }
  return notes;
}

}  // namespace fedarena::results
