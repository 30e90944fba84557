#include "datasets/own/csv_parts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/stream.hpp"
#include "fedarena/base/text.hpp"

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

}  // namespace fedarena
