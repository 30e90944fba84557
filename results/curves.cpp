#include "results/curves.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/regression_error.hpp"
#include "results/run_directory.hpp"
#include "results/statistics.hpp"
#include "results/table.hpp"

namespace fedarena::results {
namespace {

using Value = std::optional<double>;

constexpr double kMiB = 1024.0 * 1024;

Value in_percent(Value fraction) { return fraction ? Value(100 * *fraction) : std::nullopt; }

Value of_clients(const RoundRecord& round, double ClientMetrics::*member) {
  return round.per_client ? in_percent((*round.per_client).*member) : std::nullopt;
}

// What cannot be drawn is as good as not there: an infinite epsilon, a loss that diverged.
Value drawable(Value value) { return value && std::isfinite(*value) ? value : std::nullopt; }

const std::array<CurveAxis, 7> kXAxes = {{
    {"round", "round", [](const RoundRecord& round) { return Value(round.round); }},
    {"epsilon", "epsilon (RDP, upper bound)", [](const RoundRecord& round) { return round.epsilon; }, false,
     OverSeeds::kLargest},
    {"bytes", "bytes sent, up and down (MiB)",
     [](const RoundRecord& round) {
       return Value(static_cast<double>(round.uplink_bytes + round.downlink_bytes) / kMiB);
     },
     true},
    {"uplink", "bytes sent up (MiB)",
     [](const RoundRecord& round) { return Value(static_cast<double>(round.uplink_bytes) / kMiB); }, true},
    {"downlink", "bytes sent down (MiB)",
     [](const RoundRecord& round) { return Value(static_cast<double>(round.downlink_bytes) / kMiB); }, true},
    {"seconds", "training time (s)", [](const RoundRecord& round) { return Value(round.train_seconds); },
     true},
    {"gradients", "gradients of examples", [](const RoundRecord& round) { return Value(round.examples); },
     true},
}};

const std::array<CurveAxis, 8> kYAxes = {{
    {"accuracy", "test accuracy (%)",
     [](const RoundRecord& round) { return in_percent(round.test_accuracy); }},
    {"loss", "test loss", [](const RoundRecord& round) { return round.test_loss; }},
    {"rmse", "test RMSE",
     [](const RoundRecord& round) {
       return round.test_loss && !round.test_accuracy ? Value(root_mean_squared_error(*round.test_loss))
                                                      : std::nullopt;
     }},
    {"macro-f1", "macro F1 over classes (%)",
     [](const RoundRecord& round) {
       return round.classes ? in_percent(round.classes->macro_f1) : std::nullopt;
     }},
    {"validation", "validation accuracy (%)",
     [](const RoundRecord& round) { return in_percent(round.validation_accuracy); }},
    {"clients", "test accuracy, mean over clients (%)",
     [](const RoundRecord& round) { return of_clients(round, &ClientMetrics::accuracy_mean); }},
    {"worst-client", "test accuracy of the worst client (%)",
     [](const RoundRecord& round) { return of_clients(round, &ClientMetrics::accuracy_worst); }},
    {"epsilon", "epsilon (RDP, upper bound)", [](const RoundRecord& round) { return round.epsilon; }, false,
     OverSeeds::kLargest},
}};

// By round, where a run has both values.
std::map<std::int64_t, std::pair<double, double>> values_of(const SeedResult& seed, const CurveAxis& x,
                                                            const CurveAxis& y) {
  std::map<std::int64_t, std::pair<double, double>> values;
  double sum_x = 0, sum_y = 0;
  for (const RoundRecord& round : RunDirectory::open(seed.path).rounds()) {
    const auto at = [&](const CurveAxis& axis, double& sum) {
      const Value value = axis.of_round(round);
      if (!axis.summed) return value;
      sum += value.value_or(0);
      return Value(sum);
    };
    const Value over = drawable(at(x, sum_x)), value = drawable(at(y, sum_y));
    if (over && value) values.emplace(round.round, std::pair(*over, *value));
  }
  return values;
}

double joint(const std::vector<double>& values, OverSeeds how) {
  return how == OverSeeds::kMean ? mean(values) : *std::max_element(values.begin(), values.end());
}

Curve curve_of(const Row& row, const CurveAxis& x, const CurveAxis& y) {
  Curve curve{.name = row_name(row), .seeds = {}, .points = {}};
  std::map<std::int64_t, std::pair<std::vector<double>, std::vector<double>>> rounds;
  for (const SeedResult& seed : row.seeds) {
    curve.seeds.push_back(seed.seed);
    for (const auto& [round, values] : values_of(seed, x, y)) {
      rounds[round].first.push_back(values.first);
      rounds[round].second.push_back(values.second);
    }
  }
  for (const auto& [round, values] : rounds) {
    const auto& [over, value] = values;
    if (over.size() < row.seeds.size()) continue;
    curve.points.push_back(
        {.round = round,
         .x = joint(over, x.over_seeds),
         .y = joint(value, y.over_seeds),
         .std = y.over_seeds == OverSeeds::kMean ? sample_standard_deviation(value) : std::nullopt});
  }
  return curve;
}

// In what a setting differs from those of other rows.
std::string title_of(const Table& table, const Setting& setting) {
  std::string title;
  const auto add = [&](const std::string& part) { title += (title.empty() ? "" : ", ") + part; };
  for (const SettingPart& part : kSettingParts) {
    if (varies(table, part)) add(fmt::format("{} {}", part.name, setting.*part.member));
  }
  const std::vector<std::string> columns = swept_keys(table);
  for (const auto& [path, value] : setting.sweep) {
    if (std::find(columns.begin(), columns.end(), path) != columns.end()) {
      add(fmt::format("{}={}", path, value));
    }
  }
  return title;
}

std::string missing(const CurveAxis& x, const CurveAxis& y) {
  return fmt::format("no round in which every seed has both {} and {}", x.name, y.name);
}

}  // namespace

std::span<const CurveAxis> curve_x_axes() { return kXAxes; }
std::span<const CurveAxis> curve_y_axes() { return kYAxes; }

Curves make_curves(std::span<const FoundRun> runs, const CurveAxis& x, const CurveAxis& y) {
  const Table table = make_table(runs);
  if (table.rows.empty()) {
    throw Error(Complaint{.found = "no run is finished, so there is nothing to draw",
                          .remedy = "`fedarena list` shows how far runs are."});
  }
  Curves curves{.x = x, .y = y, .title = caption(table), .panels = {}, .notes = table.notes};
  const Setting* last = nullptr;  // rows of one setting stand together
  for (const Row& row : table.rows) {
    Curve curve = curve_of(row, x, y);
    if (curve.points.empty()) {
      curves.notes.push_back(fmt::format("{}: {}; not drawn", row_name(row), missing(x, y)));
      continue;
    }
    if (last == nullptr || !(*last == row.setting)) {
      curves.panels.push_back({.title = title_of(table, row.setting), .curves = {}});
      last = &row.setting;
    }
    curves.panels.back().curves.push_back(std::move(curve));
  }
  if (curves.panels.empty()) {
    throw Error(Complaint{.found = fmt::format("{}, in any row", missing(x, y)),
                          .remedy = "`fedarena plot --help` lists what else can be drawn."});
  }
  return curves;
}

}  // namespace fedarena::results
