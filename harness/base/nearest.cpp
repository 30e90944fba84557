#include "fedarena/base/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

namespace fedarena {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

// Optimal string alignment: Levenshtein with swaps of neighbours.
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::vector<std::size_t>> cost(left.size() + 1, std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= right.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t substitution = cost[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[left.size()][right.size()];
}

}  // namespace

std::string nearest_name(std::string_view found, std::span<const std::string> names) {
  constexpr std::size_t kLongest = 200;  // nobody mistypes a name into more, and the cost grows with it
  if (found.size() > kLongest) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, found.size() / 3 + 1);
  for (const std::string& name : names) {
    const std::size_t candidate = distance(lower(found), lower(name));
    if (candidate < best_distance) {
      best_distance = candidate;
      best = name;
    }
  }
  return best;
}

std::string join_names(std::span<const std::string> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

Error unknown_name(std::string found, std::string_view name, std::span<const std::string> names) {
  return Error(Complaint{
      .found = std::move(found), .allowed = join_names(names), .nearest = nearest_name(name, names)});
}

}  // namespace fedarena
