#include "fedarena/base/text.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "fedarena/base/fnv.hpp"

namespace fedarena {
namespace {

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number<std::int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1e-3"), 0.001);
  for (const char* text : {"", " 1", "1 ", "+1", "1,5", "one", "0x10"})
    EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt) << "does not fit";
  EXPECT_EQ(parse_number<std::uint8_t>("-1"), std::nullopt);
}

TEST(Counted, SaysOneAndMany) {
  EXPECT_EQ(counted(1, "round"), "1 round");
  EXPECT_EQ(counted(0, "round"), "0 rounds");
  EXPECT_EQ(counted(std::size_t{2}, "class", "classes"), "2 classes");
}

TEST(Quoted, EscapesWhatWouldEndOrBreakTheText) {
  EXPECT_EQ(quoted("a \"b\" \\ c\nd"), R"("a \"b\" \\ c\u000ad")");
}

// Test vectors that the authors of the hash publish.
TEST(Fnv1a, GivesThePublishedHashes) {
  const auto hash_of = [](std::string_view text) {
    Fnv1a hash;
    hash.add(text);
    return hash.value();
  };
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8);
}

}  // namespace
}  // namespace fedarena
