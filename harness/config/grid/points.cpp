#include "harness/config/grid/points.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/fnv.hpp"
#include "fedarena/base/overload.hpp"
#include "fedarena/base/text.hpp"

#include "harness/config/grid/overrides.hpp"

namespace fedarena::config {
namespace {

constexpr std::string_view kAlgorithms = "algorithms.";
// How entries of [sweep] are written, for messages.
constexpr std::string_view kSweepForm =
    "\"section.key\" = [values] or \"algorithms.LABEL.key\" = [values], with the path in quotes";

// As `Swept` has it: the same number has one text, however a file writes it.
std::string plain_text(const Value& value) {
  return std::visit(Overload{[](const auto& plain) { return fmt::format("{}", plain); },
                             [](const PerClient& clients) {
                               return clients.is_list() ? fmt::format("{}", clients.numbers())
                                                        : fmt::format("{}", clients.number());
                             }},
                    value);
}

void flatten(const std::string& path, const ParsedValue& written, Swept& swept) {
  if (!written.table()) {
    swept.emplace_back(path, written.value ? plain_text(*written.value) : written.kind);
    return;
  }
  for (const Setting& setting : written.table()->settings)
    flatten(path + "." + setting.key, setting.written, swept);
}

// What names cells, or is a dimension already.
void check_path(const std::string& path, const Place& place) {
  Complaint complaint{.place = place, .found = in_quotes(path) + " cannot be swept"};
  if (path == "experiment.seeds") {
    complaint.remedy = "list them in [experiment] seeds: every point is run under each";
  } else if (path == "experiment.name") {
    complaint.remedy = "leave it out: every point gets a folder of its own below that of the experiment";
  } else if (path.starts_with(kAlgorithms) && (path.ends_with(".name") || path.ends_with(".label"))) {
    complaint.remedy = "write [[algorithms]] once for each algorithm";
  } else if (path.starts_with("slurm")) {
    complaint.remedy = "leave it out: options of sbatch are the same for all cells";
  } else if (path.starts_with("profiles.") || path.starts_with("sweep.")) {
    complaint.allowed = kSweepForm;
  } else {
    return;
  }
  complain(std::move(complaint));
}

void check_values(const Dimension& dimension) {
  std::vector<Swept> seen;
  for (std::size_t index = 0; index < dimension.values.size(); ++index) {
    const ParsedValue& written = dimension.values[index];
    Swept swept = swept_by(dimension, index);
    if (swept.empty())
      complain({.place = written.place, .found = "an empty table", .allowed = "{key = value}"});
    if (contains(seen, swept)) {
      const bool single = !written.table();
      complain({.place = written.place,
                .found = single ? fmt::format("{} is listed twice", in_quotes(swept.front().second))
                                : "the same table is listed twice",
                .allowed = "different values"});
    }
    seen.push_back(std::move(swept));
  }
}

void check_list(const Setting& setting) {
  const ParsedValue& written = setting.written;
  if (written.table()) {
    // Without quotes, TOML takes the dots of a path for tables.
    complain({.place = setting.place,
              .found = in_quotes(setting.key) + " is a table",
              .allowed = std::string(kSweepForm)});
  }
  if (written.items.empty()) {
    const auto* list = written.get<std::vector<std::int64_t>>();
    complain({.place = written.place,
              .found = list != nullptr ? "an empty list"
                                       : fmt::format("{} is {}", in_quotes(setting.key), written.text()),
              .allowed = "a list of values, such as [0.1, 0.5]"});
  }
  if (written.items.size() > kMostPoints) {
    complain({.place = written.items[kMostPoints].place,
              .found = fmt::format("more than {} values", kMostPoints),
              .allowed = fmt::format("at most {}", kMostPoints)});
  }
}

// The text stands for the algorithm of that label, or for something of it.
bool is_of(std::string_view text, const std::string& label) {
  return text.starts_with(label) && (text.size() == label.size() || text[label.size()] == '.');
}

// Labels may hold dots; the longest wins. No label at all is found out when a value is put there.
std::optional<std::size_t> algorithm_of(const std::string& path, const Document& document) {
  const Section* section = document.find("algorithms");
  if (section == nullptr || !path.starts_with(kAlgorithms)) return std::nullopt;
  const std::string_view rest = std::string_view(path).substr(kAlgorithms.size());
  std::optional<std::size_t> found;
  std::size_t longest = 0;
  for (std::size_t index = 0; index < section->tables.size(); ++index) {
    const std::string label = label_of(section->tables[index]);
    if (label.size() <= longest || (!is_of(rest, label) && !is_of(rest, in_quotes(label)))) continue;
    longest = label.size();
    found = index;
  }
  return found;
}

// File systems take 255 bytes; this leaves room for the hash.
constexpr std::size_t kLongestPoint = 200;

void put_all(Document& document, const std::string& path, const OverrideSource& source,
             const ParsedValue& written, const std::vector<SectionSpec>& specs) {
  if (!written.table()) {
    put_override(document, path, source, written, specs);
    return;
  }
  for (const Setting& setting : written.table()->settings)
    put_all(document, path + "." + setting.key, {setting.place, source.form, source.lists}, setting.written,
            specs);
}

// Where what the value gives is written: the value itself, and keys and values of a table.
void add_places_in(std::vector<std::string>& places, const ParsedValue& written) {
  places.push_back(written.place.str());
  if (!written.table()) return;
  for (const Setting& setting : written.table()->settings) {
    places.push_back(setting.place.str());
    add_places_in(places, setting.written);
  }
}

// A policy's name and declarations say what it hides, its numbers how well. Of one name all have the same
// keys.
bool hide_alike(const Choice& left, const Choice& right) {
  const auto alike = [](const auto& one, const auto& other) {
    return !std::holds_alternative<bool>(one.second) || one == other;
  };
  return left.name == right.name && std::ranges::equal(left.settings, right.settings, alike);
}

bool plain(char letter) {
  return is_letter_or_digit(letter) || std::string_view("-_.+").find(letter) != std::string_view::npos;
}

// Who sweeps the key that chooses what other keys a section has may give each value those of its own.
void add_choice_remedy(Complaint& complaint, const std::vector<SectionSpec>& specs,
                       const std::vector<Dimension>& dimensions) {
  for (const Dimension& dimension : dimensions) {
    const std::size_t dot = dimension.path.find('.');
    const SectionSpec* spec = find_spec(specs, std::string_view(dimension.path).substr(0, dot));
    if (spec == nullptr || spec->kind != SectionSpec::Kind::kChoice || dot == std::string::npos) continue;
    const std::string& key = spec->keys.front().name();
    if (dimension.path.substr(dot + 1) != key || complaint.found.find(spec->header()) == std::string::npos)
      continue;
    complaint.remedy +=
        fmt::format("{}sweep tables, each with keys of its own: {} = [{{{} = ..., KEY = VALUE}}, ...]",
                    complaint.remedy.empty() ? "" : "; ", in_quotes(spec->name), key);
  }
}

}  // namespace

std::vector<Dimension> dimensions_of(const Document& document) {
  std::vector<Dimension> dimensions;
  const Table* table = document.table(kSweep);
  // Another form is refused with those of other sections.
  if (table == nullptr) return dimensions;
  for (const Setting& setting : table->settings) {
    const Dimension& dimension = dimensions.emplace_back(dimension_of(setting, kSweep, document));
    for (std::size_t index = 0; index < dimension.values.size(); ++index) {
      for (const auto& [path, text] : swept_by(dimension, index))
        check_path(path, dimension.values[index].place);
    }
  }
  return dimensions;
}

Dimension dimension_of(const Setting& entry, std::string_view section, const Document& document) {
  check_list(entry);
  return checked_dimension({entry.key, entry.place, entry.written.items, section}, document);
}

Dimension checked_dimension(Dimension dimension, const Document& document) {
  check_values(dimension);
  dimension.algorithm = algorithm_of(dimension.path, document);
  return dimension;
}

Swept swept_by(const Dimension& dimension, std::size_t value) {
  Swept swept;
  flatten(dimension.path, dimension.values.at(value), swept);
  std::sort(swept.begin(), swept.end());
  return swept;
}

std::vector<Indices> all_combinations(const std::vector<Dimension>& dimensions, const Indices& of) {
  std::vector<Indices> all = {Indices(dimensions.size(), 0)};
  for (const std::size_t dimension : of) {
    std::vector<Indices> longer;
    for (const Indices& at : all) {
      for (std::size_t value = 0; value < dimensions[dimension].values.size(); ++value) {
        longer.push_back(at);
        longer.back()[dimension] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

Swept swept_at(const std::vector<Dimension>& dimensions, const Indices& at, const Indices& of) {
  Swept swept;
  for (const std::size_t index : of) {
    for (auto& pair : swept_by(dimensions[index], at[index])) swept.push_back(std::move(pair));
  }
  std::sort(swept.begin(), swept.end());
  return swept;
}

Experiment experiment_at(const FileVariant& variant, const std::vector<Dimension>& dimensions,
                         const Indices& at) {
  if (dimensions.empty()) return experiment_of(variant, variant.document);
  Document document = variant.document;
  try {
    for (std::size_t index = 0; index < at.size(); ++index) {
      const Dimension& dimension = dimensions[index];
      const ParsedValue& written = dimension.values[at[index]];
      put_all(document, dimension.path, {written.place, std::string(kSweepForm), dimension.section}, written,
              variant.specs);
    }
    return experiment_of(variant, document);
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    std::vector<std::string> places;
    for (std::size_t index = 0; index < at.size(); ++index)
      add_places_in(places, dimensions[index].values[at[index]]);
    if (!contains(places, complaint.place.str())) {
      // A mistake that shows at a place outside the sweep would be a riddle without the point.
      Indices all(at.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      add_choice_remedy(complaint, variant.specs, dimensions);
      complaint.found += fmt::format(" (at the point {})", point_name(swept_at(dimensions, at, all)));
    }
    complain(std::move(complaint));
  }
}

void share_policies(std::vector<GridPoint>& points) {
  std::vector<Choice> policies;
  for (const GridPoint& point : points) {
    for (const AlgorithmEntry& entry : point.experiment.algorithms) {
      const auto alike = [&](const Choice& policy) { return hide_alike(policy, entry.privacy); };
      if (entry.is_private() && std::ranges::none_of(policies, alike)) policies.push_back(entry.privacy);
    }
  }
  for (GridPoint& point : points) point.policies = policies;
}

bool is_heeded(const AlgorithmEntry& algorithm, const std::string& path) {
  const std::string_view section = std::string_view(path).substr(0, path.find('.'));
  return (section != kTraining && section != kPrivacy) || contains(algorithm.shared, path);
}

std::uint64_t stable_hash(std::string_view text) {
  Fnv1a hash;
  hash.add(text);
  return hash.value();
}

std::string point_name(const Swept& swept) {
  std::string exact;
  for (const auto& [path, text] : swept)
    exact += fmt::format("{}{}={}", exact.empty() ? "" : ",", path, text);
  std::string name;
  bool changed = false;
  for (const auto& [path, text] : swept) {
    if (!name.empty()) name += ',';
    for (const std::string* part : {&path, &text}) {
      for (const char letter : *part) {
        name += plain(letter) ? letter : '_';
        changed = changed || !plain(letter);
      }
      if (part == &path) name += '=';
    }
  }
  if (!changed && name.size() <= kLongestPoint) return name;
  return fmt::format("{}-{:016x}", name.substr(0, kLongestPoint), stable_hash(exact));
}

}  // namespace fedarena::config
