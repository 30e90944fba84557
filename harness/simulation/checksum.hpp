#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fedarena/base/fnv.hpp"

// Checksums by which damaged bytes are noticed; no protection against malice.
namespace fedarena {

/// 64-bit FNV-1a (Fowler, Noll, Vo), byte by byte.
inline std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  Fnv1a hash;
  for (const std::byte byte : bytes) hash.add(static_cast<std::uint64_t>(byte));
  return hash.value();
}

/// Takes eight bytes at a time, for what is checked in every round. Each step can be undone, so that a change
/// within one word of eight bytes never goes unnoticed; the shift lets high bits reach low ones.
inline std::uint64_t checksum_of_words(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = bytes.size() < sizeof(word) ? bytes.size() : sizeof(word);
    std::memcpy(&word, bytes.data(), size);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
    bytes = bytes.subspan(size);
  }
  return hash;
}

}  // namespace fedarena
