#include "harness/config/grid/tuning.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "fedarena/base/find.hpp"
#include "fedarena/base/stream.hpp"

#include "harness/config/grid/points.hpp"
#include "harness/config/grid/tuning_section.hpp"

namespace fedarena::config {
namespace {

// For each trial: more are needed only where there are hardly as many different ones.
constexpr std::size_t kMostDraws = 1000;

struct Trial {
  Swept swept;
  Experiment experiment;
  AlgorithmEntry entry;
};

class Trials {
 public:
  explicit Trials(const FileVariant& variant)
      : variant_(variant), section_(read_tuning_section(variant.document, variant.specs)) {}

  TuningPlan plan() {
    const Experiment first =
        experiment_at(variant_, section_.dimensions, Indices(section_.dimensions.size(), 0));
    if (!first.evaluation.validates())
      complain({.place = section_.place,
                .found = "trials are judged by validation examples, and there are none",
                .remedy = "set validation_fraction in [evaluation] to a number above 0"});
    TuningPlan plan{section_.keys.search, section_.keys.seed, section_.keys.trials, {}};
    for (std::size_t algorithm = 0; algorithm < first.algorithms.size(); ++algorithm) {
      std::vector<Trial> trials = section_.random() ? some_of(algorithm, first) : all_of(algorithm);
      if (!section_.random()) check_number(trials, plan.trials);
      plan.trials = static_cast<std::int64_t>(trials.size());
      for (Trial& trial : trials) add(plan, std::move(trial));
    }
    share_policies(plan.points);
    return plan;
  }

 private:
  // The shared dimensions and the algorithm's own.
  Indices dimensions_of(std::size_t algorithm) const {
    Indices dimensions;
    for (std::size_t index = 0; index < section_.dimensions.size(); ++index) {
      if (section_.dimensions[index].algorithm.value_or(algorithm) == algorithm) dimensions.push_back(index);
    }
    return dimensions;
  }

  // The trial's name holds what the algorithm heeds: what it does not would be told as chosen.
  Trial trial_at(const Indices& at, std::size_t algorithm) const {
    Trial trial{swept_at(section_.dimensions, at, dimensions_of(algorithm)),
                experiment_at(variant_, section_.dimensions, at),
                {}};
    trial.entry = std::move(trial.experiment.algorithms[algorithm]);
    std::erase_if(trial.swept, [&](const auto& pair) { return !is_heeded(trial.entry, pair.first); });
    if (trial.swept.empty())
      complain(
          {.place = section_.place,
           .found = fmt::format("[{}] gives {} nothing", kTuning, trial.entry.label),
           .allowed = "as many trials for every algorithm",
           .remedy = fmt::format("give it values: \"algorithms.{}.KEY\" = [values]", trial.entry.label)});
    return trial;
  }

  static bool is_new(const std::vector<Trial>& trials, const Trial& trial) {
    return std::ranges::none_of(trials, [&](const Trial& other) { return other.entry == trial.entry; });
  }

  // Different combinations may be the same to the algorithm.
  std::vector<Trial> all_of(std::size_t algorithm) const {
    const Indices dimensions = dimensions_of(algorithm);
    std::size_t product = 1;
    for (const std::size_t dimension : dimensions) {
      product *= section_.dimensions[dimension].values.size();
      if (product > kMostPoints)
        complain({.place = section_.dimensions[dimension].place,
                  .found = fmt::format("up to here, there are {} combinations", product),
                  .allowed = fmt::format("at most {}", kMostPoints)});
    }
    std::vector<Trial> trials;
    for (const Indices& at : all_combinations(section_.dimensions, dimensions)) {
      Trial trial = trial_at(at, algorithm);
      if (is_new(trials, trial)) trials.push_back(std::move(trial));
    }
    return trials;
  }

  // The first of them do not depend on how many there are. Of a range, all algorithms get the same values.
  std::vector<Trial> some_of(std::size_t algorithm, const Experiment& experiment) const {
    const std::string& label = experiment.algorithms[algorithm].label;
    const auto wanted = static_cast<std::size_t>(section_.keys.trials);
    Stream stream({.seed = static_cast<std::uint64_t>(section_.keys.seed),
                   .purpose = Purpose::kTuning,
                   .index = stable_hash("algorithms." + label)});
    std::vector<Trial> trials;
    std::set<Indices> seen;
    for (std::size_t draws = 0; trials.size() < wanted; ++draws) {
      if (draws == kMostDraws * wanted)
        complain({.place = section_.trials_place,
                  .found = fmt::format("{} trials, and {} has {} different combinations of values", wanted,
                                       label, trials.size()),
                  .allowed = fmt::format("at most {}", trials.size()),
                  .remedy = "list more values, or give a range"});
      Indices at(section_.dimensions.size(), 0);
      for (const std::size_t dimension : dimensions_of(algorithm))
        at[dimension] = section_.drawn[dimension]
                            ? trials.size()
                            : stream.below(section_.dimensions[dimension].values.size());
      if (!seen.insert(at).second) continue;
      Trial trial = trial_at(at, algorithm);
      if (is_new(trials, trial)) trials.push_back(std::move(trial));
    }
    return trials;
  }

  // Of a grid: `wanted` is what the file says or the algorithms before got, 0 without either.
  void check_number(const std::vector<Trial>& trials, std::int64_t wanted) const {
    const auto number = static_cast<std::int64_t>(trials.size());
    if (wanted == 0 || wanted == number) return;
    const bool given = section_.keys.trials != 0;
    complain(
        {.place = given ? section_.trials_place : section_.place,
         .found = fmt::format("{} has {} different combinations of values, {} {}", trials.front().entry.label,
                              number, given ? "trials is" : "those before it have", wanted),
         .allowed = "as many trials for every algorithm",
         .remedy = fmt::format("write search = \"random\" and trials = {}, or give other lists",
                               std::min(number, wanted))});
  }

  void add(TuningPlan& plan, Trial trial) const {
    GridPoint* point = find_named(plan.points, trial.swept, &GridPoint::swept);
    if (point == nullptr) {
      trial.experiment.seeds = {section_.keys.seed};
      trial.experiment.algorithms.clear();
      point = &plan.points.emplace_back(
          GridPoint{point_name(trial.swept), trial.swept, std::move(trial.experiment)});
    }
    point->experiment.algorithms.push_back(std::move(trial.entry));
  }

  const FileVariant& variant_;
  TuningSection section_;
};

}  // namespace

std::optional<TuningPlan> tuning_of(const FileVariant& variant) {
  // Another form is refused with those of other sections.
  if (variant.document.table(kTuning) == nullptr) return std::nullopt;
  if (variant.document.find(kSweep) == nullptr) return Trials(variant).plan();
  complain({.place = variant.document.find(kTuning)->place,
            .found = fmt::format("[{}] beside [{}]", kTuning, kSweep),
            .remedy = fmt::format(
                "tune at one point of the grid: take [{}] out, and give its values with --set", kSweep)});
}

}  // namespace fedarena::config
