#pragma once

#include <cstdint>
#include <string>

namespace fedarena::test {

/// Bytes in which no stretch resembles another, and which do not compress; others for another seed.
inline std::string noise(std::size_t size, std::uint32_t seed = 1) {
  std::string bytes(size, 0);
  for (char& byte : bytes) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<char>(seed >> 24);
  }
  return bytes;
}

}  // namespace fedarena::test
