#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "results/export/event_file.hpp"

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

std::string counting(char first, int step) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes += static_cast<char>(first + step * i);
  return bytes;
}

// RFC 3720, appendix B.4; its checksums stand there byte by byte, the least significant first.
TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(counting(0, 1)), 0x46DD794EU);
  EXPECT_EQ(crc32c(counting(31, -1)), 0x113FDB5CU);
  std::string read_command(48, '\0');
  read_command[0] = '\x01';
  read_command[1] = '\xC0';
  read_command[16] = '\x14';
  read_command[22] = '\x04';
  read_command[27] = '\x14';
  read_command[31] = '\x18';
  read_command[32] = '\x28';
  read_command[40] = '\x02';
  EXPECT_EQ(crc32c(read_command), 0xD9963A56U);
}

// The check value of catalogues of checksums.
TEST(Crc32c, OfTheDigitsIsTheCheckValue) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

// The length, its masked checksum, the bytes, theirs. 32 zeros have the checksum 0x8A9136AA, whose mask is
// rotate_right(0x8A9136AA, 15) + 0xA282EAD8 = 0x6D551522 + 0xA282EAD8 = 0x0FD7FFFA.
TEST(TfRecord, FramesBytesWithMaskedChecksums) {
  const std::string record = tf_record(std::string(32, '\0'));
  ASSERT_EQ(record.size(), 8U + 4 + 32 + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\x20\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 32), std::string(32, '\0'));
  EXPECT_EQ(record.substr(44), "\xFA\xFF\xD7\x0F");
}

}  // namespace
}  // namespace fedarena::results
