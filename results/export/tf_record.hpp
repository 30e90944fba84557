#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace fedarena::results {

/// A record of a TFRecord file, as TensorFlow documents the format: the length in eight bytes, its masked
/// CRC-32C, the bytes, their masked CRC-32C.
std::string tf_record(std::string_view bytes);

/// The CRC-32C (Castagnoli) of these bytes, as RFC 3720 defines it: polynomial 0x1EDC6F41, reflected, begun
/// and ended with all bits inverted.
std::uint32_t crc32c(std::string_view bytes);

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
