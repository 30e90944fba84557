#include "fedarena/base/philox.hpp"

#include <cstddef>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

// The multipliers and Weyl constants of SC 2011, table 2 and section 4.3.
constexpr std::uint64_t kMultiplier0 = 0xD2E7470EE14C6C93;
constexpr std::uint64_t kMultiplier1 = 0xCA5A826395121157;
constexpr std::uint64_t kWeyl0 = 0x9E3779B97F4A7C15;
constexpr std::uint64_t kWeyl1 = 0xBB67AE8584CAA73B;
constexpr int kRounds = 10;

struct Product {
  std::uint64_t high, low;
};

Product multiply(std::uint64_t left, std::uint64_t right) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(left) * right;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

// Four words by name: as an array they would go through memory in every round.
inline void make_block(const std::array<std::uint64_t, 4>& counter, const std::array<std::uint64_t, 2>& key,
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

}  // namespace

std::array<std::uint64_t, 4> philox4x64(std::array<std::uint64_t, 4> counter,
                                        std::array<std::uint64_t, 2> key) {
  std::array<std::uint64_t, 4> block{};
  make_block(counter, key, block.data());
  return block;
}

void philox4x64(std::array<std::uint64_t, 4> counter, std::array<std::uint64_t, 2> key,
                std::span<std::uint64_t> words) {
  FEDARENA_CHECK(words.size() % 4, ==, 0U);
  for (std::size_t begin = 0; begin < words.size(); begin += 4, ++counter[0])
    make_block(counter, key, words.data() + begin);
}

}  // namespace fedarena
