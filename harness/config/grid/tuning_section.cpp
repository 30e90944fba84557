#include "harness/config/grid/tuning_section.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "fedarena/base/find.hpp"
#include "fedarena/base/stream.hpp"

#include "harness/config/sections/table_reading.hpp"
#include "harness/config/sections/unknown.hpp"

namespace fedarena::config {
namespace {

constexpr std::string_view kRangeForm = R"({from = LOWEST, to = HIGHEST, scale = "linear" or "log"})";
// For each value; a range that needs more holds hardly as many.
constexpr std::size_t kMostDrawsOfRange = 1000;
// Beyond it, doubles are not all whole numbers, and the widths of ranges may be infinite.
constexpr double kLargest = 9007199254740992;  // 2^53

struct Range {
  double from = 0, to = 0;
  bool log = false;
  bool whole = false;
};

[[noreturn]] void refuse(const Place& place, std::string found) {
  complain({.place = place, .found = std::move(found), .allowed = std::string(kRangeForm)});
}

const Setting& end_of(const Table& table, const Setting& entry, const char* name) {
  const Setting* setting = table.find(name);
  if (setting == nullptr)
    refuse(entry.written.place, fmt::format("the range of {} has no \"{}\"", in_quotes(entry.key), name));
  return *setting;
}

double number_of(const Setting& setting) {
  if (const auto* whole = setting.written.get<std::int64_t>()) return static_cast<double>(*whole);
  const auto* number = setting.written.get<double>();
  if (number == nullptr || !std::isfinite(*number))
    refuse(setting.written.place, fmt::format("\"{}\" is {}", setting.key, setting.written.text()));
  return *number;
}

double end_of_range(const Setting& setting) {
  const double number = number_of(setting);
  if (std::abs(number) > kLargest)
    complain({.place = setting.written.place,
              .found = fmt::format("\"{}\" is {}", setting.key, setting.written.text()),
              .allowed = "numbers up to 2^53 on both sides of 0"});
  return number;
}

bool is_whole(const Setting& setting) { return setting.written.get<std::int64_t>() != nullptr; }

Range range_of(const Setting& entry) {
  const Table& table = *entry.written.table();
  for (const Setting& setting : table.settings) {
    if (setting.key != "from" && setting.key != "to" && setting.key != "scale")
      complain({.place = setting.place,
                .found = fmt::format("a range has no {}", in_quotes(setting.key)),
                .allowed = std::string(kRangeForm),
                .nearest = nearest_to(setting.key, {"from", "to", "scale"})});
  }
  const Setting& from = end_of(table, entry, "from");
  const Setting& to = end_of(table, entry, "to");
  Range range{.from = end_of_range(from), .to = end_of_range(to), .whole = is_whole(from) && is_whole(to)};
  if (const Setting* scale = table.find("scale")) {
    const auto& value = scale->written.value;
    range.log = value == Value(std::string("log"));
    if (!range.log && value != Value(std::string("linear")))
      refuse(scale->written.place, fmt::format("\"scale\" is {}", scale->written.text()));
  }
  if (!(range.from < range.to)) refuse(to.written.place, "\"to\" is not above \"from\"");
  if (range.log && range.from <= 0)
    complain({.place = from.written.place,
              .found = "\"from\" is not above 0, where a log scale ends",
              .remedy = "give a positive one, or scale = \"linear\""});
  return range;
}

// Nobody wants to type more digits, or to read them in a table.
double with_four_digits(double number) { return std::strtod(fmt::format("{:.4g}", number).c_str(), nullptr); }

Value draw(const Range& range, Stream& stream) {
  // Whole numbers are the floors of numbers below the one after the last.
  const double end = range.whole ? range.to + 1 : range.to;
  const double share = stream.uniform();
  const double number = range.log
                            ? std::exp(std::log(range.from) + share * (std::log(end) - std::log(range.from)))
                            : range.from + share * (end - range.from);
  if (range.whole) return static_cast<std::int64_t>(std::clamp(std::floor(number), range.from, range.to));
  return std::clamp(with_four_digits(number), range.from, range.to);
}

// Whether the entry is a range such as {from = 0.001, to = 1.0, scale = "log"}, or meant as one. Without
// quotes, TOML takes the dots of a path for tables.
bool is_range(const Setting& entry) {
  const Table* table = entry.written.table();
  return table != nullptr && entry.key.find('.') != std::string::npos &&
         std::ranges::none_of(table->settings,
                              [](const Setting& end) { return end.written.table() != nullptr; });
}

// A different value for each trial, drawn uniformly from the range, on its scale; whole numbers where both
// ends are, both included, else numbers of four significant digits. They depend on the seed and the entry's
// path alone, and the first of them not on how many there are.
std::vector<ParsedValue> drawn_from(const Setting& entry, const TuningKeys& keys) {
  const auto count = static_cast<std::size_t>(keys.trials);
  const Range range = range_of(entry);
  Stream stream({.seed = static_cast<std::uint64_t>(keys.seed),
                 .purpose = Purpose::kTuning,
                 .index = stable_hash(entry.key)});
  std::vector<Value> values;
  for (std::size_t draws = 0; values.size() < count; ++draws) {
    if (draws == kMostDrawsOfRange * count)
      complain({.place = entry.written.place,
                .found = fmt::format("the range holds fewer than {} different values", count),
                .remedy = "make it wider, or give a list"});
    const Value value = draw(range, stream);
    if (!contains(values, value)) values.push_back(value);
  }
  std::vector<ParsedValue> written;
  for (Value& value : values)
    written.push_back({.place = entry.written.place, .value = std::move(value), .tables = {}});
  return written;
}

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
  return find_spec(specs, std::string_view(key).substr(0, key.find('.'))) != nullptr;
}

}  // namespace

TuningSection read_tuning_section(const Document& document, const std::vector<SectionSpec>& specs) {
  const Table& table = *document.table(kTuning);
  const SectionSpec& spec = *find_spec(specs, kTuning);
  TuningSection section{.place = table.place, .trials_place = table.place};
  read_keys(table, spec, specs, &section.keys);
  if (const Setting* trials = table.find("trials")) section.trials_place = trials->written.place;
  if (section.random() && section.keys.trials == 0)
    complain({.place = section.trials_place,
              .found = "search = \"random\" without a number of trials",
              .remedy = "write trials = 10, for example"});
  for (const Setting& entry : table.settings) {
    if (spec.find(entry.key) != nullptr) continue;
    if (!is_path(entry.key, specs)) {
      complain_unknown_key(entry.key, entry.place, spec, names_of(spec.keys, &Key::name), specs);
    }
    const bool range = is_range(entry);
    if (range && !section.random())
      complain({.place = entry.written.place,
                .found = "a range in a grid",
                .remedy = "write search = \"random\", or give a list"});
    section.drawn.push_back(range);
    section.dimensions.push_back(
        range
            ? checked_dimension({entry.key, entry.place, drawn_from(entry, section.keys), kTuning}, document)
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
