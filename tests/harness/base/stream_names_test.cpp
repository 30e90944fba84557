// The generator behind streams, and their names: the same name gives the same numbers, another name gives
// unrelated ones.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/philox.hpp"
#include "fedarena/base/stream.hpp"

#include "tests/harness/base/statistical_bounds.hpp"

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

const StreamName kName = {.seed = 42, .round = 3, .client = 7, .purpose = Purpose::kNoise, .index = 1};

std::vector<StreamName> neighbours() {
  std::vector<StreamName> names(6, kName);
  names[1].seed ^= 1;
  names[2].round += 1;
  names[3].client = kServer;
  names[4].purpose = Purpose::kBatches;
  names[5].index += 1;
  return names;
}

// These values are part of every recorded result: a change of them is a new version of the results.
TEST(StreamName, GivesTheRecordedBits) {
  Stream stream(kName);
  for (const std::uint64_t expected : {0x0ece1bc931664b7eU, 0x593eeed6e8d56ab3U, 0xb5a4fd0166dac4f6U,
                                       0x233975eb719c7060U, 0xb2aa4427c2c6f0a4U}) {
    EXPECT_EQ(stream(), expected);
  }
}

TEST(StreamName, GivesTheRecordedDraws) {
  EXPECT_EQ(Stream(kName).permutation(8), (std::vector<std::int64_t>{3, 1, 5, 6, 7, 4, 2, 0}));
  EXPECT_EQ(Stream(kName).sample_without_replacement(20, 5), (std::vector<std::int64_t>{0, 2, 5, 12, 13}));
  Stream integers(kName);
  for (const std::uint64_t expected : {57U, 348U, 709U, 137U}) EXPECT_EQ(integers.below(1000), expected);
}

TEST(StreamName, GivesTheRecordedNumbers) {
  EXPECT_EQ(Stream(kName).uniform(), 0.057832466716171926);
  Stream normals(kName);
  for (const double expected :
       {-0.20045250304609644, 0.2810038032966371, 1.0205150022695995, 1.1963228416238696}) {
    EXPECT_EQ(normals.normal(), expected);
  }
  // Within four units in the last place: the C library may round logarithms and powers differently.
  Stream gammas(kName);
  EXPECT_DOUBLE_EQ(gammas.gamma(0.1), 0.13749722675445708);
  EXPECT_DOUBLE_EQ(gammas.gamma(1), 0.92343286795485879);
  EXPECT_DOUBLE_EQ(gammas.gamma(5), 3.913417056916392);
  const std::vector<double> shares = Stream(kName).dirichlet(0.5, 3);
  EXPECT_DOUBLE_EQ(shares[0], 0.21155076620492705);
  EXPECT_DOUBLE_EQ(shares[1], 0.36538023725523194);
  EXPECT_DOUBLE_EQ(shares[2], 0.42306899653984109);
}

TEST(StreamName, GivesTheSameValuesWhateverElseIsDrawn) {
  Stream first(kName);
  std::vector<double> alone;
  for (int i = 0; i < 100; ++i) alone.push_back(first.normal());
  Stream again(kName), other({.seed = 42});
  for (const double value : alone) {
    other.normal();
    EXPECT_EQ(again.normal(), value);
  }
}

TEST(StreamName, CopiesContinueAlike) {
  Stream stream(kName);
  stream.normal();
  Stream copy = stream;
  EXPECT_EQ(copy.normal(), stream.normal());  // the spare normal is part of the state
  EXPECT_EQ(copy(), stream());
}

TEST(StreamName, EveryPartChangesEveryWord) {
  std::set<std::uint64_t> words;
  for (const StreamName& name : neighbours()) {
    Stream stream(name);
    for (int i = 0; i < 1000; ++i) words.insert(stream());
  }
  EXPECT_EQ(words.size(), 6000U);
}

// No part may leak into another: the pairs (1, 2) and (2, 1) of any two parts are different streams.
TEST(StreamName, PartsAreNotInterchangeable) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed : {1U, 2U}) {
    for (std::int64_t round : {1, 2}) {
      for (std::int64_t client : {1, 2}) {
        for (std::uint64_t index : {1U, 2U}) {
          firsts.insert(Stream({.seed = seed, .round = round, .client = client, .index = index})());
        }
      }
    }
  }
  EXPECT_EQ(firsts.size(), 16U);
}

// 15 pairs at 10^-6 each: a false alarm once in 66,000 seeds.
TEST(StreamName, NeighboursAreUncorrelated) {
  const std::vector<StreamName> names = neighbours();
  constexpr int kDraws = 100'000;
  std::vector<std::vector<double>> normals;
  for (const StreamName& name : names) {
    Stream stream(name);
    normals.emplace_back(kDraws);
    stream.fill_normal(std::span<double>(normals.back()));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < kDraws; ++k) sum += normals[i][k] * normals[j][k];
      EXPECT_LT(std::abs(sum / std::sqrt(kDraws)), kNormalBound) << i << " and " << j;
    }
  }
}

}  // namespace
}  // namespace fedarena
