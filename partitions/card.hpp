#pragma once

#include <cstdint>
#include <string>

#include "partitions/statistics.hpp"

namespace fedarena {

/// What identifies and describes a partition.
struct PartitionCard {
  std::string id;  ///< see `partition_id`
  std::string kind;
  PartitionStatistics statistics;
  std::string note = {};  ///< see `partition_note`
};

/// The canonical name of a partition: the kind with all of its settings, given or default, in the order of
/// the registry, and the seed, such as "iid(clients=4,train_fraction=1.0,noise=0.0,rotations=[],seed=1)".
/// With the data set it says how the partition is made; the index hash says what came of it.
std::string partition_id(const std::string& kind, const Settings& settings, std::uint64_t seed);

/// The card of a partition that was made so.
PartitionCard partition_card(const std::string& kind, const Settings& settings, std::uint64_t seed,
                             const Partition& partition, const PartitionInput& input);

/// The card without what labels tell: how many examples of which class each client holds.
PartitionCard without_labels(PartitionCard card);

/// One line for people: that of the statistics, the id, and the note if there is one.
std::string describe(const PartitionCard& card);

}  // namespace fedarena
