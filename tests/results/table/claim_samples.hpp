#pragma once

#include <functional>
#include <vector>

#include "results/table/table.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {

/// The table of the runs of these summaries, without notes on partitions.
inline Table table_of(const std::vector<Summary>& summaries) {
  std::vector<FoundRun> runs;
  for (const Summary& summary : summaries) runs.push_back(found(summary));
  Table table = make_table(runs);
  table.notes = beside_partitions(table.notes);
  return table;
}

/// The same run with another claim.
inline Summary changed(Summary summary, const std::function<void(PrivacyClaim&)>& change) {
  change(*summary.privacy);
  return summary;
}

}  // namespace fedarena::results
