#include "results/export/event_encoding.hpp"

#include <bit>
#include <concepts>

#include <boost/crc.hpp>

namespace fedarena::results {
namespace {

// Wire types of the protobuf encoding.
constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kEightBytes = 1;
constexpr std::uint32_t kLengthDelimited = 2;
constexpr std::uint32_t kFourBytes = 5;

// The bytes of a number, the least significant first.
template <std::unsigned_integral Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (unsigned shift = 0; shift < 8 * sizeof(Number); shift += 8) {
    bytes += static_cast<char>(static_cast<unsigned char>(number >> shift));
  }
  return bytes;
}

// Checksums of bytes that hold checksums are weak, hence TensorFlow turns and shifts those that it stores.
std::uint32_t masked_crc32c(std::string_view bytes) {
  constexpr std::uint32_t kMaskDelta = 0xA282EAD8;
  const std::uint32_t checksum = crc32c(bytes);
  return ((checksum >> 15) | (checksum << 17)) + kMaskDelta;
}

}  // namespace

// Seven bits a byte, the least significant first; the eighth says that more follow.
void ProtobufMessage::varint(std::uint64_t value) {
  constexpr std::uint64_t kMore = 0x80;
  for (; value >= kMore; value >>= 7)
    encoded_ += static_cast<char>(static_cast<unsigned char>(value | kMore));
  encoded_ += static_cast<char>(static_cast<unsigned char>(value));
}

void ProtobufMessage::tag(std::uint32_t field, std::uint32_t wire_type) { varint(field << 3 | wire_type); }

ProtobufMessage& ProtobufMessage::integer(std::uint32_t field, std::uint64_t value) {
  tag(field, kVarint);
  varint(value);
  return *this;
}

ProtobufMessage& ProtobufMessage::real(std::uint32_t field, double value) {
  tag(field, kEightBytes);
  encoded_ += little_endian(std::bit_cast<std::uint64_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::real(std::uint32_t field, float value) {
  tag(field, kFourBytes);
  encoded_ += little_endian(std::bit_cast<std::uint32_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::bytes(std::uint32_t field, std::string_view value) {
  tag(field, kLengthDelimited);
  varint(value.size());
  encoded_ += value;
  return *this;
}

ProtobufMessage& ProtobufMessage::message(std::uint32_t field, const ProtobufMessage& value) {
  return bytes(field, value.encoded());
}

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
