#include "fedarena/base/philox.hpp"

#include <array>
#include <bit>
#include <cstdint>

#include <gtest/gtest.h>

namespace fedarena {
namespace {

using Words = std::array<std::uint64_t, 4>;

// Known-answer vectors published with Random123 (kat_vectors, philox4x64, 10 rounds).
TEST(Philox, ReproducesThePublishedKnownAnswers) {
  EXPECT_EQ(philox4x64({0, 0, 0, 0}, {0, 0}),
            (Words{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  EXPECT_EQ(philox4x64({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}));
  EXPECT_EQ(philox4x64({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
                       {0x452821e638d01377, 0xbe5466cf34e90c6c}),
            (Words{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}));
}

// A keyed bijection: neither key word nor any counter word may be ignored, nor change few bits.
TEST(Philox, EveryInputBitChangesAboutHalfOfTheOutput) {
  const Words base = philox4x64({1, 2, 3, 4}, {5, 6});
  for (int bit = 0; bit < 6 * 64; ++bit) {
    std::array<std::uint64_t, 4> counter = {1, 2, 3, 4};
    std::array<std::uint64_t, 2> key = {5, 6};
    const auto word = static_cast<std::size_t>(bit / 64);
    (word < 4 ? counter[word] : key[word - 4]) ^= std::uint64_t{1} << (bit % 64);
    const Words changed = philox4x64(counter, key);
    int flips = 0;
    for (std::size_t i = 0; i < base.size(); ++i) flips += std::popcount(base[i] ^ changed[i]);
    // Binomial(256, 1/2): 128 +- 8; beyond 6.5 deviations once in 10^10, so once in 10^7 for all bits.
    EXPECT_NEAR(flips, 128, 52) << "bit " << bit;
  }
}

}  // namespace
}  // namespace fedarena
