#pragma once

#include <cstdint>
#include <map>

namespace fedarena {

/// How many answers an algorithm asks a client's oracle for in one round: at most, or so far. By what an
/// answer costs: gradients by the size of their batches, votes by whose they are.
struct AccessPlan {
  std::map<std::int64_t, std::int64_t> gradients = {};  ///< by batch size; 0: the whole shard at once
  std::int64_t votes = 0;                               ///< of the shard's examples, one by one
  std::int64_t part_votes = 0;                          ///< of its parts
  bool operator==(const AccessPlan&) const = default;
};

}  // namespace fedarena
