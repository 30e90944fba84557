#include "results/export/tf_record.hpp"

#include <string>

#include <gtest/gtest.h>

namespace fedarena::results {
namespace {

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
