#pragma once

#include <cstdint>

#include "fedarena/base/normal_pair.hpp"
#include "fedarena/base/philox_block.hpp"

#include "harness/gradients/cuda/blocks.hpp"

namespace fedarena::cuda {

/// target[i] += deviation * (the i-th normal of a stream, in double), rounded to T first: the bits of
/// Stream::fill_normal and a sum on the CPU. An index for each pair of them.
template <typename T>
struct AddNormals {
  std::uint64_t key[2], counter[4];  ///< of the stream's block where the first word is
  unsigned word;                     ///< the first word in it
  std::int64_t pairs;
  double deviation;
  T* target;  ///< [2 * pairs]

  FEDARENA_HOST_DEVICE std::int64_t count() const { return pairs; }

  FEDARENA_HOST_DEVICE void operator()(std::int64_t pair) const {
    constexpr unsigned kWords = 4;  // of a block
    const std::uint64_t first = word + 2 * static_cast<std::uint64_t>(pair);
    std::uint64_t at[kWords] = {counter[0] + first / kWords, counter[1], counter[2], counter[3]},
                  words[2 * kWords];
    philox::make_block(at, key, words);
    const auto begin = static_cast<unsigned>(first % kWords);
    if (begin == kWords - 1) {
      ++at[0];
      philox::make_block(at, key, words + kWords);
    }
    double normals[2];
    normal_pair::make(words[begin], words[begin + 1], normals);
    target[2 * pair] += static_cast<T>(normals[0] * deviation);
    target[2 * pair + 1] += static_cast<T>(normals[1] * deviation);
  }
};

}  // namespace fedarena::cuda
