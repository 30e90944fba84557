// What was taken from a table, as the terminal shows it.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "datasets/own/csv_parts.hpp"
#include "datasets/own/lookalikes.hpp"

namespace fedarena {
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
