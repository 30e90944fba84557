#include "harness/config/tuning.hpp"

#include <algorithm>
#include <utility>

#include "fedarena/base/stream.hpp"

#include "harness/config/combinations.hpp"
#include "harness/config/file_text.hpp"
#include "harness/config/range.hpp"
#include "harness/config/reader.hpp"
#include "harness/config/sweep.hpp"
#include "harness/config/table_reading.hpp"
#include "harness/config/unknown.hpp"

namespace fedarena {
namespace {

using namespace config;

constexpr std::string_view kForm =
    "\"training.KEY\", \"algorithms.LABEL.KEY\" and clip norms, each with [values] or a range";

// What does not change what is compared: whatever is an algorithm's own. Clip norms cost no epsilon.
bool may_be_tuned(std::string_view path) {
  constexpr std::string_view kClipNorm = "privacy.clip_norm";
  if (path == kClipNorm || path.starts_with("training.")) return true;
  if (!path.starts_with("algorithms.") || path.ends_with(".name") || path.ends_with(".label")) return false;
  return path.find(".privacy") == std::string_view::npos || path.ends_with(fmt::format(".{}", kClipNorm));
}

void check_may_be_tuned(const Dimension& dimension) {
  for (std::size_t index = 0; index < dimension.values.size(); ++index) {
    for (const auto& [path, text] : swept_by(dimension, index)) {
      if (may_be_tuned(path)) continue;
      complain({.place = dimension.place,
                .found = fmt::format("{} is not an algorithm's to choose", in_quotes(path)),
                .allowed = std::string(kForm),
                .remedy = fmt::format("compare values of it with [{}]", kSweep)});
    }
  }
}

class Tuning {
 public:
  explicit Tuning(const FileVariant& variant) : variant_(variant), document_(document_of(variant)) {}

  std::optional<TuningPlan> plan() {
    const Section* section = find_section(document_, kTuning);
    // Another form is refused with those of other sections.
    if (section == nullptr || section->form != Section::Form::kTable) return std::nullopt;
    table_ = &section->tables.front();
    read_own_keys();
    read_dimensions();
    const Experiment first = read_at(Indices(dimensions_.size(), 0));
    if (first.evaluation.validation_fraction <= 0)
      complain({.place = section->place,
                .found = "trials are judged by validation examples, and there are none",
                .remedy = "set validation_fraction in [evaluation] to a number above 0"});
    for (std::size_t algorithm = 0; algorithm < first.algorithms.size(); ++algorithm)
      add_trials(first.algorithms[algorithm], algorithm);
    return std::move(plan_);
  }

 private:
  void read_own_keys() {
    const auto spec = std::find_if(
        variant_.specs.begin(), variant_.specs.end(),
        [](const SectionSpec& candidate) { return candidate.kind == SectionSpec::Kind::kTuning; });
    read_keys(*table_, *spec, variant_.specs, &keys_);
    plan_.search = keys_.search;
    plan_.seed = keys_.seed;
    plan_.trials = keys_.trials;
    for (const Setting& setting : table_->settings) {
      if (spec->find(setting.key) == nullptr) entries_.push_back(&setting);
      const std::vector<Written>& items = setting.written.items;
      const bool path =
          setting.key.find('.') != std::string::npos || setting.written.table != nullptr ||
          std::any_of(items.begin(), items.end(), [](const Written& item) { return item.table != nullptr; });
      if (spec->find(setting.key) != nullptr || path) continue;
      std::vector<std::string> known;
      for (const Key& key : spec->keys) known.push_back(key.field.name);
      complain_unknown_key(setting.key, setting.place, *spec, known, variant_.specs);
    }
    if (entries_.empty())
      complain({.place = table_->place,
                .found = fmt::format("[{}] names no settings", kTuning),
                .allowed = std::string(kForm)});
    if (random() && keys_.trials == 0)
      complain({.place = table_->place,
                .found = "search = \"random\" without a number of trials",
                .remedy = "write trials = 10, for example"});
  }

