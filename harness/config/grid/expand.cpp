#include "harness/config/grid/expand.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "fedarena/base/error.hpp"

#include "harness/config/grid/combinations.hpp"

namespace fedarena::config {
namespace {

// Sections whose settings may concern some algorithms and not others.
bool may_be_idle(const Dimension& dimension) {
  const std::string section = dimension.path.substr(0, dimension.path.find('.'));
  return section == "training" || section == "privacy";
}

class Expansion {
 public:
  Expansion(const std::vector<Dimension>& dimensions, const ReadAt& read)
      : dimensions_(dimensions), read_(read) {
    for (std::size_t index = 0; index < dimensions.size(); ++index) {
      if (!dimensions[index].algorithm) shared_.push_back(index);
    }
    check_size();
  }

  std::vector<GridPoint> run() {
    const std::vector<Indices> shared = combinations(shared_);
    for (const Indices& at : shared) experiments_.push_back(checked_read(at));
    const std::size_t algorithms = experiments_.front().algorithms.size();
    for (std::size_t algorithm = 0; algorithm < algorithms; ++algorithm) find_idle(algorithm, shared);
    std::vector<GridPoint> points;
    for (std::size_t index = 0; index < shared.size(); ++index) {
      const std::size_t first = points.size();
      for (std::size_t algorithm = 0; algorithm < algorithms; ++algorithm)
        add(points, first, shared[index], experiments_[index], algorithm);
    }
    return points;
  }

 private:
  // Each own combination is read by itself, and each shared one once more.
  void check_size() const {
    std::size_t shared = 1;
    std::vector<std::pair<std::size_t, std::size_t>> own;  // algorithm and combinations
    std::size_t most = 1;
    for (const Dimension& dimension : dimensions_) {
      std::size_t* product = &shared;
      if (dimension.algorithm) {
        const auto found = std::find_if(own.begin(), own.end(),
                                        [&](const auto& pair) { return pair.first == *dimension.algorithm; });
        product = &(found == own.end() ? own.emplace_back(*dimension.algorithm, 1) : *found).second;
      }
      *product *= dimension.values.size();
      most = shared;
      for (const auto& [algorithm, combinations] : own) most += shared * (combinations - 1);
      if (most <= kMostPoints && *product <= kMostPoints) continue;
      complain({.place = dimension.place,
                .found = fmt::format("up to here, [sweep] spans {} points", most),
                .allowed = fmt::format("at most {}", kMostPoints)});
    }
  }

  // The combinations of these dimensions' values, the others at their first.
  std::vector<Indices> combinations(const Indices& of) const {
    Indices counts;
    for (const Dimension& dimension : dimensions_) counts.push_back(dimension.values.size());
    return all_combinations(counts, of);
  }

  // A mistake that shows at a place outside the sweep would be a riddle without the point.
  Experiment checked_read(const Indices& at) const {
    try {
      return read_(at);
    } catch (const Error& error) {
      if (dimensions_.empty()) throw;
      std::vector<std::string> places;
      for (std::size_t index = 0; index < at.size(); ++index)
        add_places(places, dimensions_[index], at[index]);
      rethrow_at_point(error, places, swept_at(at, all_dimensions()));
    }
  }

  std::vector<std::size_t> all_dimensions() const {
    std::vector<std::size_t> all(dimensions_.size());
    for (std::size_t index = 0; index < all.size(); ++index) all[index] = index;
    return all;
  }

  Swept swept_at(const Indices& at, const std::vector<std::size_t>& of) const {
    Swept swept;
    for (const std::size_t index : of) {
      for (auto& pair : swept_by(dimensions_[index], at[index])) swept.push_back(std::move(pair));
    }
    std::sort(swept.begin(), swept.end());
    return swept;
  }

  // The shared dimensions that change nothing for the algorithm, whatever the others are.
  void find_idle(std::size_t algorithm, const std::vector<Indices>& shared) {
    std::vector<std::size_t>& idle = idle_.emplace_back();
    for (const std::size_t dimension : shared_) {
      if (!may_be_idle(dimensions_[dimension])) continue;
      bool changes = false;
      for (std::size_t index = 0; index < shared.size() && !changes; ++index) {
        Indices first = shared[index];
        first[dimension] = 0;
        const auto other = std::lower_bound(shared.begin(), shared.end(), first);
        changes = experiments_[index].algorithms[algorithm] !=
                  experiments_[static_cast<std::size_t>(other - shared.begin())].algorithms[algorithm];
      }
      if (!changes) idle.push_back(dimension);
    }
  }

  // Adds the algorithm, under each of its own combinations, to the points from `first` on, unless the same
  // run stands at a point before.
  void add(std::vector<GridPoint>& points, std::size_t first, const Indices& at, const Experiment& experiment,
           std::size_t algorithm) const {
    const std::vector<std::size_t>& idle = idle_[algorithm];
    if (std::any_of(idle.begin(), idle.end(), [&](std::size_t dimension) { return at[dimension] > 0; }))
      return;
    std::vector<std::size_t> heeded, own;
    for (std::size_t index = 0; index < dimensions_.size(); ++index) {
      if (dimensions_[index].algorithm == algorithm) own.push_back(index);
      const bool shared = !dimensions_[index].algorithm;
      if (shared && std::find(idle.begin(), idle.end(), index) == idle.end()) heeded.push_back(index);
    }
    heeded.insert(heeded.end(), own.begin(), own.end());
    for (const Indices& combination : combinations(own)) {
      Indices here = at;
      bool base = true;
      for (const std::size_t index : own) {
        here[index] = combination[index];
        base = base && combination[index] == 0;
      }
      const Swept swept = swept_at(here, heeded);
      const auto found = std::find_if(points.begin() + static_cast<std::ptrdiff_t>(first), points.end(),
                                      [&](const GridPoint& point) { return point.swept == swept; });
      GridPoint& point =
          found == points.end() ? points.emplace_back(new_point(swept, experiment, idle)) : *found;
      std::vector<AlgorithmEntry>& algorithms = point.experiment.algorithms;
      algorithms.push_back(base ? experiment.algorithms[algorithm]
                                : checked_read(here).algorithms[algorithm]);
    }
  }

  GridPoint new_point(const Swept& swept, const Experiment& experiment,
                      const std::vector<std::size_t>& idle) const {
    GridPoint point{point_name(swept), swept, experiment};
    point.experiment.algorithms.clear();
    // A policy of which nobody takes anything would tell one value of a sweep from another where there is no
    // difference. Each algorithm has its own in full.
    const bool unheeded = std::any_of(idle.begin(), idle.end(), [&](std::size_t dimension) {
      return dimensions_[dimension].path.starts_with("privacy");
    });
    if (unheeded) point.experiment.privacy = {"none", {}};
    return point;
  }

  const std::vector<Dimension>& dimensions_;
  const ReadAt& read_;
  std::vector<std::size_t> shared_;
  std::vector<Experiment> experiments_;         // at the shared combinations
  std::vector<std::vector<std::size_t>> idle_;  // of each algorithm
};

}  // namespace

std::vector<GridPoint> expand(const std::vector<Dimension>& dimensions, const ReadAt& read) {
  return Expansion(dimensions, read).run();
}

}  // namespace fedarena::config
