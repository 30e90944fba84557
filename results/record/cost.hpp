#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace fedarena::results {

struct RoundRecord;

/// What clients and server computed in a round or a run, evaluations left out.
struct Cost {
  /// Gradients of single examples: those of clients' private examples and those that algorithms took on
  /// public or synthetic ones.
  std::int64_t gradients = 0;
  /// Floating-point operations of these gradients, of gradients in their inputs and of losses that algorithms
  /// asked for, as counted from the model: multiplications and additions of convolutions and affine maps.
  std::int64_t operations = 0;
  bool at_least = false;  ///< whether a plugin computed more on its own, which nobody counted
  bool operator==(const Cost&) const = default;
};

/// The sum over rounds; none unless every round has its own, which older records do not.
std::optional<Cost> total_cost(std::span<const RoundRecord> rounds);

}  // namespace fedarena::results
