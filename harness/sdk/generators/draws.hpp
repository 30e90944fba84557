#pragma once

#include <cstdint>

#include "fedarena/random.hpp"

namespace fedarena::generators {

/// What generators draw.
enum class Draw : std::uint64_t {
  kImages = 1,
  kOrder,
  kWeights,
  kLatents,
  kTeacherWeights,
  kTeacherBatches,
  kSigns,
  kFrequencies,
};

/// The stream of that name, apart from all that plugins number from 0. `step` < 2^32, `voter` < 2^24.
inline Stream stream_of(const Streams& streams, Draw what, std::int64_t step = 0, std::int64_t voter = 0) {
  return streams(Purpose::kSynthetic, static_cast<std::uint64_t>(what) << 56U |
                                          static_cast<std::uint64_t>(step) << 24U |
                                          static_cast<std::uint64_t>(voter));
}

}  // namespace fedarena::generators
