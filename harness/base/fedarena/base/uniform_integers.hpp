#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "fedarena/base/error.hpp"

namespace fedarena {

/// Uniform in {0, ..., bound - 1}, unbiased, from calls of `bits`, which gives 64 uniform bits each time;
/// bound >= 1. Lemire 2019, "Fast random integer generation in an interval": the rejection makes it exact.
template <typename Bits>
std::uint64_t uniform_below(Bits& bits, std::uint64_t bound) {
  FEDARENA_CHECK(bound, >=, 1U);
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(bits()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = -bound % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(bits()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

/// `count` distinct values of 0 .. size-1, ascending, from such bits; every subset is equally likely. Needs
/// 0 <= count <= size. Floyd's algorithm: one draw a chosen value.
template <typename Bits>
std::vector<std::int64_t> uniform_subset(Bits& bits, std::int64_t size, std::int64_t count) {
  FEDARENA_CHECK(count, >=, 0);
  FEDARENA_CHECK(count, <=, size);
  std::set<std::int64_t> chosen;
  for (std::int64_t top = size - count; top < size; ++top) {
    const auto candidate =
        static_cast<std::int64_t>(uniform_below(bits, static_cast<std::uint64_t>(top) + 1));
    chosen.insert(chosen.contains(candidate) ? top : candidate);
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace fedarena
