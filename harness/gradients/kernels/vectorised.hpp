#pragma once

#include <cstdint>
#include <utility>

#include "fedarena/base/run_vectorised.hpp"
#include "fedarena/base/sum_of.hpp"

/// Loops over contiguous numbers for the kernels: the same operations in the same order, and so the same
/// bits, on every vector unit.
namespace fedarena::kernels {

/// A register's worth of numbers; compilers cut it up where registers are smaller, with the same bits.
inline constexpr std::int64_t kVectorBytes = 32;
template <typename T, std::int64_t Bytes = kVectorBytes>
using Vector [[gnu::vector_size(Bytes), gnu::may_alias]] = T;
template <typename T, std::int64_t Bytes = kVectorBytes>
inline constexpr std::int64_t kWidth = Bytes / static_cast<std::int64_t>(sizeof(T));

/// The same anywhere in memory.
template <typename T, std::int64_t Bytes = kVectorBytes>
using LooseVector [[gnu::vector_size(Bytes), gnu::may_alias, gnu::aligned(4)]] = T;

template <std::int64_t Bytes = kVectorBytes, typename T>
inline const LooseVector<T, Bytes>* vectors(const T* numbers) {
  return reinterpret_cast<const LooseVector<T, Bytes>*>(numbers);
}
template <std::int64_t Bytes = kVectorBytes, typename T>
inline LooseVector<T, Bytes>* vectors(T* numbers) {
  return reinterpret_cast<LooseVector<T, Bytes>*>(numbers);
}

/// Cuts [0, count) into pieces of nearly the same size, at most Largest, and calls body<size>(first) for
/// each.
template <int Largest, typename Body>
inline void in_pieces(std::int64_t count, const Body& body) {
  const std::int64_t pieces = (count + Largest - 1) / Largest;
  const auto call = [&]<int... Less>(std::int64_t first, std::int64_t size,
                                     std::integer_sequence<int, Less...> /*sizes*/) {
    ((size == Less + 1 ? body.template operator()<Less + 1>(first) : void()), ...);
  };
  const std::int64_t size = count / pieces, larger = count % pieces;  // so many pieces have one more
  for (std::int64_t piece = 0, first = 0; piece < pieces; ++piece) {
    const std::int64_t own = size + (piece < larger ? 1 : 0);
    call(first, own, std::make_integer_sequence<int, Largest>());
    first += own;
  }
}

/// Asks for `count` numbers that are read soon. The processor's own prefetching ends at each page of 4 KiB,
/// which is as long as a plane of 32x32 numbers.
template <typename T>
inline void prefetch(const T* numbers, std::int64_t count) {
#ifdef __GNUC__
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t i = 0; i < count; i += kLine) __builtin_prefetch(numbers + i);
#endif
}

}  // namespace fedarena::kernels
