#include "results/table/dataset_notes.hpp"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "results/text/natural_order.hpp"

namespace fedarena::results {

std::map<std::string, std::string> brief_datasets(std::span<const FoundRun> runs) {
  std::map<std::string, std::set<std::string>> by_name;
  for (const FoundRun& run : runs) {
    if (!run.summary || run.summary->state != kFinished) continue;
    const std::string& dataset = run.summary->dataset;
    by_name[dataset.substr(0, dataset.find(" ("))].insert(dataset);
  }
  std::map<std::string, std::string> brief;
  for (const auto& [name, datasets] : by_name) {
    for (const std::string& dataset : datasets) brief[dataset] = datasets.size() == 1 ? name : dataset;
  }
  return brief;
}

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
  const std::map<std::string, std::string> brief = brief_datasets(runs);
  for (const auto& [dataset, note] : notes)
    lines.push_back(fmt::format("data set {}: {}", brief.at(dataset), note));
  return lines;
}

}  // namespace fedarena::results
