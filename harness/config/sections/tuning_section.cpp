#include "harness/config/sections/tuning_section.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/config/grid/range.hpp"
#include "harness/config/sections/table_reading.hpp"
#include "harness/config/sections/unknown.hpp"

namespace fedarena::config {
namespace {

constexpr std::string_view kTuningForm =
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
                .allowed = std::string(kTuningForm),
                .remedy = fmt::format("compare values of it with [{}]", kSweep)});
    }
  }
}

// Paths begin with the name of a section, keys of [tuning] do not.
bool is_path(const std::string& key, const std::vector<SectionSpec>& specs) {
  return std::any_of(specs.begin(), specs.end(), [&](const SectionSpec& spec) {
    return spec.name == std::string_view(key).substr(0, key.find('.'));
  });
}

Dimension drawn_dimension(const Setting& entry, const TuningKeys& keys, Document& document) {
  auto values =
      drawn_from(entry, static_cast<std::size_t>(keys.trials), static_cast<std::uint64_t>(keys.seed));
  return checked_dimension({entry.key, entry.place, std::move(values), kTuning}, document);
}

}  // namespace

TuningSection read_tuning_section(Document& document, const std::vector<SectionSpec>& specs) {
  const Table& table = find_section(document, kTuning)->tables.front();
  const SectionSpec& spec = *std::find_if(specs.begin(), specs.end(), [](const SectionSpec& candidate) {
    return candidate.kind == SectionSpec::Kind::kTuning;
  });
  TuningSection section{
      .place = table.place, .trials_place = table.place, .keys = {}, .dimensions = {}, .drawn = {}};
  read_keys(table, spec, specs, &section.keys);
  if (const Setting* trials = table.find("trials")) section.trials_place = trials->written.place;
  if (section.random() && section.keys.trials == 0)
    complain({.place = section.trials_place,
              .found = "search = \"random\" without a number of trials",
              .remedy = "write trials = 10, for example"});
  for (const Setting& entry : table.settings) {
    if (spec.find(entry.key) != nullptr) continue;
    if (!is_path(entry.key, specs)) {
      std::vector<std::string> known;
      for (const Key& key : spec.keys) known.push_back(key.field.name);
      complain_unknown_key(entry.key, entry.place, spec, known, specs);
    }
    const bool range = is_range(entry);
    if (range && !section.random())
      complain({.place = entry.written.place,
                .found = "a range in a grid",
                .remedy = "write search = \"random\", or give a list"});
    section.drawn.push_back(range);
    section.dimensions.push_back(range ? drawn_dimension(entry, section.keys, document)
                                       : dimension_of(entry, kTuning, document));
    check_may_be_tuned(section.dimensions.back());
  }
  if (section.dimensions.empty())
    complain({.place = section.place,
              .found = fmt::format("[{}] names no settings", kTuning),
              .allowed = std::string(kTuningForm)});
  return section;
}

}  // namespace fedarena::config
