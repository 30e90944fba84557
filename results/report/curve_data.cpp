#include "results/report/curve_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "results/measures/quantity.hpp"
#include "results/plot/curve_script.hpp"
#include "results/plot/curves.hpp"
#include "results/record/json_fields.hpp"
#include "results/statistics/statistics.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
using Series = std::vector<double>;

// Positions, evenly chosen where there are too many.
std::vector<std::size_t> kept(std::vector<std::size_t> positions) {
  const std::size_t count = positions.size();
  if (count <= kMostRounds) return positions;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 1; i <= kMostRounds; ++i) chosen.push_back(positions[i * count / kMostRounds - 1]);
  return chosen;
}

Series axis_over_seeds(const CurveAxis& axis, const SeedClaims& claims, const RowRounds& seeds,
                       std::span<const std::size_t> positions) {
  std::vector<DrawnValues> values;
  for (std::size_t i = 0; i < seeds.size(); ++i) values.push_back(axis_values(axis, claims[i], seeds[i]));
  Series series;
  for (const std::size_t position : positions) {
    const Series round = of_round(values, position);
    series.push_back(round.empty() ? kNone : over_seeds(axis, round));
  }
  return series;
}

struct Measure {
  double scale = 1;
  std::vector<DrawnValues> seeds = {};
};

RowSeries::Values measure_over_seeds(const Measure& measure, std::span<const std::size_t> positions) {
  RowSeries::Values values;
  for (const std::size_t position : positions) {
    const Series round = of_round(measure.seeds, position);
    values.mean.push_back(round.empty() ? kNone : measure.scale * mean(round));
    if (measure.seeds.size() < 2) continue;
    values.std.push_back(round.empty() ? kNone : measure.scale * *sample_standard_deviation(round));
  }
  return values;
}

// More than a screen can show, and what tooltips say. Shares are printed with two decimals, for which a half
// must be known to be one.
constexpr int kDigits = 5;
constexpr int kDigitsOfShares = 9;
constexpr int kDigitsOfRounds = 15;

// Without signs and zeros that an exponent does not need: 1e+06 is 1e6.
std::string number_json(double number, int digits) {
  if (std::isnan(number)) return "null";
  std::string text = short_exponent(fmt::format("{:.{}g}", number, digits));
  std::erase(text, '+');
  return text;
}

// An axis as the page has it, bounds rounded up.
Series shown(const CurveAxis& axis, Series positions) {
  if (axis.unit != NumberUnit::kEpsilon) return positions;
  for (double& position : positions) position = rounded_up(position, kDigits);
  return positions;
}

bool has_numbers(std::span<const double> numbers) {
  return std::ranges::any_of(numbers, [](double number) { return !std::isnan(number); });
}

bool is_linear(std::span<const double> numbers, int digits) {
  if (numbers.size() < 3 || std::isnan(numbers[0]) || std::isnan(numbers[1])) return false;
  const double step = numbers[1] - numbers[0];
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double expected = numbers[0] + static_cast<double>(i) * step;
    if (number_json(numbers[i], digits) != number_json(expected, digits)) return false;
  }
  return true;
}

// Every list once, in the order in which they came.
class Lists {
 public:
  // The position of the list.
  std::size_t add(std::string list) {
    const auto [found, is_new] = positions_.try_emplace(std::move(list), lists_.size());
    if (is_new) lists_.push_back(found->first);
    return found->second;
  }
  std::string json() const { return fmt::format("[{}]", fmt::join(lists_, ",")); }

 private:
  std::unordered_map<std::string, std::size_t> positions_;
  std::vector<std::string_view> lists_;  // keys of the map, which stay where they are
};

Json add_values(Lists& lists, const RowSeries::Values& values, int digits) {
  Json both = {{"mean", lists.add(numbers_json(values.mean, digits))}};
  if (!values.std.empty()) both["std"] = lists.add(numbers_json(values.std, digits));
  return both;
}

Json axes_json() {
  Json axes = Json::array();
  for (const CurveAxis& axis : curve_axes()) axes.push_back({{"name", axis.name}, {"heading", axis.heading}});
  return axes;
}

Json measures_json() {
  Json measures = Json::array();
  for (const std::string& name : measure_names()) {
    const Quantity measure = *find_quantity(name);
    measures.push_back({{"name", name}, {"heading", measure.heading}, {"share", measure.is_share()}});
  }
  return measures;
}

// Rows of one setting stand together.
Json panels_json(const Table& table) {
  const SettingNames titles = setting_names(table);
  Json panels = Json::array();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (i == 0 || !(table.rows[i].setting == table.rows[i - 1].setting)) {
      panels.push_back({{"title", titles.title_of(table.rows[i].setting)}, {"rows", Json::array()}});
    }
    panels.back()["rows"].push_back(i);
  }
  return panels;
}

}  // namespace

