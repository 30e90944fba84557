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

/// Gives a run this card, in its summary and its experiment too.
inline void record_partition(const RunDirectory& run, const RecordedPartition& partition) {
  run.write_file_atomically(kPartitionFile, to_json_text(partition));
  Summary summary = run.summary();
  summary.partition_id = partition.id;
  summary.partition_hash = partition.index_hash;
  std::string toml = run.read_file(kExperimentFile);
  const std::string dealt = "kind = \"iid\"\n";
  if (const std::size_t at = toml.find(dealt); at != std::string::npos && partition.kind == "classes") {
    run.write_file_atomically(kExperimentFile,
                              toml.replace(at, dealt.size(), "kind = \"classes\"\nclients = 3\n"));
    summary.partition = "classes (clients = 3)";
  }
  run.write_summary(summary);
}

}  // namespace fedarena::results
