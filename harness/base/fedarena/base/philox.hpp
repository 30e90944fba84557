#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// Philox-4x64 with ten rounds: a keyed bijection on 256-bit counters whose outputs pass as independent
/// uniform words. Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011,
/// section 4.3. The same function of (counter, key) on every machine; not a cryptographic generator.
FEDARENA_API std::array<std::uint64_t, 4> philox4x64(std::array<std::uint64_t, 4> counter,
                                                     std::array<std::uint64_t, 2> key);

/// The same for counters whose first words go up by one, block after block, in a quarter of the time.
/// `words`: four for each.
FEDARENA_API void philox4x64(std::array<std::uint64_t, 4> counter, std::array<std::uint64_t, 2> key,
                             std::span<std::uint64_t> words);

}  // namespace fedarena
