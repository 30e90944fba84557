#include "datasets/own/csv_parts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/stream.hpp"
#include "fedarena/base/text.hpp"

#include "datasets/own/lookalikes.hpp"

namespace fedarena {
namespace {

// Part of every result on such data: never change it.
constexpr std::uint64_t kSplitSeed = 0x6373760000000001;

// In deviations: no training row is so far from the mean, and no model says anything sensible about such a
// row.
constexpr double kFarthest = 1e6;
// The square of it is a number in single precision.
constexpr double kLargest = 1e18;

using Rows = std::vector<std::int64_t>;

[[noreturn]] void reject(const CsvTable& table, const NumberColumn& column, std::int64_t row,
                         const std::string& why, const std::string& remedy) {
  throw Error(
      Complaint{.place = table.place_of(row),
                .found = fmt::format("the field of column {} is {}, {}", fedarena::quoted(column.name()),
                                     column.values()[static_cast<std::size_t>(row)], why),
                .remedy = remedy});
}

std::int64_t farthest(const NumberColumn& column, const ColumnScale& scale, const Rows& rows) {
  return *std::ranges::max_element(rows, {}, [&](std::int64_t row) {
    return std::abs(scale(column.values()[static_cast<std::size_t>(row)]));
  });
}

// A column, what is wanted of it, and what users can do about its values.
struct Scaled {
  const NumberColumn& column;
  bool standardised;
  std::string setting;  // with which it would be
  std::string remedy = {};
  std::optional<double> unit = {};
};

std::optional<double> unit_of(const CsvUnits& units, const std::string& name) {
  const auto found = std::ranges::find(units, name, &CsvUnits::value_type::first);
  return found == units.end() ? std::nullopt : std::optional(found->second);
}

void check_units(const CsvTable& table, const CsvUnits& units) {
  std::vector<std::string> columns = names_of(table.features(), &NumberColumn::name);
  if (table.regression()) columns.push_back(table.numeric_target().name());
  for (const auto& [name, unit] : units) {
    if (contains(columns, name)) continue;
    throw Error(
        Complaint{.found = fmt::format("units names the column {}, which is not one of numbers in use",
                                       fedarena::quoted(name)),
                  .allowed = join_names(columns),
                  .nearest = nearest_name(name, columns)});
  }
}

ColumnScale scale_of(const CsvTable& table, const CsvParts& parts, const Scaled& wanted) {
  const auto& [column, asked, setting, remedy, unit] = wanted;
  const bool standardised = asked && !unit;
  const ColumnScale scale = standardised ? ColumnScale(column.values(), parts.train)
                            : unit       ? ColumnScale(*unit)
                                         : ColumnScale();
  if (hides_differences(scale, column.values(), parts.train))
    reject(table, column, farthest(column, scale, parts.train),
           "beside which most others can hardly be told apart in single precision",
           standardised ? remedy
           : unit       ? "Choose another unit, subtract a constant from the column, or leave it out of units"
                  : fmt::format("Set standardise = \"{}\", or subtract a constant from the column", setting));
  for (const Rows* rows : {&parts.train, &parts.test}) {
    const std::int64_t row = farthest(column, scale, *rows);
    const double size = std::abs(scale(column.values()[static_cast<std::size_t>(row)]));
    if (standardised && size > kFarthest)
      reject(table, column, row,
             fmt::format(
                 "{:.2g} deviations away from the mean of the training rows (more than {:g} make no sense)",
                 size, kFarthest),
             remedy);
    if (size > kLargest)
      reject(table, column, row, fmt::format("which is larger than {:g}", kLargest),
             fmt::format("{}; or set standardise = \"{}\"", remedy, setting));
  }
  return scale;
}

}  // namespace

CsvParts split_at(std::int64_t first, std::int64_t rows) {
  CsvParts parts;
  for (std::int64_t row = 0; row < rows; ++row) (row < first ? parts.train : parts.test).push_back(row);
  return parts;
}

CsvParts draw_parts(std::int64_t rows, double test_fraction) {
  const auto wanted = static_cast<std::int64_t>(std::llround(test_fraction * static_cast<double>(rows)));
  Stream stream({.seed = kSplitSeed, .purpose = Purpose::kDataset});
  CsvParts parts;
  parts.test = stream.sample_without_replacement(rows, std::clamp<std::int64_t>(wanted, 1, rows - 1));
  const Rows all = split_at(rows, rows).train;
  std::ranges::set_difference(all, parts.test, std::back_inserter(parts.train));
  return parts;
}

CsvScales scale_columns(const CsvTable& table, const CsvParts& parts, bool features, bool target,
                        CsvUnits units) {
  check_units(table, units);
  CsvScales scales;
  scales.units = std::move(units);
  for (const NumberColumn& column : table.features())
    scales.features.push_back(scale_of(
        table, parts,
        {column, features, "features", "Mend it, leave the row out, or leave the column out of features",
         unit_of(scales.units, column.name())}));
  if (!table.regression()) return scales;
  const NumberColumn& column = table.numeric_target();
  if (ColumnScale(column.values(), parts.train).constant())
    reject(table, column, parts.train.front(), "as in every training row, so that there is nothing to learn",
           "Choose another target");
  scales.target =
      scale_of(table, parts,
               {column, target, "all", "Mend it or leave the row out", unit_of(scales.units, column.name())});
  return scales;
}

std::vector<std::int64_t> class_counts(const CsvTable& table, const Rows& rows) {
  std::vector<std::int64_t> counts(table.class_target().names().size());
  for (const std::int64_t row : rows)
    ++counts[static_cast<std::size_t>(table.class_target().values()[static_cast<std::size_t>(row)])];
  return counts;
}

void check_test_classes(const CsvTable& table, const CsvParts& parts) {
  if (table.regression()) return;
  const std::vector<std::int64_t> counts = class_counts(table, parts.train);
  const TextColumn& target = table.class_target();
  std::vector<std::string> trained;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) trained.push_back(target.names()[i]);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) continue;
    const std::string& name = target.names()[i];
    throw Error::at(target.places()[i],
                    fmt::format("the class {} is in no training row", fedarena::quoted(name)),
                    {.allowed = join_names(trained),
                     .nearest = nearest_name(name, trained),
                     .remedy = "Mend the label, leave the rows out, or train on such rows"});
  }
}

