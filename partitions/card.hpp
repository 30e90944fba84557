#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partitions/partition.hpp"

namespace fedarena {

/// Clients times classes up to which classes are counted: beyond, nobody looks at them, and they would take
/// more memory than the clients themselves.
inline constexpr std::int64_t kMostClassCounts = 1'000'000;

/// What a paper reports about a partition.
struct PartitionStatistics {
  std::vector<std::int64_t> sizes;  ///< examples of each client
  /// [client][class]; empty without labels, and beyond `kMostClassCounts`.
  std::vector<std::vector<std::int64_t>> class_counts;
  std::vector<double> label_entropy;  ///< of each client, in nats; empty where classes are not counted
  std::string index_hash;             ///< see `index_hash`
};

/// Counts sizes, classes and entropies.
PartitionStatistics partition_statistics(const Partition& partition, const PartitionInput& input);

/// Identifies who holds what, as 16 hexadecimal digits: FNV-1a (64 bits) over the number of clients and each
/// client's size and indices, all as 8 little-endian bytes. Tells partitions apart; does not withstand
/// forgery.
std::string index_hash(const Partition& partition);

/// One line for people, such as
/// "classes: 5 clients, 2 classes each, sizes 11,339-12,690, label entropy 0.69 nats, index hash
/// 1f2e3d4c5b6a7988".
std::string describe(const std::string& kind, const PartitionStatistics& statistics);

/// What identifies and describes a partition.
struct PartitionCard {
  std::string id;  ///< see `partition_id`
  std::string kind;
  PartitionStatistics statistics;
  std::string note = {};  ///< see `partition_note`
};

/// The settings of a partition without those that are off, such as noise = 0.0, and clients = 0, which is as
/// many as the data have: a partition is named by the others.
Settings without_off(Settings settings);

/// The canonical name of a partition: the kind with its settings, given or default, but for those that are
/// off, in the order of the registry, and the seed, such as "iid(clients=4,seed=1)". With the data set it
/// says how the partition is made; the index hash says what came of it.
std::string partition_id(const std::string& kind, const Settings& settings, std::uint64_t seed);

/// The card of a partition that was made so.
PartitionCard partition_card(const std::string& kind, const Settings& settings, std::uint64_t seed,
                             const Partition& partition, const PartitionInput& input);

/// The card without what labels tell: how many examples of which class each client holds.
PartitionCard without_labels(PartitionCard card);

/// One line for people: that of the statistics, the id, and the note if there is one.
std::string describe(const PartitionCard& card);

/// Clients by classes as text: sizes, entropies, a heat map of one or two columns a class, and the counts
/// where there are at most 20 classes. Not more than `most_clients` rows; a last line says what is left out.
/// Without labels there are sizes alone.
std::string preview(const PartitionStatistics& statistics, std::int64_t most_clients = 200);

}  // namespace fedarena