  void read_dimensions() {
    for (const Setting* entry : entries_) {
      ranges_.push_back(is_range(*entry));
      if (!ranges_.back()) {
        dimensions_.push_back(dimension_of(*entry, kTuning, document_));
      } else {
        if (!random())
          complain({.place = entry->written.place,
                    .found = "a range in a grid",
                    .remedy = "write search = \"random\", or give a list"});
        auto values = drawn_from(*entry, static_cast<std::size_t>(keys_.trials),
                                 static_cast<std::uint64_t>(keys_.seed));
        dimensions_.push_back(
            checked_dimension({entry->key, entry->place, std::move(values), kTuning}, document_));
      }
      check_may_be_tuned(dimensions_.back());
    }
  }

  bool random() const { return keys_.search == "random"; }

  Swept swept_at(const Indices& at, const Indices& of) const {
    Swept swept;
    for (const std::size_t index : of) {
      for (auto& pair : swept_by(dimensions_[index], at[index])) swept.push_back(std::move(pair));
    }
    std::sort(swept.begin(), swept.end());
    return swept;
  }

  Experiment read_at(const Indices& at) const {
    Indices all;
    std::vector<std::string> places;
    for (std::size_t index = 0; index < at.size(); ++index) {
      all.push_back(index);
      add_places(places, dimensions_[index], at[index]);
    }
    try {
      Document document = document_of(variant_);
      for (const std::size_t index : all)
        apply_value(document, dimensions_[index], at[index], variant_.specs);
      return experiment_of(variant_, std::move(document));
    } catch (const Error& error) {
      rethrow_at_point(error, places, swept_at(at, all));
    }
  }

  // Whether a shared dimension changes anything for the algorithm, which may lack the setting or give its
  // own. One value makes no further trials, so it need not be asked.
  bool is_heeded(std::size_t dimension, std::size_t algorithm) const {
    Indices at(dimensions_.size(), 0);
    const AlgorithmEntry first = read_at(at).algorithms[algorithm];
    const std::size_t values = dimensions_[dimension].values.size();
    bool changes = values == 1;
    for (at[dimension] = 1; at[dimension] < values && !changes; ++at[dimension])
      changes = read_at(at).algorithms[algorithm] != first;
    return changes;
  }

  Indices heeded_by(std::size_t algorithm) const {
    Indices heeded;
    for (std::size_t dimension = 0; dimension < dimensions_.size(); ++dimension) {
      const std::optional<std::size_t>& owner = dimensions_[dimension].algorithm;
      if (owner ? owner == algorithm : is_heeded(dimension, algorithm)) heeded.push_back(dimension);
    }
    return heeded;
  }

  std::size_t combinations_of(const Indices& dimensions) const {
    std::size_t product = 1;
    for (const std::size_t dimension : dimensions) {
      product *= dimensions_[dimension].values.size();
      if (product > kMostPoints && !random())
        complain({.place = dimensions_[dimension].place,
                  .found = fmt::format("up to here, there are {} combinations", product),
                  .allowed = fmt::format("at most {}", kMostPoints)});
      product = std::min(product, kMostPoints + 1);
    }
    return product;
  }

  // How many each dimension has.
  Indices values_of() const {
    Indices counts;
    for (const Dimension& dimension : dimensions_) counts.push_back(dimension.values.size());
    return counts;
  }

