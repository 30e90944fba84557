#include "results/dataset_notes.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "results/natural_order.hpp"

namespace fedarena::results {

std::vector<std::string> dataset_notes(std::span<const FoundRun> runs) {
  const auto earlier = [](const auto& left, const auto& right) {
    if (left.first != right.first) return natural_less(left.first, right.first);
    return left.second < right.second;
  };
  std::set<std::pair<std::string, std::string>, decltype(earlier)> notes;  // by data set
  for (const FoundRun& run : runs) {
    if (!run.summary || run.summary->state != kFinished || run.summary->dataset_note.empty()) continue;
    notes.emplace(run.summary->dataset, run.summary->dataset_note);
  }
  std::vector<std::string> lines;
  for (const auto& [dataset, note] : notes) lines.push_back(fmt::format("data set {}: {}", dataset, note));
  return lines;
}

}  // namespace fedarena::results
