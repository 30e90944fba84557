#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace fedarena {

/// Sums run in this many lanes, whatever the vector unit, so that compilers vectorise them without
/// reordering.
constexpr std::int64_t kLanes = 16;
/// Numbers that are summed in the tensor's own type before the sum goes on in double.
constexpr std::int64_t kChunk = 1024;

/// Sum over i < count of term(i), in double over chunks.
template <typename T, typename Term>
inline double sum_of(std::int64_t count, const Term& term) {
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += kChunk) {
    const std::int64_t end = std::min(count, begin + kChunk);
    std::array<T, kLanes> lanes{};
    std::int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
    }
    for (; i < end; ++i) lanes[0] += term(i);
    for (const T lane : lanes) total += static_cast<double>(lane);
  }
  return total;
}

}  // namespace fedarena
