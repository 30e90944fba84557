#include "harness/runner/plan/recorded_partition.hpp"

#include <iterator>

#include "harness/runner/plan/shared_inputs.hpp"
#include "partitions/feature_skew.hpp"

namespace fedarena {

results::RecordedPartition recorded_partition(const Experiment& experiment, std::int64_t seed,
                                              const PartitionCard& card) {
  const PartitionStatistics& statistics = card.statistics;
  results::RecordedPartition record{.id = card.id,
                                    .kind = card.kind,
                                    .dataset = describe_data(experiment),
                                    .seed = seed,
                                    .index_hash = statistics.index_hash,
                                    .sizes = statistics.sizes,
                                    .label_entropy = statistics.label_entropy,
                                    .class_counts = statistics.class_counts};
  const FeatureSkew skew = feature_skew(experiment.partition.name, experiment.partition.settings);
  const auto clients = std::ssize(statistics.sizes);
  for (std::int64_t client = 0; skew.any() && client < clients; ++client) {
    const ClientFeatures features = skew.of(client, clients);
    record.noise.push_back(features.noise);
    record.rotations.push_back(features.degrees);
  }
  return record;
}

}  // namespace fedarena
