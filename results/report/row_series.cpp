#include "results/report/row_series.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "results/measures/quantity.hpp"
#include "results/plot/curves.hpp"
#include "results/statistics/statistics.hpp"

namespace fedarena::results {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
using Series = std::vector<double>;

// The values of all seeds in one round; empty where one has none.
Series of_round(const std::vector<DrawnValues>& seeds, std::size_t position) {
  Series values;
  for (const DrawnValues& seed : seeds) {
    if (!seed[position]) return {};
    values.push_back(*seed[position]);
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
  std::vector<DrawnValues> values;
  for (const auto& rounds : seeds) values.push_back(axis_values(axis, rounds));
  Series series;
  for (const std::size_t position : positions) {
    const Series round = of_round(values, position);
    series.push_back(round.empty() ? kNone : over_seeds(axis, round));
  }
  return series;
}

RowSeries::Values measure_over_seeds(const std::vector<DrawnValues>& seeds,
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
  std::vector<std::vector<DrawnValues>> measures;
  const auto add = [&](const Quantity& quantity) {
    std::vector<DrawnValues>& of_seeds = measures.emplace_back();
    for (const auto& seed : seeds) of_seeds.push_back(quantity_values(quantity, seed));
  };
  const std::vector<std::string> own = measure_names();
  const std::vector<std::string> observed = observed_names(seeds.front());  // others lack the first seed
  for (const std::string& name : own) add(*find_quantity(name));
  for (const std::string& name : observed) add(Quantity{.observed = name});
  std::vector<std::size_t> positions;
  for (std::size_t position = 0; position < rounds; ++position) {
    const bool measured = std::ranges::any_of(measures, [&](const std::vector<DrawnValues>& of_seeds) {
      return !of_round(of_seeds, position).empty();
    });
    if (measured) positions.push_back(position);
  }
  positions = kept(std::move(positions));
  RowSeries series;
  for (const std::size_t position : positions) series.rounds.push_back(seeds.front()[position].round);
  for (const CurveAxis& axis : curve_axes()) series.x.push_back(axis_over_seeds(axis, seeds, positions));
  for (std::size_t i = 0; i < own.size(); ++i) series.y.push_back(measure_over_seeds(measures[i], positions));
  for (std::size_t i = 0; i < observed.size(); ++i) {
    series.observed.emplace_back(observed[i], measure_over_seeds(measures[own.size() + i], positions));
  }
  return series;
}

}  // namespace fedarena::results
