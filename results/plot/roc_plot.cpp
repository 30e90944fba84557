#include "results/plot/roc_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "results/plot/curve_script.hpp"
#include "results/record/attack_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/json_fields.hpp"
#include "results/table/notes.hpp"

namespace fedarena::results {
namespace {

struct Point {
  double false_positive_rate = 0, true_positive_rate = 0;
};

// The origin, whence a curve may rise straight up, and one for each rate.
std::vector<Point> points_of(const RocCurve& curve) {
  std::vector<Point> points = {{}};
  for (std::size_t step = 0; step < curve.true_positive_rates.size(); ++step) {
    points.push_back({static_cast<double>(step) / kRocSteps, curve.true_positive_rates[step]});
  }
  return points;
}

}  // namespace

RocCurves find_roc_curves(std::span<const FoundRun> runs, std::span<const std::filesystem::path> folders) {
  RocCurves found;
  std::vector<FoundRun> holders;
  std::vector<std::vector<NamedRoc>> held;
  for (const FoundRun& run : runs) {
    if (!run.summary) found.notes.push_back(broken_note(run));
    if (!run.summary || run.summary->state != kFinished) continue;
    try {
      const auto attacks = read_attacks(run.path);
      if (!attacks) continue;
      std::vector<NamedRoc> curves;
      for (const MembershipAttack& attack : attacks->attacks)
        curves.push_back({attack.score, roc_curve(attack.members, attack.non_members).value()});
      holders.push_back(run);
      held.push_back(std::move(curves));
    } catch (const Error& error) {
      found.notes.push_back(broken_note({.path = run.path, .problem = problem_line(error)}));
    }
  }
  if (holders.empty()) {
    found.notes.emplace_back("`fedarena attack RUN` makes it.");
    throw Error(Complaint{.found = fmt::format("no finished run holds an {}, which --roc draws", kAttackFile),
                          .remedy = fmt::format("{}", fmt::join(found.notes, "\n"))});
  }
  if (holders.size() == 1) {
    found.curves = std::move(held.front());
    return found;
  }
  const std::vector<std::string> names = run_names(holders, folders);
  for (std::size_t i = 0; i < holders.size(); ++i) {
    for (NamedRoc& one : held[i]) {
      found.curves.push_back({.name = fmt::format("{}: {}", names[i], one.name), .curve = one.curve});
    }
  }
  return found;
}

std::string area_text(const RocCurve& curve) { return fmt::format("{:.4f}", curve.area); }

std::string roc_script(std::span<const NamedRoc> curves, Terminal terminal) {
  check_distinct(curves.size(), kMostCurves, "curves");
  std::string script = terminal_lines(terminal, 1000, 1080) +
                       axes_lines("false positive rate", "true positive rate", terminal) +
                       "set size square\nset xrange [0:1]\nset yrange [0:1]\n"
                       "$chance << END\n0 0\n1 1\nEND\n";
  std::vector<std::string> layers = {
      "  $chance using 1:2 with lines linecolor rgb '#808080' linewidth 1 dashtype 1 title \"chance\""};
  for (std::size_t number = 0; number < curves.size(); ++number) {
    const auto& [name, curve] = curves[number];
    const std::vector<Point> points = points_of(curve);
    const std::string data = fmt::format("$curve{}", number + 1);
    script += fmt::format("{} << END\n", data);
    for (const auto& [x, y] : points) script += fmt::format("{} {}\n", x, y);
    script += "END\n";
    layers.push_back(line_layer(data, look_of(number), points.size(),
                                fmt::format("{}, AUC {}", name, area_text(curve)), terminal));
  }
  return script + fmt::format("plot \\\n{}\n", fmt::join(layers, ", \\\n"));
}

std::string roc_json(const RocCurves& found) {
  Json object;
  object["curves"] = Json::array();
  for (const auto& [name, curve] : found.curves) {
    Json points = Json::array();
    for (const auto& [x, y] : points_of(curve)) {
      points.push_back({{"false_positive_rate", x}, {"true_positive_rate", y}});
    }
    object["curves"].push_back({{"name", name}, {"auc", curve.area}, {"points", std::move(points)}});
  }
  object["notes"] = found.notes;
  return json_text(object, -1) + "\n";
}

}  // namespace fedarena::results
