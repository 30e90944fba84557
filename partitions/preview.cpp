#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "partitions/card.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kMostCountedClasses = 20;

// From nothing to the largest count of any client and class, which is cut into four equal ranges.
constexpr std::array<std::string_view, 5> kShades = {"·", "░", "▒", "▓", "█"};

std::size_t shade(std::int64_t count, std::int64_t largest) {
  if (count == 0) return 0;
  return static_cast<std::size_t>((count * 4 + largest - 1) / largest);
}

std::int64_t largest_count(const PartitionStatistics& statistics) {
  std::int64_t largest = 0;
  for (const auto& counts : statistics.class_counts) {
    largest = std::max(largest, *std::max_element(counts.begin(), counts.end()));
  }
  return largest;
}

using Column = std::vector<std::string>;  // the heading first

std::size_t width(const Column& column) { return std::ranges::max(column, {}, &std::string::size).size(); }

std::vector<Column> columns_of(const PartitionStatistics& statistics, std::size_t clients) {
  std::vector<Column> columns = {{"client"}, {"examples"}};
  for (std::size_t client = 0; client < clients; ++client) {
    columns[0].push_back(std::to_string(client));
    columns[1].push_back(std::to_string(statistics.sizes[client]));
  }
  if (statistics.class_counts.empty()) return columns;
  columns.push_back({"entropy"});
  for (std::size_t client = 0; client < clients; ++client) {
    columns[2].push_back(fmt::format("{:.2f}", statistics.label_entropy[client]));
  }
  const std::size_t classes = statistics.class_counts.front().size();
  if (classes > static_cast<std::size_t>(kMostCountedClasses)) return columns;
  for (std::size_t label = 0; label < classes; ++label) {
    Column column{std::to_string(label)};
    for (std::size_t client = 0; client < clients; ++client) {
      column.push_back(std::to_string(statistics.class_counts[client][label]));
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

// Two columns a class where they fit, so that cells are about square.
std::size_t columns_a_class(std::size_t classes) { return classes <= 40 ? 2 : 1; }

std::string heat_of(const std::vector<std::int64_t>& counts, std::int64_t largest) {
  std::string text = "|";
  for (const std::int64_t count : counts) {
    for (std::size_t i = 0; i < columns_a_class(counts.size()); ++i)
      text += kShades.at(shade(count, largest));
  }
  return text + "|";
}

std::string legend(std::int64_t largest) {
  std::string text = fmt::format("heat, a class after the other: {} no example", kShades[0]);
  std::int64_t below = 0;
  for (std::size_t level = 1; level < kShades.size(); ++level) {
    const std::int64_t most = largest * static_cast<std::int64_t>(level) / 4;
    if (most > std::exchange(below, most)) text += fmt::format(", {} to {}", kShades.at(level), most);
  }
  return text + "\n";
}

}  // namespace

std::string preview(const PartitionStatistics& statistics, std::int64_t most_clients) {
  FEDARENA_CHECK(most_clients, >=, 1);
  const std::size_t clients = std::min(statistics.sizes.size(), static_cast<std::size_t>(most_clients));
  const bool labelled = !statistics.class_counts.empty();
  const std::int64_t largest = largest_count(statistics);
  const std::vector<Column> columns = columns_of(statistics, clients);
  std::string text;
  for (std::size_t row = 0; row <= clients; ++row) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      line += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", columns[i][row], width(columns[i]));
      if (i != 2 || !labelled) continue;
      const auto& counts = statistics.class_counts[row == 0 ? 0 : row - 1];
      line += "  ";
      line += row == 0 ? std::string(columns_a_class(counts.size()) * counts.size() + 2, ' ')
                       : heat_of(counts, largest);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  if (clients < statistics.sizes.size()) {
    text += fmt::format("... and {} more clients\n", statistics.sizes.size() - clients);
  }
  if (labelled) text += legend(largest);
  return text;
}

}  // namespace fedarena
