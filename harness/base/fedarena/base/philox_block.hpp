#pragma once

#include <cstdint>

#include "fedarena/base/host_device.hpp"

/// One block of philox4x64, for the CPU's loops and a GPU's threads.
namespace fedarena::philox {

// The multipliers and Weyl constants of SC 2011, table 2 and section 4.3.
inline constexpr std::uint64_t kMultiplier0 = 0xD2E7470EE14C6C93;
inline constexpr std::uint64_t kMultiplier1 = 0xCA5A826395121157;
inline constexpr std::uint64_t kWeyl0 = 0x9E3779B97F4A7C15;
inline constexpr std::uint64_t kWeyl1 = 0xBB67AE8584CAA73B;
inline constexpr int kRounds = 10;

struct Product {
  std::uint64_t high, low;
};

FEDARENA_HOST_DEVICE inline Product multiply(std::uint64_t left, std::uint64_t right) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(left) * right;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

/// The four words at counter[4] under key[2]. Words by name: as an array they would go through memory in
/// every round.
FEDARENA_HOST_DEVICE inline void make_block(const std::uint64_t* counter, const std::uint64_t* key,
                                            std::uint64_t* block) {
  std::uint64_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
  std::uint64_t first_key = key[0], second_key = key[1];
  for (int round = 0; round < kRounds; ++round) {
    const Product first = multiply(kMultiplier0, a);
    const Product second = multiply(kMultiplier1, c);
    a = second.high ^ b ^ first_key;
    b = second.low;
    c = first.high ^ d ^ second_key;
    d = first.low;
    first_key += kWeyl0;
    second_key += kWeyl1;
  }
  block[0] = a;
  block[1] = b;
  block[2] = c;
  block[3] = d;
}

}  // namespace fedarena::philox
