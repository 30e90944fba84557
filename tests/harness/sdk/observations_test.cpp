#include "fedarena/observations.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>

#include "tests/message_of.hpp"

namespace fedarena {
namespace {

using test::message_of;
using ::testing::HasSubstr;

TEST(Observations, AddUpByName) {
  Observations observed;
  observed.add("radius", 1.5);
  observed.add("matching-loss", 3);
  observed.add("radius", 2.5);
  Observations more;
  more.add("radius", -1);
  more.add("step2", std::numeric_limits<double>::infinity());
  observed.add(more);
  ASSERT_EQ(observed.values().size(), 3U);
  EXPECT_EQ(observed.values().find("radius")->second.sum, 3);
  EXPECT_EQ(observed.values().find("radius")->second.count, 3);
  EXPECT_EQ(observed.values().find("matching-loss")->second.count, 1);
  EXPECT_TRUE(std::isinf(observed.values().find("step2")->second.sum));
}

TEST(Observations, HavePlainNames) {
  Observations observed;
  for (const std::string name :
       {"", "Radius", "2nd", "-radius", "radius-", "a--b", "a b", "a_b", "r\"", "\xc3\xa4", "r\n"}) {
    EXPECT_THAT(message_of([&] { observed.add(name, 1); }), HasSubstr("an observation is called")) << name;
  }
  const std::string longest(40, 'a');
  observed.add(longest, 1);
  EXPECT_THAT(message_of([&] { observed.add(longest + "a", 1); }), HasSubstr("at most 40 characters"));
  EXPECT_EQ(observed.values().size(), 1U);
}

}  // namespace
}  // namespace fedarena
