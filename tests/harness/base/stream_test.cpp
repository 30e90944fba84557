#include "fedarena/base/stream.hpp"

#include <gtest/gtest.h>

#include "fedarena/base/philox.hpp"

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

}  // namespace
}  // namespace fedarena
