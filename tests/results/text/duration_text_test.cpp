#include "results/text/duration_text.hpp"

#include <gtest/gtest.h>

namespace fedarena::results {
namespace {

TEST(DurationText, HasTwoUnitsAtMost) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(3599), "59 min 59 s");
  EXPECT_EQ(duration_text(7265), "2 h 01 min");
  EXPECT_EQ(duration_text(100000), "1 d 03 h");
  EXPECT_EQ(duration_text(1e300), duration_text(1e12));
}

}  // namespace
}  // namespace fedarena::results
