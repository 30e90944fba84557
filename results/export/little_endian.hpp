#pragma once

#include <concepts>
#include <string>

namespace fedarena::results {

/// The bytes of a number, the least significant first.
template <std::unsigned_integral Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (unsigned shift = 0; shift < 8 * sizeof(Number); shift += 8) {
    bytes += static_cast<char>(static_cast<unsigned char>(number >> shift));
  }
  return bytes;
}

}  // namespace fedarena::results
