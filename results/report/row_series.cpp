#include "results/report/row_series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "results/curves.hpp"
#include "results/measure.hpp"
#include "results/statistics.hpp"

namespace fedarena::results {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
using Series = std::vector<double>;

// What cannot be drawn is as good as not there.
double drawable(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? *value : kNone;
}

Series axis_of(const CurveAxis& axis, const std::vector<RoundRecord>& rounds) {
  Series values;
  std::optional<double> sum = 0;  // none once a round did not say
  for (const RoundRecord& round : rounds) {
    std::optional<double> value = axis.of_round(round);
    if (axis.summed) value = sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
    values.push_back(drawable(value));
  }
  return values;
}

Series measure_of(Measure measure, const std::vector<RoundRecord>& rounds) {
  const double scale = is_share(measure) ? 100 : 1;
  Series values;
  for (const RoundRecord& round : rounds) values.push_back(scale * drawable(value_of(measure, round)));
  return values;
}

// The values of all seeds in one round; empty where one has none.
Series of_round(const std::vector<Series>& seeds, std::size_t position) {
  Series values;
  for (const Series& seed : seeds) {
    if (std::isnan(seed[position])) return {};
    values.push_back(seed[position]);
  }
  return values;
}

// Positions, evenly chosen where there are too many.
std::vector<std::size_t> kept(std::vector<std::size_t> positions) {
  const std::size_t count = positions.size();
  if (count <= kMostRounds) return positions;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 1; i <= kMostRounds; ++i) chosen.push_back(positions[i * count / kMostRounds - 1]);
  return chosen;
}

Series axis_over_seeds(const CurveAxis& axis, const RowRounds& seeds,
                       std::span<const std::size_t> positions) {
  std::vector<Series> values;
  for (const auto& rounds : seeds) values.push_back(axis_of(axis, rounds));
  Series series;
  for (const std::size_t position : positions) {
    const Series round = of_round(values, position);
    series.push_back(round.empty()  ? kNone
                     : axis.largest ? *std::max_element(round.begin(), round.end())
                                    : mean(round));
  }
  return series;
}

RowSeries::Values measure_over_seeds(const std::vector<Series>& seeds,
                                     std::span<const std::size_t> positions) {
  RowSeries::Values values;
  for (const std::size_t position : positions) {
    const Series round = of_round(seeds, position);
    values.mean.push_back(round.empty() ? kNone : mean(round));
    if (seeds.size() < 2) continue;
    values.std.push_back(round.empty() ? kNone : *sample_standard_deviation(round));
  }
  return values;
}

}  // namespace

RowSeries row_series(const RowRounds& seeds) {
  std::size_t rounds = std::numeric_limits<std::size_t>::max();
  for (const auto& seed : seeds) rounds = std::min(rounds, seed.size());
  std::vector<std::vector<Series>> measures;
  for (const std::string& name : measure_names()) {
    std::vector<Series>& of_seeds = measures.emplace_back();
    for (const auto& seed : seeds) of_seeds.push_back(measure_of(*find_measure(name), seed));
  }
  std::vector<std::size_t> positions;
  for (std::size_t position = 0; position < rounds; ++position) {
    const bool measured = std::ranges::any_of(
        measures, [&](const std::vector<Series>& of_seeds) { return !of_round(of_seeds, position).empty(); });
    if (measured) positions.push_back(position);
  }
  positions = kept(std::move(positions));
  RowSeries series;
  for (const std::size_t position : positions) series.rounds.push_back(seeds.front()[position].round);
  for (const CurveAxis& axis : curve_axes()) series.x.push_back(axis_over_seeds(axis, seeds, positions));
  for (const auto& of_seeds : measures) series.y.push_back(measure_over_seeds(of_seeds, positions));
  return series;
}

}  // namespace fedarena::results
