#include "harness/config/grid/range.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "fedarena/base/stream.hpp"

#include "harness/config/grid/sweep.hpp"

namespace fedarena::config {
namespace {

constexpr std::string_view kRangeForm = R"({from = LOWEST, to = HIGHEST, scale = "linear" or "log"})";
// For each value; a range that needs more holds hardly as many.
constexpr std::size_t kMostDraws = 1000;
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
  const auto& value = setting.written.value;
  if (value && std::holds_alternative<std::int64_t>(*value))
    return static_cast<double>(std::get<std::int64_t>(*value));
  const double* number = value ? std::get_if<double>(&*value) : nullptr;
  if (number == nullptr || !std::isfinite(*number))
    refuse(setting.written.place,
           fmt::format("\"{}\" is {}", setting.key, value ? to_text(*value) : setting.written.kind));
  return *number;
}

double end_of_range(const Setting& setting) {
  const double number = number_of(setting);
  if (std::abs(number) > kLargest)
    complain({.place = setting.written.place,
              .found = fmt::format("\"{}\" is {}", setting.key, to_text(*setting.written.value)),
              .allowed = "numbers up to 2^53 on both sides of 0"});
  return number;
}

bool is_whole(const Setting& setting) {
  return setting.written.value && std::holds_alternative<std::int64_t>(*setting.written.value);
}

Range range_of(const Setting& entry) {
  const Table& table = *entry.written.table;
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
      refuse(scale->written.place,
             fmt::format("\"scale\" is {}", value ? to_text(*value) : scale->written.kind));
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

}  // namespace

bool is_range(const Setting& entry) {
  const std::shared_ptr<Table>& table = entry.written.table;
  return table != nullptr && (table->find("from") != nullptr || table->find("to") != nullptr);
}

std::vector<Written> drawn_from(const Setting& entry, std::size_t count, std::uint64_t seed) {
  const Range range = range_of(entry);
  Stream stream({.seed = seed, .purpose = Purpose::kTuning, .index = stable_hash(entry.key)});
  std::vector<Value> values;
  for (std::size_t draws = 0; values.size() < count; ++draws) {
    if (draws == kMostDraws * count)
      complain({.place = entry.written.place,
                .found = fmt::format("the range holds fewer than {} different values", count),
                .remedy = "make it wider, or give a list"});
    const Value value = draw(range, stream);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  std::vector<Written> written;
  for (Value& value : values)
    written.push_back({.place = entry.written.place, .value = std::move(value), .kind = {}});
  return written;
}

}  // namespace fedarena::config