namespace {

constexpr std::size_t kMostListed = 20;
constexpr std::size_t kLongestName = 60;  // in bytes; a field may be a whole text

std::string shown_name(std::string_view name) { return quoted_exactly(shortened(name, kLongestName)); }

// A line of at most so many entries; none of an empty list.
std::string line(const std::string& heading, const std::vector<std::string>& entries) {
  if (entries.empty()) return {};
  std::string text = fmt::format("\n  {}: ", heading);
  for (std::size_t i = 0; i < std::min(entries.size(), kMostListed); ++i)
    text += (i == 0 ? "" : ", ") + entries[i];
  if (entries.size() > kMostListed) text += fmt::format(" and {} more", entries.size() - kMostListed);
  return text;
}

// The features of which something is true.
std::vector<std::string> features_that(const CsvTable& table,
                                       const std::function<bool(std::size_t position)>& is) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table.features().size(); ++i)
    if (is(i)) names.push_back(shown_name(table.features()[i].name()));
  return names;
}

std::string categories(const TextColumn& column, const std::vector<std::int64_t>& train, bool tells_labels) {
  std::vector<bool> trained(column.names().size());
  for (const std::int64_t row : train)
    trained[static_cast<std::size_t>(column.values()[static_cast<std::size_t>(row)])] = true;
  const auto untrained = std::ranges::count(trained, false);
  return fmt::format(
      "{} ({}{})", shown_name(column.name()), counted(trained.size(), "value"),
      untrained == 0 || !tells_labels ? "" : fmt::format(", {} of them only in test rows", untrained));
}

std::string target(const CsvTable& table, const CsvParts& parts, bool tells_labels) {
  if (table.regression()) {
    const auto [low, high] = std::ranges::minmax(table.numeric_target().values());
    return line("target", {fmt::format("{}, numbers{}", shown_name(table.numeric_target().name()),
                                       tells_labels ? fmt::format(" from {:g} to {:g}", low, high) : "")});
  }
  const TextColumn& column = table.class_target();
  const std::vector<std::int64_t> train = class_counts(table, parts.train),
                                  test = class_counts(table, parts.test);
  std::vector<std::string> classes, untrained;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const std::string name = shown_name(column.names()[i]);
    classes.push_back(tells_labels ? fmt::format("{} {} + {}", name, train[i], test[i]) : name);
    if (tells_labels && train[i] == 0) untrained.push_back(name);
  }
  return line(fmt::format("target: {}, {}{}", shown_name(column.name()),
                          counted(classes.size(), "class", "classes"),
                          tells_labels ? " (training + test rows)" : ""),
              classes) +
         line("in test rows alone, so that no model can know them", untrained);
}

}  // namespace

std::string in_words(const CsvTable& table, const CsvParts& parts, const CsvScales& scales,
                     bool tells_labels) {
  const auto of_truths = [&](std::size_t i) { return table.features()[i].kind() == ColumnKind::kTruths; };
  std::string text = fmt::format("csv: {} and {}", counted(parts.train.size(), "training row"),
                                 counted(parts.test.size(), "test row"));
  text += line("numbers", features_that(table, std::not_fn(of_truths)));
  text += line("True and False as 1 and 0", features_that(table, of_truths));
  text += line("constant in the training rows, hence 0 everywhere",
               features_that(table, [&](std::size_t i) { return scales.features[i].constant(); }));
  text += line("divided by", names_of(scales.units, [](const auto& column) {
                 return fmt::format("{} {:g}", shown_name(column.first), column.second);
               }));
  if (const CsvRoles& roles = table.roles(); !roles.index.empty()) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < roles.index_values.size(); ++i)
      values.push_back(fmt::format("{} for {}", i, shown_name(roles.index_values[i])));
    text += line(fmt::format("index {} ({} left out)", shown_name(roles.index),
                             counted(static_cast<std::size_t>(table.left_out()), "other row")),
                 values);
  }
  if (table.roles().drop_missing)
    text += line("left out, since something is missing",
                 {counted(static_cast<std::size_t>(table.incomplete()), "row")});
  text += line("categorical", names_of(table.categorical(), [&](const TextColumn& column) {
                 return categories(column, parts.train, tells_labels);
               }));
  if (!table.users().name().empty())
    text += line("user", {fmt::format("{} ({})", shown_name(table.users().name()),
                                      counted(table.users().names().size(), "user"))});
  text += target(table, parts, tells_labels);
  return text + line("not used", names_of(table.unused(), [](const CsvTable::Unused& column) {
                       return fmt::format("{} ({})", shown_name(column.name), column.reason);
                     }));
}

}  // namespace fedarena
