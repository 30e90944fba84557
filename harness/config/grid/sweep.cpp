#include "harness/config/grid/sweep.hpp"

#include <algorithm>

#include "fedarena/base/find.hpp"

#include "harness/config/grid/overrides.hpp"
#include "harness/config/grid/points.hpp"

namespace fedarena::config {
namespace {

constexpr std::string_view kAlgorithms = "algorithms.";

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

}  // namespace fedarena::config
