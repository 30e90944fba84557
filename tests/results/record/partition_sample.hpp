#pragma once

#include "results/record/partition_file.hpp"

namespace fedarena::results {

/// The partition of a RecordedRun: three clients and two classes; client 2 holds one class alone.
inline RecordedPartition three_clients() {
  RecordedPartition partition{.id = "classes(clients=3,seed=1)",
                              .kind = "classes",
                              .dataset = "digits",
                              .seed = 1,
                              .index_hash = "0123456789abcdef",
                              .sizes = {1000, 1001, 1002},
                              .class_counts = {{500, 500}, {1, 1000}, {0, 1002}}};
  for (const auto& counts : partition.class_counts) partition.label_entropy.push_back(label_entropy(counts));
  return partition;
}

/// Gives a run this card, in its summary too.
inline void record_partition(const RunDirectory& run, const RecordedPartition& partition) {
  run.write_file_atomically(kPartitionFile, to_json_text(partition));
  Summary summary = run.summary();
  summary.partition_id = partition.id;
  summary.partition_hash = partition.index_hash;
  run.write_summary(summary);
}

}  // namespace fedarena::results
