#include "results/plot/curves.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"

#include "results/plot/curve_script.hpp"
#include "results/record/claim_text.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/run_directory.hpp"
#include "results/statistics/statistics.hpp"
#include "results/table/table.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// Squares, which deviations are made of, stay finite up to here; gnuplot's axes end near 9e307.
constexpr double kLargestDrawn = 1e150;

bool is_drawable(double value) { return std::abs(value) <= kLargestDrawn; }

// What cannot be drawn is as good as not there: an infinite epsilon, a loss that diverged.
DrawnValues drawable(std::vector<std::optional<double>> values) {
  for (std::optional<double>& value : values) {
    if (value && !is_drawable(*value)) value.reset();
  }
  return values;
}

Curve curve_of(const Row& row, const CurveAxis& x, const Quantity& y) {
  const bool over_epsilon = x.unit == NumberUnit::kEpsilon;
  Curve curve{.name = curve_name(row), .mark = over_epsilon ? curve_mark(row) : ""};
  std::vector<DrawnValues> over, measured;
  for (const SeedResult& seed : row.seeds) {
    const std::vector<RoundRecord> rounds = RunDirectory::open(seed.path).rounds();
    curve.seeds.push_back(seed.seed());
    over.push_back(axis_values(x, seed.summary.privacy, rounds));
    measured.push_back(quantity_values(y, seed.summary.privacy, rounds));
  }
  const std::size_t rounds = std::ranges::min_element(over, {}, &DrawnValues::size)->size();
  for (std::size_t i = 0; i < rounds; ++i) {
    const std::vector<double> places = of_round(over, i), values = of_round(measured, i);
    if (places.empty() || values.empty()) continue;
    std::optional<double> std = sample_standard_deviation(values);
    if (std) *std *= shown_scale(y);
    curve.points.push_back({.round = static_cast<std::int64_t>(i) + 1,
                            .x = over_seeds(x, places),
                            .y = shown_scale(y) * mean(values),
                            .std = std});
  }
  return curve;
}

// Whether some seed went on after another one had ended.
bool ends_before_result(const Row& row) {
  const auto [least, most] = std::ranges::minmax_element(row.seeds, {}, &SeedResult::rounds_done);
  return least->rounds_done() < most->rounds_done();
}

bool has_axis(const std::vector<Row>& rows, const CurveAxis& x) {
  return std::ranges::any_of(rows, [&](const Row& row) {
    return std::ranges::any_of(row.seeds, [&](const SeedResult& seed) {
      const DrawnValues values = axis_values(x, seed.summary.privacy, RunDirectory::open(seed.path).rounds());
      return std::ranges::any_of(values, [](const auto& value) { return value.has_value(); });
    });
  });
}

std::string missing(const Row& row, const CurveAxis& x, const Quantity& y) {
  if (is_secret(x.draws, row.privacy) || is_secret(y.entry->draws, row.privacy))
    return fmt::format("no {} because of {}", is_secret(x.draws, row.privacy) ? x.name : y.name,
                       kSecretSizes);
  const bool diverged = std::ranges::any_of(row.seeds, [&](const SeedResult& seed) {
    const auto values = values_of(y, seed.summary.privacy, RunDirectory::open(seed.path).rounds());
    return std::ranges::any_of(values, [](const auto& value) { return value && !is_drawable(*value); });
  });
  return fmt::format("no round in which every seed has both {} and {}{}", x.name, y.name,
                     diverged ? " (not finite, or too large to be drawn, in some)" : "");
}

std::vector<std::string> names_of(const Curves& curves) {
  std::vector<std::string> names;
  for (const CurvePanel& panel : curves.panels) {
    for (const Curve& curve : panel.curves) {
      if (!contains(names, curve.marked_name())) names.push_back(curve.marked_name());
    }
  }
  return names;
}

void check_logarithms(const Curves& curves, const CurveStyle& style) {
  for (const CurvePanel& panel : curves.panels) {
    for (const Curve& curve : panel.curves) {
      for (const CurvePoint& point : curve.points) {
        const bool x_fits = !style.log_x || point.x > 0;
        if (x_fits && (!style.log_y || point.y > 0)) continue;
        throw Error(Complaint{
            .found = fmt::format("{} in round {}: a logarithmic axis has no place for {} {}", curve.name,
                                 point.round, x_fits ? curves.y.name : std::string(curves.x.name),
                                 short_number(x_fits ? point.y : point.x))});
      }
    }
  }
}

// Where x goes in whole steps (rounds), or has a single place, by which gnuplot would write digits that
// nobody can tell apart.
std::string tics_of(const CurvePanel& panel) {
  std::vector<double> places;
  for (const Curve& curve : panel.curves) {
    for (const CurvePoint& point : curve.points) places.push_back(point.x);
  }
  if (places.empty()) return kAnyTics;
  const auto [least, most] = std::ranges::minmax(places);
  if (least == most) return fmt::format("set xtics ({})\n", exact_number(least));
  if (std::ranges::any_of(places, [](double x) { return x != std::floor(x); })) return kAnyTics;
  return whole_tics(least, most);
}