SeedClaims claims_of(const RowRuns& row) {
  SeedClaims claims;
  for (const FoundRun* run : row.runs) claims.push_back(run->summary->privacy);
  return claims;
}

RowSeries row_series(const RowRounds& seeds, const SeedClaims& claims) {
  FEDARENA_CHECK(claims.size(), ==, seeds.size());
  std::size_t rounds = std::numeric_limits<std::size_t>::max();
  for (const auto& seed : seeds) rounds = std::min(rounds, seed.size());
  std::vector<Measure> measures;
  const auto add = [&](const Quantity& quantity) {
    Measure& measure = measures.emplace_back();
    measure.scale = shown_scale(quantity);
    for (std::size_t i = 0; i < seeds.size(); ++i)
      measure.seeds.push_back(quantity_values(quantity, claims[i], seeds[i]));
  };
  const std::vector<std::string> own = measure_names();
  const std::vector<std::string> observed = observed_names(seeds.front());  // others lack the first seed
  for (const std::string& name : own) add(*find_quantity(name));
  for (const std::string& name : observed) add(observed_quantity(name));
  std::vector<std::size_t> positions;
  for (std::size_t position = 0; position < rounds; ++position) {
    const bool measured = std::ranges::any_of(
        measures, [&](const Measure& measure) { return !of_round(measure.seeds, position).empty(); });
    if (measured) positions.push_back(position);
  }
  positions = kept(std::move(positions));
  RowSeries series;
  for (const std::size_t position : positions) series.rounds.push_back(seeds.front()[position].round);
  for (const CurveAxis& axis : curve_axes())
    series.x.push_back(axis_over_seeds(axis, claims, seeds, positions));
  for (std::size_t i = 0; i < own.size(); ++i) series.y.push_back(measure_over_seeds(measures[i], positions));
  for (std::size_t i = 0; i < observed.size(); ++i) {
    series.observed.emplace_back(observed[i], measure_over_seeds(measures[own.size() + i], positions));
  }
  return series;
}

std::string numbers_json(std::span<const double> numbers, int digits) {
  if (is_linear(numbers, digits)) {
    return fmt::format("{{\"from\":{},\"step\":{},\"count\":{}}}", numbers[0], numbers[1] - numbers[0],
                       numbers.size());
  }
  std::string text = "[";
  for (const double number : numbers) {
    if (text.size() > 1) text += ',';
    text += number_json(number, digits);
  }
  return text + "]";
}

std::string series_json(const RowSeries& series) {
  const std::vector<double> rounds(series.rounds.begin(), series.rounds.end());
  Lists lists;
  Json positions = {{"rounds", lists.add(numbers_json(rounds, kDigitsOfRounds))},
                    {"x", Json::object()},
                    {"y", Json::object()}};
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!has_numbers(series.x[i])) continue;
    positions["x"][std::to_string(i)] = lists.add(numbers_json(shown(curve_axes()[i], series.x[i]), kDigits));
  }
  const std::vector<std::string> measures = measure_names();
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (!has_numbers(series.y[i].mean)) continue;
    const int digits = find_quantity(measures[i])->is_share() ? kDigitsOfShares : kDigits;
    positions["y"][std::to_string(i)] = add_values(lists, series.y[i], digits);
  }
  for (const auto& [name, values] : series.observed)
    positions["observed"][name] = add_values(lists, values, kDigits);
  return fmt::format("{{\"lists\":{},\"positions\":{}}}", lists.json(), json_text(positions, -1));
}

std::string curve_data(const Table& table, std::span<const RowParts> parts) {
  FEDARENA_CHECK(parts.size(), ==, table.rows.size());
  const Json common = {{"axes", axes_json()},         {"measures", measures_json()},
                       {"colours", kCurveColours},    {"dashes", kCurveDashes},
                       {"marks", kCurveMarks},        {"marksOfCurve", kMarksOfCurve},
                       {"panels", panels_json(table)}};
  std::string text = json_text(common, -1);
  text.pop_back();  // the brace that ends it
  text += ",\"rows\":[";
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string name =
        curve_name(table.rows[i]) + curve_mark(table.rows[i]);  // epsilon is among the axes
    auto look = std::ranges::find(names, name);
    if (look == names.end()) look = names.insert(names.end(), name);
    Json row = {{"name", name}, {"seeds", table.rows[i].seeds.size()}, {"look", look - names.begin()}};
    if (table.rows[i].best) row["best"] = true;
    std::string row_text = json_text(row, -1);
    row_text.pop_back();
    text += fmt::format("{}{},\"series\":{}}}", i == 0 ? "" : ",\n", row_text, parts[i].series);
  }
  return text + "]}";
}

}  // namespace fedarena::results
