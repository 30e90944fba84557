#include "results/export/protobuf_message.hpp"

#include <bit>

#include "results/export/tf_record.hpp"

namespace fedarena::results {
namespace {

// Wire types of the protobuf encoding.
constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kEightBytes = 1;
constexpr std::uint32_t kLengthDelimited = 2;
constexpr std::uint32_t kFourBytes = 5;

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

}  // namespace fedarena::results
