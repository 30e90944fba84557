#include "results/table/partition_notes.hpp"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/table/dataset_notes.hpp"
#include "results/text/natural_order.hpp"

namespace fedarena::results {
namespace {

struct Order {
  bool operator()(const std::pair<std::string, std::string>& left,
                  const std::pair<std::string, std::string>& right) const {
    if (left.first != right.first) return natural_less(left.first, right.first);
    return natural_less(left.second, right.second);
  }
};

// The index hashes of a seed: one, unless something is wrong.
using Hashes = std::map<std::int64_t, std::set<std::string>>;

std::string hashes_text(const Hashes& hashes) {
  std::string text;
  for (const auto& [seed, found] : hashes) {
    text += fmt::format("{}seed {} index hash {}", text.empty() ? "" : ", ", seed, fmt::join(found, " and "));
    if (found.size() > 1) text += " (runs of this seed do not share a partition)";
  }
  return text;
}

}  // namespace

std::string partition_without_seed(const Summary& summary) {
  const std::string ending = fmt::format(",seed={})", summary.seed);
  if (!summary.partition_id.ends_with(ending)) return summary.partition_id;
  return summary.partition_id.substr(0, summary.partition_id.size() - ending.size()) + ",seed=...)";
}

std::vector<std::string> partition_notes(std::span<const FoundRun> runs) {
  std::map<std::pair<std::string, std::string>, Hashes, Order> partitions;
  for (const FoundRun& run : runs) {
    if (!run.summary || run.summary->state != kFinished || run.summary->partition_id.empty()) continue;
    const Summary& summary = *run.summary;
    partitions[{summary.dataset, partition_without_seed(summary)}][summary.seed].insert(
        summary.partition_hash);
  }
  std::vector<std::string> notes;
  const std::map<std::string, std::string> brief = brief_datasets(runs);
  for (const auto& [partition, hashes] : partitions) {
    notes.push_back(fmt::format("partition of {}: {}: {}", brief.at(partition.first), partition.second,
                                hashes_text(hashes)));
  }
  return notes;
}

}  // namespace fedarena::results
