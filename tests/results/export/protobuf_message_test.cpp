#include "results/export/protobuf_message.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace fedarena::results {
namespace {

std::string bytes(std::initializer_list<unsigned> values) {
  std::string text;
  for (const unsigned value : values) text += static_cast<char>(static_cast<unsigned char>(value));
  return text;
}

// The examples of protobuf's description of its encoding.
TEST(ProtobufMessage, EncodesAsThePublishedExamples) {
  EXPECT_EQ(ProtobufMessage().integer(1, 150).encoded(), bytes({0x08, 0x96, 0x01}));
  EXPECT_EQ(ProtobufMessage().bytes(2, "testing").encoded(), bytes({0x12, 0x07}) + "testing");
  const ProtobufMessage inner = ProtobufMessage().integer(1, 150);
  EXPECT_EQ(ProtobufMessage().message(3, inner).encoded(), bytes({0x1A, 0x03, 0x08, 0x96, 0x01}));
}

TEST(ProtobufMessage, WritesNumbersWithTheLeastSignificantByteFirst) {
  EXPECT_EQ(ProtobufMessage().real(1, 1.0).encoded(), bytes({0x09, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F}));
  EXPECT_EQ(ProtobufMessage().real(2, -2.0F).encoded(), bytes({0x15, 0, 0, 0, 0xC0}));
}

TEST(ProtobufMessage, TakesAsManyBytesAsANumberNeeds) {
  EXPECT_EQ(ProtobufMessage().integer(2, 0).encoded(), bytes({0x10, 0x00}));
  EXPECT_EQ(ProtobufMessage().integer(2, 127).encoded(), bytes({0x10, 0x7F}));
  EXPECT_EQ(ProtobufMessage().integer(2, 128).encoded(), bytes({0x10, 0x80, 0x01}));
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ProtobufMessage().integer(2, most).encoded(), bytes({0x10}) + std::string(8, '\xFF') + "\x7F");
  EXPECT_EQ(ProtobufMessage().integer(16, 1).encoded(), bytes({0x80, 0x01, 0x01}));
}

}  // namespace
}  // namespace fedarena::results