double upper_end(const CurvePoint& point) { return point.y + point.std.value_or(0); }

// A band that reaches below zero has no end on a logarithmic axis; the point's own distance upwards, mirrored
// there, stays in the picture.
double lower_end(const CurvePoint& point, bool log_y) {
  const double low = point.y - point.std.value_or(0);
  return log_y && low <= 0 ? point.y * point.y / upper_end(point) : low;
}

// x, y, lower and upper end of the band.
std::string data_block(const std::string& name, const Curve& curve, bool log_y) {
  std::string text = fmt::format("{} << END\n", name);
  for (const CurvePoint& point : curve.points)
    text += fmt::format("{} {} {} {}\n", point.x, point.y, lower_end(point, log_y), upper_end(point));
  return text + "END\n";
}

// What the panel's axes need to be told where they are logarithmic.
std::string log_axes(const CurvePanel& panel, const CurveStyle& style) {
  std::vector<double> x, y;
  for (const Curve& curve : panel.curves) {
    for (const CurvePoint& point : curve.points) {
      x.push_back(point.x);
      y.insert(y.end(), {lower_end(point, true), upper_end(point)});
    }
  }
  std::string lines;
  if (style.log_x && !x.empty()) lines += log_axis('x', std::ranges::min(x), std::ranges::max(x));
  if (style.log_y && !y.empty()) lines += log_axis('y', std::ranges::min(y), std::ranges::max(y));
  return lines;
}

// What a panel needs in height beyond the few lines of a legend for which it has room: gnuplot takes the
// others from the curves. In pixels, by the size of its letters and of the samples beside names.
int room_for_legend(const Curves& curves, int width) {
  constexpr std::size_t kLetter = 11, kSample = 130, kLine = 26, kFewLines = 4;
  std::size_t lines = 0;
  for (const CurvePanel& panel : curves.panels) {
    std::size_t longest = 0;
    for (const Curve& curve : panel.curves) longest = std::max(longest, display_width(curve.marked_name()));
    // No wider than the axis.
    const std::size_t beside =
        std::max<std::size_t>(1, static_cast<std::size_t>(width) * 4 / 5 / (kLetter * longest + kSample));
    lines = std::max(lines, (panel.curves.size() + beside - 1) / beside);
  }
  return static_cast<int>(kLine * (std::max(lines, kFewLines) - kFewLines));
}

}  // namespace

std::string curve_name(const Row& row) { return row_name(row) + (row.control ? " (control)" : ""); }

std::string curve_mark(const Row& row) {
  return row.privacy ? assumption_mark(*row.privacy, row.privacy->rdp) : "";
}

Curves make_curves(std::span<const FoundRun> runs, const CurveAxis& x, const Quantity& y) {
  const Table table = make_table(runs);
  if (table.rows.empty()) {
    const std::string why = table.notes.empty() ? "" : fmt::format("{}.\n  ", table.notes.front());
    throw Error(Complaint{.found = "no run is finished, so there is nothing to draw",
                          .remedy = why + "`fedarena list` shows how far runs are."});
  }
  Curves curves{.x = x, .y = y, .title = caption(table), .notes = table.notes};
  const SettingNames titles = setting_names(table);
  const Setting* last = nullptr;  // rows of one setting stand together
  for (const Row& row : table.rows) {
    Curve curve = curve_of(row, x, y);
    if (curve.points.empty()) {
      curves.notes.push_back(fmt::format("{}: {}; not drawn", titles.of(row), missing(row, x, y)));
      continue;
    }
    if (ends_before_result(row))
      curves.notes.push_back(
          fmt::format("{}: its seeds ended after rounds {}; the curve ends where the first of them did, "
                      "before the result of the table",
                      titles.of(row), rounds_done(row)));
    if (last == nullptr || !(*last == row.setting)) {
      curves.panels.push_back({.title = titles.title_of(row.setting)});
      last = &row.setting;
    }
    curves.panels.back().curves.push_back(std::move(curve));
  }
  if (curves.panels.empty()) {
    // Advice on y helps where x is there.
    const std::string_view setting = has_axis(table.rows, x) ? y.entry->recorded_with : "";
    throw Error(Complaint{
        .found = fmt::format("no row can be drawn: {}", missing(table.rows.front(), x, y)),
        .remedy =
            fmt::format("{}`fedarena plot --help` lists what --x and --y may be.",
                        setting.empty() ? "" : fmt::format("Rounds record {} with {}. ", y.name, setting))});
  }
  return curves;
}

