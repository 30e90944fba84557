#include "harness/runner/plan/noise_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/accounting/calibration.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"

#include "harness/oracle/private_uplink.hpp"
#include "harness/runner/progress/progress_line.hpp"
#include "results/text/number_format.hpp"

namespace fedarena {
namespace {

// As an experiment that gives the noise itself would have it; of a policy that does not ask, as it is.
void set_noise(Choice& policy, double noise) {
  const auto asks = [](const auto& setting) { return setting.first == kNoiseForEpsilon; };
  if (std::erase_if(policy.settings, asks) == 0) return;
  for (auto& [name, value] : policy.settings) {
    if (name == kNoiseMultiplier) value = PerClient(noise);
  }
}

// With this one algorithm alone, and its noise.
GridPoint with_noise(GridPoint point, const AlgorithmEntry& entry, double noise) {
  point.experiment.algorithms = {entry};
  set_noise(point.experiment.algorithms.front().privacy, noise);
  set_noise(point.experiment.privacy, noise);
  return point;
}

std::string place_of(const GridPoint& point, const AlgorithmEntry& entry) {
  return point.name.empty() ? entry.label : fmt::format("{}, {}", point.name, entry.label);
}

[[noreturn]] void refuse(const std::string& place, double target, const std::string& why,
                         const std::string& remedy) {
  throw Error(Complaint{
      .found = fmt::format("no noise multiplier for epsilon {} can be found for {}: {}", target, place, why),
      .remedy = remedy});
}

double epsilon_of(const GridPoint& point, const AlgorithmEntry& entry, double noise, std::int64_t seed,
                  const CellResources& resources) {
  GridPoint trial = with_noise(point, entry, noise);
  trial.experiment.audit.noise = "on";  // what a control would have
  trial.experiment.seeds = {seed};
  const PlannedCell cell = plan_cells({std::move(trial)}).front();
  const Forecast forecast = OpenedCell(cell, resources).simulation().forecast();
  if (forecast.complete) return forecast.epsilon.value_or(std::numeric_limits<double>::infinity());
  const bool lacks_plan = unit(policy_of(entry)) == Unit::kRecord;
  refuse(place_of(point, entry), entry.noise_for_epsilon(), "it does not say beforehand what it will ask for",
         fmt::format("Set noise_multiplier for it{}",
                     lacks_plan ? ", or give it an access_plan (docs/adding-an-algorithm.md)" : ""));
}

// What the noise multiplier must stay below; infinite without such a limit.
double limit_of(const GridPoint& point, const AlgorithmEntry& entry, std::int64_t seed,
                const CellResources& resources) {
  AlgorithmEntry trial = entry;
  set_noise(trial.privacy, 1);
  const PrivacyPolicy policy = policy_of(trial);
  const auto* client = std::get_if<ClientPolicy>(&policy);
  if (client == nullptr) return std::numeric_limits<double>::infinity();
  const auto clients = std::ssize(resources.inputs.dealt(point.experiment, seed)->partition);
  return noise_limit(*client, point.experiment.cohort_size(clients));
}

double noise_for(const GridPoint& point, const AlgorithmEntry& entry, const CellResources& resources) {
  const double target = entry.noise_for_epsilon();
  const std::string place = place_of(point, entry);
  double noise = 0;
  for (const std::int64_t seed : point.experiment.seeds) {
    const double limit = limit_of(point, entry, seed, resources);
    const double most = 0.999 * limit;  // four digits of which, rounded up, are below it
    const auto costs = [&](double multiplier) {
      return epsilon_of(point, entry, std::min(multiplier, most), seed, resources);
    };
    if (noise > 0 && costs(noise) <= target) continue;
    if (std::isinf(costs(1)))
      refuse(place, target, "whatever the noise, it costs more than anybody can prove a bound of",
             "Look for accesses without noise, such as label counts that tests of clients tell, and for what "
             "accountants do not know, such as samples of a fixed size without `assume`");
    if (std::isfinite(limit) && !(costs(most) <= target))
      refuse(
          place, target,
          fmt::format("none below {} is enough, which is twice the noise on the count of adaptive clipping",
                      results::short_number(limit)),
          "Set a larger count_noise, or allow a larger epsilon");
    try {
      const Solution least = calibrate({.rate = 1, .steps = 1, .delta = 0, .epsilon = target},
                                       [&](const Setting& trial) { return costs(trial.noise_multiplier); });
      noise = results::rounded_up(std::min(least.setting.noise_multiplier, most),
                                  4);  // as everybody can write down
    } catch (const Error& error) {
      refuse(place, target, error.complaint().found, error.complaint().remedy);
    }
  }
  return noise;
}

}  // namespace

std::vector<PlannedCell> with_found_noise(const std::vector<PlannedCell>& cells,
                                          const CellResources& resources, std::FILE* output,
                                          const std::function<void(const std::string& line)>& say) {
  ProgressLine searching(output);
  // Of a point: who has which noise, for which epsilon.
  std::map<std::string, std::map<std::pair<double, double>, std::vector<std::string>>> found;
  std::map<const AlgorithmEntry*, std::shared_ptr<const GridPoint>> points;  // by who asked for the noise
  std::vector<PlannedCell> fitted = cells;
  for (PlannedCell& cell : fitted) {
    if (cell.algorithm->noise_for_epsilon() == 0) continue;
    auto& point = points[cell.algorithm];
    if (point == nullptr) {
      searching.draw([&](std::size_t) {
        return fmt::format("looking for the noise of {}", place_of(*cell.point, *cell.algorithm));
      });
      const double noise = noise_for(*cell.point, *cell.algorithm, resources);
      point = std::make_shared<const GridPoint>(with_noise(*cell.point, *cell.algorithm, noise));
      found[point->name][{cell.algorithm->noise_for_epsilon(), noise}].push_back(cell.algorithm->label);
    }
    cell.has_found_noise = true;
    cell.point = point;
    cell.algorithm = &point->experiment.algorithms.front();
  }
  searching.clear();
  for (const auto& [point, noises] : found) {
    for (const auto& [noise, labels] : noises)
      say(fmt::format("note: {}{}noise_multiplier {} for epsilon {}: {}", point, point.empty() ? "" : ": ",
                      noise.second, noise.first, fmt::join(labels, ", ")));
  }
  return fitted;
}

}  // namespace fedarena
