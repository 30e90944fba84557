#include "fedarena/base/philox.hpp"

#include <cstddef>

#include "fedarena/base/error.hpp"
#include "fedarena/base/philox_block.hpp"

namespace fedarena {

std::array<std::uint64_t, 4> philox4x64(std::array<std::uint64_t, 4> counter,
                                        std::array<std::uint64_t, 2> key) {
  std::array<std::uint64_t, 4> block{};
  philox::make_block(counter.data(), key.data(), block.data());
  return block;
}

void philox4x64(std::array<std::uint64_t, 4> counter, std::array<std::uint64_t, 2> key,
                std::span<std::uint64_t> words) {
  FEDARENA_CHECK(words.size() % 4, ==, 0U);
  for (std::size_t begin = 0; begin < words.size(); begin += 4, ++counter[0])
    philox::make_block(counter.data(), key.data(), words.data() + begin);
}

}  // namespace fedarena