Quantity default_quantity(std::span<const FoundRun> runs) {
  const auto finished = [](const FoundRun& run) { return run.summary && run.summary->state == kFinished; };
  const bool any_accuracy = std::ranges::any_of(runs, [&](const FoundRun& run) {
    return finished(run) && run.summary->final_test_accuracy.has_value();
  });
  return known_quantity(any_accuracy || std::ranges::none_of(runs, finished) ? "accuracy" : "rmse");
}

DrawnValues axis_values(const CurveAxis& axis, const std::optional<PrivacyClaim>& claim,
                        std::span<const RoundRecord> rounds) {
  DrawnValues values = values_of(axis, claim, rounds);
  // What data ended is charged for more than its rounds.
  if (axis.claim != nullptr && claim && !values.empty()) {
    const std::optional<Claim>& whole = (*claim).*axis.claim;
    values.back() = whole ? whole->epsilon : std::nullopt;
  }
  return drawable(std::move(values));
}

double shown_scale(const Quantity& quantity) { return quantity.is_share() ? 100 : 1; }

DrawnValues quantity_values(const Quantity& quantity, const std::optional<PrivacyClaim>& claim,
                            std::span<const RoundRecord> rounds) {
  return drawable(values_of(quantity, claim, rounds));
}

std::vector<double> of_round(std::span<const DrawnValues> seeds, std::size_t position) {
  std::vector<double> values;
  for (const DrawnValues& seed : seeds) {
    if (!seed[position]) return {};
    values.push_back(*seed[position]);
  }
  return values;
}

double over_seeds(const CurveAxis& axis, std::span<const double> positions) {
  return axis.unit == NumberUnit::kEpsilon ? std::ranges::max(positions) : mean(positions);
}

std::string curves_json(const Curves& curves) {
  Json object = {{"x", curves.x.name}, {"y", curves.y.name}, {"title", curves.title}};
  object["panels"] = Json::array();
  for (const CurvePanel& panel : curves.panels) {
    Json lines = Json::array();
    for (const Curve& curve : panel.curves) {
      Json points = Json::array();
      for (const CurvePoint& point : curve.points) {
        points.push_back({{"round", point.round},
                          {"x", point.x},
                          {"y", point.y},
                          {"std", point.std ? Json(*point.std) : Json(nullptr)}});
      }
      lines.push_back({{"name", curve.name},
                       {"assumed", !curve.mark.empty()},
                       {"seeds", curve.seeds},
                       {"points", std::move(points)}});
    }
    object["panels"].push_back({{"title", panel.title}, {"curves", std::move(lines)}});
  }
  object["notes"] = curves.notes;
  return json_text(object, -1) + "\n";
}

std::string curves_script(const Curves& curves, const CurveStyle& style, Terminal terminal) {
  const std::vector<std::string> names = names_of(curves);
  const std::size_t panels = curves.panels.size();
  check_distinct(names.size(), kMostCurves, "curves");
  check_distinct(panels, kMostPanels, "panels");
  check_logarithms(curves, style);
  const auto [columns, rows] = panel_grid(panels);
  const int width = columns == 1 ? 1200 : 900;
  const int height = (rows == 1 ? 800 : 720) + room_for_legend(curves, width);
  std::string script = terminal_lines(terminal, width * columns, height * rows);
  script += axes_lines(std::string(curves.x.heading), curves.y.heading, terminal);
  // Bands may leave what a percentage can be.
  if (curves.y.is_share() && !style.log_y) script += "set yrange [0<*:*<100]\n";
  if (panels > 1) script += fmt::format("set multiplot layout {},{}\n", rows, columns);
  int block = 0;
  for (const CurvePanel& panel : curves.panels) {
    const std::string& title = panels == 1 ? curves.title : panel.title;
    // All bands first: none may dim a line.
    std::vector<std::string> layers, lines;
    for (const Curve& curve : panel.curves) {
      const std::string data = fmt::format("$curve{}", ++block);
      script += data_block(data, curve, style.log_y);
      const auto number = std::ranges::find(names, curve.marked_name()) - names.begin();
      const CurveLook look = look_of(static_cast<std::size_t>(number));
      if (curve.seeds.size() > 1) layers.push_back(spread_layer(data, look, curve.points.size()));
      lines.push_back(line_layer(data, look, curve.points.size(), curve.marked_name(), terminal));
    }
    layers.insert(layers.end(), lines.begin(), lines.end());
    if (!style.log_x) script += tics_of(panel);
    script += log_axes(panel, style);
    script += title_line(title, panels, terminal) + fmt::format("plot \\\n{}\n", fmt::join(layers, ", \\\n"));
  }
  if (panels > 1) script += "unset multiplot\n";
  return script;
}

}  // namespace fedarena::results
