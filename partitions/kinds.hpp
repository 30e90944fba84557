#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedarena/base/schema.hpp"
#include "fedarena/base/stream.hpp"

#include "partitions/partition.hpp"

namespace fedarena {

/// A kind of partition: one row of the registry in partition.cpp.
struct PartitionKind {
  std::string name;
  std::string summary;  ///< one sentence
  std::vector<Field> fields;
  /// Shares need not ascend: `make_partition` sorts them.
  Partition (*deal)(const Settings& settings, const PartitionInput& input, std::uint64_t seed);
  /// What a reader must know of such a partition beside its settings; empty where that is nothing.
  std::string (*note)(const Settings& settings, const PartitionInput& input, std::uint64_t seed) = nullptr;
};

PartitionKind iid_kind();
PartitionKind quantity_kind();
PartitionKind classes_kind();
PartitionKind shared_classes_kind();
PartitionKind shards_kind();
PartitionKind dirichlet_kind();
PartitionKind dirichlet_niid_bench_kind();
PartitionKind dirichlet_flower_kind();
PartitionKind dirichlet_pfllib_kind();
PartitionKind dirichlet_pfl_kind();
PartitionKind by_user_kind();

/// The settings that every kind has.
struct Dealing {
  std::int64_t clients = 5;
  double train_fraction = 1;
  double noise = 0;                     // of inputs: see feature_skew.hpp
  std::vector<std::int64_t> rotations;  // of inputs

  static const Schema<Dealing>& schema();
  /// The same for kinds in which the data decides how many clients there are, unless `clients` does; 0: all.
  static const Schema<Dealing>& schema_of_users();
  void validate() const;
};

/// Throws the Error of what cannot be dealt, with what to do.
[[noreturn]] void reject_request(std::string found, std::string remedy);

/// What a kind has of the settings of every kind. Throws as `make_partition` does.
Dealing dealing_of(const std::string& kind, const Settings& settings);

/// The partition's random stream number `index`.
inline Stream partition_stream(std::uint64_t seed, std::uint64_t index) {
  return Stream({.seed = seed, .purpose = Purpose::kPartition, .index = index});
}

/// The same examples in an order drawn from that stream.
std::vector<std::int64_t> shuffled(const std::vector<std::int64_t>& examples, Stream stream);

/// The ascending indices of each class. Throws Error where the data has no class labels.
std::vector<std::vector<std::int64_t>> indices_by_class(const std::string& kind, const PartitionInput& input);

}  // namespace fedarena
