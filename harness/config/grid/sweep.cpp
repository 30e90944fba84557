#include "harness/config/grid/sweep.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "fedarena/base/fnv.hpp"
#include "fedarena/base/overload.hpp"

#include "harness/config/grid/overrides.hpp"

namespace fedarena::config {
namespace {

constexpr std::string_view kSweepForm =
    "\"section.key\" = [values] or \"algorithms.LABEL.key\" = [values], with the path in quotes";
constexpr std::string_view kAlgorithms = "algorithms.";
// File systems take 255 bytes; this leaves room for the hash.
constexpr std::size_t kLongestPoint = 200;

void flatten(const std::string& path, const Written& written, Swept& swept) {
  if (written.table == nullptr) {
    swept.emplace_back(path, written.value ? plain_text(*written.value) : written.kind);
    return;
  }
  for (const Setting& setting : written.table->settings)
    flatten(path + "." + setting.key, setting.written, swept);
}

void apply(Document& document, const std::string& path, const OverrideSource& source, const Written& written,
           const std::vector<SectionSpec>& specs) {
  if (written.table == nullptr) {
    put_override(document, path, source, written, specs);
    return;
  }
  for (const Setting& setting : written.table->settings)
    apply(document, path + "." + setting.key, {setting.place, source.form, source.lists}, setting.written,
          specs);
}

void add_places_in(std::vector<std::string>& places, const Written& written) {
  places.push_back(written.place.str());
  if (written.table == nullptr) return;
  for (const Setting& setting : written.table->settings) {
    places.push_back(setting.place.str());
    add_places_in(places, setting.written);
  }
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
    const Written& written = dimension.values[index];
    Swept swept = swept_by(dimension, index);
    if (swept.empty())
      complain({.place = written.place, .found = "an empty table", .allowed = "{key = value}"});
    if (std::find(seen.begin(), seen.end(), swept) != seen.end()) {
      const bool single = written.table == nullptr;
      complain({.place = written.place,
                .found = single ? fmt::format("{} is listed twice", in_quotes(swept.front().second))
                                : "the same table is listed twice",
                .allowed = "different values"});
    }
    seen.push_back(std::move(swept));
  }
}

// What [sweep] leaves to others.
void check_paths(const Dimension& dimension) {
  for (std::size_t index = 0; index < dimension.values.size(); ++index) {
    for (const auto& [path, text] : swept_by(dimension, index))
      check_path(path, dimension.values[index].place);
  }
}

void check_list(const Setting& setting) {
  const Written& written = setting.written;
  if (written.table != nullptr) {
    // Without quotes, TOML takes the dots of a path for tables.
    complain({.place = setting.place,
              .found = in_quotes(setting.key) + " is a table",
              .allowed = std::string(kSweepForm)});
  }
  if (written.items.empty()) {
    const auto* list = written.value ? std::get_if<std::vector<std::int64_t>>(&*written.value) : nullptr;
    complain({.place = written.place,
              .found = list != nullptr ? "an empty list"
                                       : fmt::format("{} is {}", in_quotes(setting.key),
                                                     written.value ? to_text(*written.value) : written.kind),
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
std::optional<std::size_t> algorithm_of(const std::string& path, Document& document) {
  const Section* section = find_section(document, "algorithms");
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

bool plain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || std::string_view("-_.+").find(letter) != std::string_view::npos;
}

}  // namespace

std::vector<Dimension> dimensions_of(Document& document) {
  std::vector<Dimension> dimensions;
  const Section* section = find_section(document, kSweep);
  // Another form is refused with those of other sections.
  if (section == nullptr || section->form != Section::Form::kTable) return dimensions;
  for (const Setting& setting : section->tables.front().settings) {
    dimensions.push_back(dimension_of(setting, kSweep, document));
    check_paths(dimensions.back());
  }
  return dimensions;
}

Dimension dimension_of(const Setting& entry, std::string_view section, Document& document) {
  check_list(entry);
  return checked_dimension({entry.key, entry.place, entry.written.items, section}, document);
}

Dimension checked_dimension(Dimension dimension, Document& document) {
  check_values(dimension);
  dimension.algorithm = algorithm_of(dimension.path, document);
  return dimension;
}

void apply_value(Document& document, const Dimension& dimension, std::size_t value,
                 const std::vector<SectionSpec>& specs) {
  const Written& written = dimension.values.at(value);
  apply(document, dimension.path, {written.place, std::string(kSweepForm), dimension.section}, written,
        specs);
}

Swept swept_by(const Dimension& dimension, std::size_t value) {
  Swept swept;
  flatten(dimension.path, dimension.values.at(value), swept);
  std::sort(swept.begin(), swept.end());
  return swept;
}

void add_places(std::vector<std::string>& places, const Dimension& dimension, std::size_t value) {
  add_places_in(places, dimension.values.at(value));
}

void rethrow_at_point(const Error& error, const std::vector<std::string>& places, const Swept& swept) {
  Complaint complaint = error.complaint();
  const bool told = std::find(places.begin(), places.end(), complaint.place.str()) != places.end();
  if (!told) complaint.found += fmt::format(" (at the point {})", point_name(swept));
  complain(std::move(complaint));
}

std::string plain_text(const Value& value) {
  return std::visit(Overload{[](bool flag) { return std::string(flag ? "true" : "false"); },
                             [](std::int64_t number) { return fmt::format("{}", number); },
                             [](double number) { return fmt::format("{}", number); },
                             [](const std::string& text) { return text; },
                             [](const std::vector<std::int64_t>& list) {
                               return fmt::format("[{}]", fmt::join(list, ", "));
                             }},
                    value);
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
