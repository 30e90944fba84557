#include "results/curve_measure.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

#include "results/run_directory.hpp"

namespace fedarena::results {
namespace {

const Measure* own(const CurveMeasure& measure) { return std::get_if<Measure>(&measure); }

}  // namespace

CurveMeasure find_curve_measure(const std::string& name, std::span<const FoundRun> runs) {
  if (const std::optional<Measure> measure = find_measure(name)) return *measure;
  std::set<std::string> observed;
  for (const FoundRun& run : runs) {
    if (!run.summary || run.summary->state != kFinished) continue;
    for (const std::string& each : observed_names(RunDirectory::open(run.path).rounds()))
      observed.insert(each);
  }
  if (observed.count(name) > 0) return name;
  std::vector<std::string> names = measure_names();
  names.insert(names.end(), observed.begin(), observed.end());
  throw Error(Complaint{.found = fmt::format("--y: \"{}\" is unknown", name),
                        .allowed = join_names(names),
                        .nearest = nearest_name(name, names)});
}

std::vector<std::string> observed_names(std::span<const RoundRecord> rounds) {
  std::set<std::string> names;
  for (const RoundRecord& round : rounds) {
    for (const auto& [name, value] : round.observed) names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::string name_of(const CurveMeasure& measure) {
  return own(measure) != nullptr ? name_of(*own(measure)) : std::get<std::string>(measure);
}

std::string heading(const CurveMeasure& measure) {
  return own(measure) != nullptr ? heading(*own(measure)) : std::get<std::string>(measure);
}

bool is_share(const CurveMeasure& measure) { return own(measure) != nullptr && is_share(*own(measure)); }

std::optional<double> value_of(const CurveMeasure& measure, const RoundRecord& round) {
  if (own(measure) != nullptr) return value_of(*own(measure), round);
  const auto found = std::ranges::find(round.observed, std::get<std::string>(measure),
                                       [](const auto& entry) -> const std::string& { return entry.first; });
  return found == round.observed.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace fedarena::results