  std::vector<Indices> trials_of(const AlgorithmEntry& entry, const Indices& dimensions) {
    const std::size_t count = combinations_of(dimensions);
    if (random()) {
      const bool endless = std::any_of(dimensions.begin(), dimensions.end(),
                                       [&](std::size_t dimension) { return ranges_[dimension]; });
      if (!endless && count < static_cast<std::size_t>(keys_.trials))
        complain({.place = table_->find("trials")->written.place,
                  .found = fmt::format("{} trials, and {} has {} combinations of values", keys_.trials,
                                       entry.label, count),
                  .allowed = fmt::format("at most {}", count),
                  .remedy = "list more values, or give a range"});
      return some_combinations(values_of(), dimensions, ranges_, static_cast<std::size_t>(keys_.trials),
                               {.seed = static_cast<std::uint64_t>(keys_.seed),
                                .purpose = Purpose::kTuning,
                                .index = stable_hash("algorithms." + entry.label)});
    }
    const auto trials = static_cast<std::int64_t>(count);
    if (keys_.trials != 0 && keys_.trials != trials)
      complain({.place = table_->find("trials")->written.place,
                .found = fmt::format("{} trials, and {} has {} combinations of values", keys_.trials,
                                     entry.label, count),
                .remedy = "leave trials out, or write search = \"random\""});
    if (plan_.trials != 0 && plan_.trials != trials)
      complain({.place = table_->place,
                .found = fmt::format("{} gets {} trials, those before it get {}", entry.label, trials,
                                     plan_.trials),
                .allowed = "as many for every algorithm",
                .remedy = fmt::format("write search = \"random\" and trials = {}, or give other lists",
                                      std::min(trials, plan_.trials))});
    plan_.trials = trials;
    return all_combinations(values_of(), dimensions);
  }

  void add_trials(const AlgorithmEntry& first, std::size_t algorithm) {
    const Indices dimensions = heeded_by(algorithm);
    if (dimensions.empty())
      complain({.place = table_->place,
                .found = fmt::format("[{}] changes nothing for {}", kTuning, first.label),
                .allowed = "as many trials for every algorithm",
                .remedy = fmt::format("give it values: \"algorithms.{}.KEY\" = [values]", first.label)});
    for (const Indices& at : trials_of(first, dimensions)) {
      Experiment experiment = read_at(at);
      const Swept swept = swept_at(at, dimensions);
      AlgorithmEntry entry = std::move(experiment.algorithms[algorithm]);
      auto point = std::find_if(plan_.points.begin(), plan_.points.end(),
                                [&](const GridPoint& candidate) { return candidate.swept == swept; });
      if (point == plan_.points.end()) {
        experiment.seeds = {keys_.seed};
        experiment.algorithms.clear();
        point = plan_.points.insert(point, {point_name(swept), swept, std::move(experiment)});
      }
      point->experiment.algorithms.push_back(std::move(entry));
    }
  }

  const FileVariant& variant_;
  Document document_;
  const Table* table_ = nullptr;
  TuningKeys keys_;
  std::vector<const Setting*> entries_;
  std::vector<Dimension> dimensions_;
  std::vector<bool> ranges_;  // which of the dimensions were drawn
  TuningPlan plan_;
};

void refuse_beside_sweep(Document document) {
  const Section* tuning = find_section(document, kTuning);
  if (tuning == nullptr || find_section(document, kSweep) == nullptr) return;
  complain({.place = tuning->place,
            .found = fmt::format("[{}] beside [{}]", kTuning, kSweep),
            .remedy = fmt::format(
                "tune at one point of the grid: take [{}] out, and give its values with --set", kSweep)});
}

}  // namespace

std::optional<TuningPlan> read_tuning(const std::filesystem::path& file,
                                      const std::vector<std::string>& overrides, const Catalog& catalog,
                                      const std::optional<std::string>& profile) {
  return parse_tuning(file_text(file), file.string(), overrides, catalog, profile);
}

std::optional<TuningPlan> parse_tuning(std::string_view text, const std::string& file_name,
                                       const std::vector<std::string>& overrides, const Catalog& catalog,
                                       const std::optional<std::string>& profile) {
  const std::vector<SectionSpec> specs = sections(catalog);
  const std::vector<Profile> profiles = profiles_of(parse_document(text, file_name), specs);
  const Profile* const chosen = profile ? &chosen_profile(profiles, *profile, file_name) : nullptr;
  const auto read = [&](const Profile* profile_of_these, const std::vector<std::string>& texts) {
    const FileVariant variant{text, file_name, specs, profile_of_these, texts};
    refuse_beside_sweep(document_of(variant));
    return Tuning(variant).plan();
  };
  // As of the rest of the file, a mistake in a profile shows whenever it is read.
  for (const Profile& other : profiles) {
    if (&other != chosen) read(&other, {});
  }
  return read(chosen, overrides);
}

}  // namespace fedarena
