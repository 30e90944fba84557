#include "results/plot/roc_curves.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/plot/curves.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/roc_file.hpp"
#include "results/statistics/statistics.hpp"
#include "results/table/table.hpp"

namespace fedarena::results {
namespace {

constexpr std::string_view kDiverged = "its model diverged: scores are not numbers";

// What one run gives, or why it gives nothing.
struct OfRun {
  std::optional<RocCurve> curve;
  std::string missing;
  std::int64_t classes = 0;
};

OfRun average_of(const TestRoc& roc) {
  const bool diverged = std::any_of(roc.classes.begin(), roc.classes.end(), [](const ClassRoc& one) {
    return one.positives > 0 && one.negatives > 0 && !one.curve;
  });
  return {.curve = macro_average(roc),
          .missing = diverged ? std::string(kDiverged) : "all of its test examples are of one class",
          .classes = std::ssize(roc.classes)};
}

OfRun class_of(const TestRoc& roc, std::int64_t label) {
  OfRun of_run{.curve = std::nullopt, .missing = {}, .classes = std::ssize(roc.classes)};
  if (label >= of_run.classes) {
    of_run.missing = fmt::format("its classes are 0 to {}", of_run.classes - 1);
    return of_run;
  }
  const ClassRoc& one = roc.classes[static_cast<std::size_t>(label)];
  of_run.curve = one.curve;
  of_run.missing = one.positives == 0   ? fmt::format("none of its test examples is of class {}", label)
                   : one.negatives == 0 ? fmt::format("all of its test examples are of class {}", label)
                                        : std::string(kDiverged);
  return of_run;
}

OfRun curve_of(const SeedResult& seed, std::optional<std::int64_t> of_class) {
  const std::optional<TestRoc> roc = read_roc(RunDirectory::open(seed.path));
  if (roc) return of_class ? class_of(*roc, *of_class) : average_of(*roc);
  return {.curve = std::nullopt,
          .missing = seed.accuracy ? fmt::format("has no {}, as older versions wrote none", kRocFile)
                                   : "is of regression data, which has no classes"};
}

RocLine line_of(const std::string& name, const std::vector<std::int64_t>& seeds,
                const std::vector<RocCurve>& curves) {
  RocLine line{.name = name, .seeds = seeds, .area_std = std::nullopt, .points = {}};
  std::vector<double> values(curves.size());
  std::transform(curves.begin(), curves.end(), values.begin(),
                 [](const RocCurve& curve) { return curve.area; });
  line.area = mean(values);
  line.area_std = sample_standard_deviation(values);
  const bool several = curves.size() > 1;
  line.points.push_back({.std = several ? std::optional(0.0) : std::nullopt});
  for (std::size_t step = 0; step < curves.front().true_positive_rates.size(); ++step) {
    std::transform(curves.begin(), curves.end(), values.begin(),
                   [&](const RocCurve& curve) { return curve.true_positive_rates[step]; });
    line.points.push_back({.false_positive_rate = static_cast<double>(step) / kRocSteps,
                           .true_positive_rate = mean(values),
                           .std = sample_standard_deviation(values)});
  }
  return line;
}

[[noreturn]] void refuse_empty(const RocPlot& plot, std::int64_t classes, const std::string& first_missing) {
  if (plot.of_class && classes > 0 && *plot.of_class >= classes) {
    throw Error(Complaint{.found = fmt::format("--class: no run has a class {}", *plot.of_class),
                          .allowed = fmt::format("0 to {}", classes - 1)});
  }
  if (first_missing.empty()) {
    throw Error(Complaint{.found = "no run is finished, so there is nothing to draw",
                          .remedy = "`fedarena list` shows how far runs are."});
  }
  throw Error(
      Complaint{.found = "no run has what --roc draws: " + first_missing,
                .remedy = fmt::format("Runs of classification data leave {} when they finish.", kRocFile)});
}

}  // namespace

std::string describe(const RocPlot& plot) {
  return plot.of_class ? fmt::format("class {} against the rest", *plot.of_class)
                       : "each class against the rest, macro average";
}

std::string area_text(const RocLine& line) {
  return fmt::format("{:.4f}", line.area) +
         (line.area_std ? fmt::format(" ± {:.4f}", *line.area_std) : std::string());
}

RocPlot make_roc_plot(std::span<const FoundRun> runs, std::optional<std::int64_t> of_class) {
  const Table table = make_table(runs);
  RocPlot plot{.of_class = of_class, .title = caption(table), .panels = {}, .notes = table.notes};
  const PanelTitles titles(table);
  const Setting* last = nullptr;  // rows of one setting stand together
  std::int64_t classes = 0;       // the most that any run has
  std::string first_missing;
  for (const Row& row : table.rows) {
    std::vector<std::int64_t> seeds;
    std::vector<RocCurve> curves;
    for (const SeedResult& seed : row.seeds) {
      const OfRun of_run = curve_of(seed, of_class);
      classes = std::max(classes, of_run.classes);
      if (of_run.curve) {
        seeds.push_back(seed.seed);
        curves.push_back(*of_run.curve);
        continue;
      }
      plot.notes.push_back(fmt::format("{}: {}; left out", seed.path.string(), of_run.missing));
      if (first_missing.empty()) first_missing = fmt::format("{}: {}", seed.path.string(), of_run.missing);
    }
    if (curves.empty()) continue;
    if (last == nullptr || !(*last == row.setting)) {
      plot.panels.push_back({.title = titles.of(row.setting), .lines = {}});
      last = &row.setting;
    }
    plot.panels.back().lines.push_back(line_of(row_name(row), seeds, curves));
  }
  if (plot.panels.empty()) refuse_empty(plot, classes, first_missing);
  return plot;
}

std::string roc_json(const RocPlot& plot) {
  const auto or_null = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
  Json object = {{"class", plot.of_class ? Json(*plot.of_class) : Json(nullptr)}, {"title", plot.title}};
  object["panels"] = Json::array();
  for (const RocPanel& panel : plot.panels) {
    Json lines = Json::array();
    for (const RocLine& line : panel.lines) {
      Json points = Json::array();
      for (const RocPoint& point : line.points) {
        points.push_back({{"false_positive_rate", point.false_positive_rate},
                          {"true_positive_rate", point.true_positive_rate},
                          {"std", or_null(point.std)}});
      }
      lines.push_back({{"name", line.name},
                       {"seeds", line.seeds},
                       {"auc", line.area},
                       {"auc_std", or_null(line.area_std)},
                       {"points", std::move(points)}});
    }
    object["panels"].push_back({{"title", panel.title}, {"curves", std::move(lines)}});
  }
  object["notes"] = plot.notes;
  return json_text(object, -1) + "\n";
}

}  // namespace fedarena::results
