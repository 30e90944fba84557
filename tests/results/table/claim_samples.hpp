#pragma once

#include <functional>
#include <vector>

#include "results/table/table.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {

/// The table of the runs of these summaries.
inline Table table_of(const std::vector<Summary>& summaries) {
  std::vector<FoundRun> runs;
  for (const Summary& summary : summaries) runs.push_back(found(summary));
  return make_table(runs);
}

/// The same run with another claim.
inline Summary changed(Summary summary, const std::function<void(PrivacyClaim&)>& change) {
  change(*summary.privacy);
  return summary;
}

}  // namespace fedarena::results
