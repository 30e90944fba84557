#include "results/report/base64.hpp"

#include <string>

#include <gtest/gtest.h>

namespace fedarena::results {
namespace {

// The vectors of RFC 4648, section 10.
TEST(Base64, IsThatOfItsStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, TakesBytesOfEveryValue) { EXPECT_EQ(base64("\xFB\xFF\xBE"), "+/++"); }

}  // namespace
}  // namespace fedarena::results
