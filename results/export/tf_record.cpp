#include "results/export/tf_record.hpp"

#include <boost/crc.hpp>

namespace fedarena::results {
namespace {

// Checksums of bytes that hold checksums are weak, hence TensorFlow turns and shifts those that it stores.
std::uint32_t masked_crc32c(std::string_view bytes) {
  constexpr std::uint32_t kMaskDelta = 0xA282EAD8;
  const std::uint32_t checksum = crc32c(bytes);
  return ((checksum >> 15) | (checksum << 17)) + kMaskDelta;
}

}  // namespace

std::string tf_record(std::string_view bytes) {
  const std::string length = little_endian(static_cast<std::uint64_t>(bytes.size()));
  std::string record = length + little_endian(masked_crc32c(length));
  record += bytes;
  return record + little_endian(masked_crc32c(bytes));
}

std::uint32_t crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> checksum;
  checksum.process_bytes(bytes.data(), bytes.size());
  return static_cast<std::uint32_t>(checksum.checksum());
}

}  // namespace fedarena::results
