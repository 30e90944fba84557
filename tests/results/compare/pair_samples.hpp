#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/compare/compared_rows.hpp"
#include "results/compare/pairs.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {

/// A row of finished runs with seeds 1, 2, ... and these accuracies, each changed by `change`.
inline std::vector<FoundRun> row_of(
    const std::string& label, const std::vector<double>& accuracies,
    const std::function<void(Summary&)>& change = [](Summary&) {}, const std::string& folder = "runs/a") {
  std::vector<FoundRun> runs;
  for (const double accuracy : accuracies) {
    Summary summary = finished(label, static_cast<std::int64_t>(runs.size()) + 1, accuracy);
    summary.partition_id = "iid(clients=10,seed=" + std::to_string(summary.seed) + ")";
    summary.partition_hash = "hash" + std::to_string(summary.seed);
    change(summary);
    runs.push_back(found(summary, folder));
  }
  return runs;
}

/// These rows, as found in one folder.
inline std::vector<FoundRun> folder_of(const std::vector<std::vector<FoundRun>>& rows,
                                       const std::string& folder = "runs/a") {
  std::vector<FoundRun> found;
  for (const std::vector<FoundRun>& row : rows) found.insert(found.end(), row.begin(), row.end());
  for (FoundRun& run : found) run.folder = folder;
  return found;
}

/// The runs of several folders.
inline std::vector<FoundRun> folders_of(std::vector<std::vector<FoundRun>> folders) {
  for (std::size_t place = 0; place < folders.size(); ++place) {
    for (FoundRun& run : folders[place]) run.folder_place = place;
    if (place > 0) folders[0].insert(folders[0].end(), folders[place].begin(), folders[place].end());
  }
  return folders[0];
}

/// Changes to summaries.
inline std::function<void(Summary&)> with_privacy(double epsilon) {
  return [epsilon](Summary& summary) {
    const Summary privately = finished_privately(summary.label, summary.seed, 0.5);
    summary.policy = privately.policy;
    summary.privacy = privately.privacy;
    summary.privacy->rdp = Claim{.epsilon = epsilon};
  };
}

}  // namespace fedarena::results
