#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fedarena/base/schema.hpp"

namespace fedarena {

/// Indices of the training examples that each client holds: disjoint, ascending, and no client is empty.
using Partition = std::vector<std::vector<std::int64_t>>;

/// What a partition may look at.
struct PartitionInput {
  std::span<const std::int64_t> labels = {};  ///< one an example, each in [0, classes); empty for regression
  std::int64_t examples = 0;                  ///< how many training examples there are
  std::int64_t classes = 0;                   ///< 0 for regression
  std::span<const std::int64_t> users =
      {};  ///< whose each example is, as numbers from 0; empty where nobody knows
};

/// The names of all kinds of partition, as an experiment file spells them.
std::vector<std::string> partition_names();

/// The settings of a kind. Throws Error, with the nearest name, for a kind that does not exist.
const std::vector<Field>& partition_fields(const std::string& kind);

/// What a kind does, in one sentence. Throws as `partition_fields` does.
std::string partition_summary(const std::string& kind);

/// Throws Error for a kind that does not exist and for settings that no data could make possible.
void check_partition_settings(const std::string& kind, const Settings& settings);

/// Deals the examples to clients: a pure function of its arguments, the same on every machine.
/// Throws Error, with the reason, for unknown kinds, settings out of range and requests that cannot be met.
Partition make_partition(const std::string& kind, const Settings& settings, const PartitionInput& input,
                         std::uint64_t seed);

/// What a reader must know of that partition beside its settings, in a sentence without its end; mostly
/// empty. Throws as `make_partition` does.
std::string partition_note(const std::string& kind, const Settings& settings, const PartitionInput& input,
                           std::uint64_t seed);

}  // namespace fedarena
