#include "results/export/tf_record.hpp"

#include <array>

namespace fedarena::results {
namespace {

// Checksums of bytes that hold checksums are weak, hence TensorFlow turns and shifts those that it stores.
std::uint32_t masked_crc32c(std::string_view bytes) {
  constexpr std::uint32_t kMaskDelta = 0xA282EAD8;
  const std::uint32_t checksum = crc32c(bytes);
  return ((checksum >> 15) | (checksum << 17)) + kMaskDelta;
}

constexpr std::uint32_t kReflectedPolynomial = 0x82F63B78;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kReflectedPolynomial : 0);
    }
    table[byte] = remainder;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

}  // namespace

std::string tf_record(std::string_view bytes) {
  const std::string length = little_endian(static_cast<std::uint64_t>(bytes.size()));
  std::string record = length + little_endian(masked_crc32c(length));
  record += bytes;
  return record + little_endian(masked_crc32c(bytes));
}

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t remainder = ~std::uint32_t{0};
  for (const char byte : bytes) {
    remainder = (remainder >> 8) ^ kTable[(remainder ^ static_cast<unsigned char>(byte)) & 0xFFU];
  }
  return ~remainder;
}

}  // namespace fedarena::results
