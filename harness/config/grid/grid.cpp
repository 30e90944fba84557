#include "harness/config/grid/grid.hpp"

#include <algorithm>
#include <map>

#include "fedarena/base/find.hpp"

#include "harness/config/grid/points.hpp"
#include "harness/config/grid/tuning.hpp"
#include "harness/config/sections/reader.hpp"

namespace fedarena::config {
namespace {

class Expansion {
 public:
  explicit Expansion(const FileVariant& variant)
      : variant_(variant), dimensions_(dimensions_of(variant.document)) {
    for (std::size_t index = 0; index < dimensions_.size(); ++index) {
      if (!dimensions_[index].algorithm) shared_.push_back(index);
    }
    check_size();
  }

  std::vector<GridPoint> run() {
    const std::vector<Indices> shared = all_combinations(dimensions_, shared_);
    for (const Indices& at : shared) experiments_.push_back(experiment_at(variant_, dimensions_, at));
    const std::size_t algorithms = experiments_.front().algorithms.size();
    for (std::size_t algorithm = 0; algorithm < algorithms; ++algorithm) find_idle(algorithm, shared);
    std::vector<GridPoint> points;
    for (std::size_t index = 0; index < shared.size(); ++index) {
      const std::size_t first = points.size();
      for (std::size_t algorithm = 0; algorithm < algorithms; ++algorithm)
        add(points, first, shared[index], experiments_[index], algorithm);
    }
    share_policies(points);
    return points;
  }

 private:
  // Each own combination is read by itself, and each shared one once more.
  void check_size() const {
    std::size_t shared = 1;
    std::map<std::size_t, std::size_t> own;  // combinations of each algorithm
    std::size_t most = 1;
    for (const Dimension& dimension : dimensions_) {
      const auto& algorithm = dimension.algorithm;
      std::size_t& product = algorithm ? own.try_emplace(*algorithm, 1).first->second : shared;
      product *= dimension.values.size();
      most = shared;
      for (const auto& [unused, combinations] : own) most += shared * (combinations - 1);
      if (most <= kMostPoints && product <= kMostPoints) continue;
      complain({.place = dimension.place,
                .found = fmt::format("up to here, [sweep] spans {} points", most),
                .allowed = fmt::format("at most {}", kMostPoints)});
    }
  }

  // The shared dimensions that give the algorithm nothing, whatever the others are.
  void find_idle(std::size_t algorithm, const std::vector<Indices>& shared) {
    Indices& idle = idle_.emplace_back();
    for (const std::size_t dimension : shared_) {
      bool heeded = false;
      for (std::size_t index = 0; index < shared.size() && !heeded; ++index) {
        const Swept swept = swept_by(dimensions_[dimension], shared[index][dimension]);
        heeded = std::ranges::any_of(swept, [&](const auto& pair) {
          return is_heeded(experiments_[index].algorithms[algorithm], pair.first);
        });
      }
      if (!heeded) idle.push_back(dimension);
    }
  }

  // Adds the algorithm, under each of its own combinations, to the points from `first` on, unless the same
  // run stands at a point before.
  void add(std::vector<GridPoint>& points, std::size_t first, const Indices& at, const Experiment& experiment,
           std::size_t algorithm) const {
    const Indices& idle = idle_[algorithm];
    if (std::ranges::any_of(idle, [&](std::size_t dimension) { return at[dimension] > 0; })) return;
    Indices heeded, own;
    for (std::size_t index = 0; index < dimensions_.size(); ++index) {
      if (dimensions_[index].algorithm == algorithm) own.push_back(index);
      const bool shared = !dimensions_[index].algorithm;
      if (shared && !contains(idle, index)) heeded.push_back(index);
    }
    heeded.insert(heeded.end(), own.begin(), own.end());
    for (const Indices& combination : all_combinations(dimensions_, own)) {
      Indices here = at;
      bool base = true;
      for (const std::size_t index : own) {
        here[index] = combination[index];
        base = base && combination[index] == 0;
      }
      const Swept swept = swept_at(dimensions_, here, heeded);
      const auto found = std::find_if(points.begin() + static_cast<std::ptrdiff_t>(first), points.end(),
                                      [&](const GridPoint& point) { return point.swept == swept; });
      GridPoint& point =
          found == points.end() ? points.emplace_back(new_point(swept, experiment, idle)) : *found;
      std::vector<AlgorithmEntry>& algorithms = point.experiment.algorithms;
      algorithms.push_back(base ? experiment.algorithms[algorithm]
                                : experiment_at(variant_, dimensions_, here).algorithms[algorithm]);
    }
  }

  GridPoint new_point(const Swept& swept, const Experiment& experiment, const Indices& idle) const {
    GridPoint point{point_name(swept), swept, experiment};
    point.experiment.algorithms.clear();
    // A policy of which nobody takes anything would tell one value of a sweep from another where there is no
    // difference. Each algorithm has its own in full.
    const bool unheeded = std::ranges::any_of(
        idle, [&](std::size_t dimension) { return dimensions_[dimension].path.starts_with(kPrivacy); });
    if (unheeded) point.experiment.privacy = {"none", {}};
    return point;
  }

  const FileVariant& variant_;
  std::vector<Dimension> dimensions_;
  Indices shared_;                       // the dimensions that concern every algorithm
  std::vector<Experiment> experiments_;  // at the shared combinations
  std::vector<Indices> idle_;            // of each algorithm
};

std::vector<GridPoint> points_of(const FileVariant& variant) { return Expansion(variant).run(); }

FileVariant variant_of(Document document, const std::vector<SectionSpec>& specs, const Profile* profile,
                       const std::vector<std::string>& overrides) {
  if (profile != nullptr) apply_profile(document, *profile, specs);
  for (const std::string& text : overrides) apply_override(document, text, specs);
  return {std::move(document), specs, profile};
}

// What `read` makes of the file under the profile, or none, with the overrides. It also reads the file under
// every other profile, without overrides: a mistake in a profile shows whenever the file is read, not when
// somebody first needs the profile.
template <typename Read>
auto under_profiles(const Document& file, const std::vector<std::string>& overrides, const Catalog& catalog,
                    const std::optional<std::string>& profile, const Read& read) {
  const std::vector<SectionSpec> specs = sections(catalog);
  const std::vector<Profile> profiles = profiles_of(file, specs);
  const Profile* const chosen = profile ? &chosen_profile(profiles, *profile, file.file) : nullptr;
  auto result = read(variant_of(file, specs, chosen, overrides));
  for (const Profile& other : profiles) {
    if (&other != chosen) read(variant_of(file, specs, &other, {}));
  }
  return result;
}

}  // namespace
}  // namespace fedarena::config

namespace fedarena {

std::vector<GridPoint> read_grid(const config::Document& file, const std::vector<std::string>& overrides,
                                 const Catalog& catalog, const std::optional<std::string>& profile) {
  return config::under_profiles(file, overrides, catalog, profile, config::points_of);
}

FilePlan read_plan(const config::Document& file, const std::vector<std::string>& overrides,
                   const Catalog& catalog, const std::optional<std::string>& profile) {
  return config::under_profiles(file, overrides, catalog, profile, [](const config::FileVariant& variant) {
    return FilePlan{config::points_of(variant), config::tuning_of(variant),
                    config::sbatch_options(variant.document)};
  });
}

}  // namespace fedarena
