#pragma once

#include <cstddef>
#include <cstdint>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// Standard normals from uniform bits (Box and Muller 1958): `words` holds 2 `pairs` words, and of each pair
/// (a, b) come the two numbers r cos(t) and r sin(t) with r = sqrt(-2 log(1 - u)), t = 2 pi v, where u and v
/// are the upper 53 bits of a and b as multiples of 2^-53. Computed from additions, multiplications,
/// divisions and square roots alone, which IEEE 754 rounds alike everywhere, and not by the C library, whose
/// logarithms and sines differ between versions and processors: the same bits on every machine. Within three
/// units in the last place of what the library gives.
FEDARENA_API void box_muller(const std::uint64_t* words, std::size_t pairs, double* normals);

}  // namespace fedarena
