#include <gtest/gtest.h>

#include "sample.hpp"

namespace fedarena {
namespace {

TEST(LargeFiles, AreReadOrRefused) {
  std::string seeds = "seeds = [0";
  for (int seed = 1; seed < 200'000; ++seed) seeds += fmt::format(", {}", seed);
  std::string sections, keys, algorithms;
  for (int index = 0; index < 20'000; ++index) {
    sections += fmt::format("[section{}]\n", index);
    keys += fmt::format("key{} = 1\n", index);
    algorithms += fmt::format("[[algorithms]]\nname = \"fedavg\"\nlabel = \"a{}\"\n", index);
  }
  EXPECT_EQ(refusal(with("seeds = [1, 2, 3", seeds)), "accepted");
  EXPECT_NE(refusal(kSample + sections), "accepted");
  EXPECT_NE(refusal(kSample + keys), "accepted");
  EXPECT_EQ(refusal(kSample + algorithms), "accepted");
  EXPECT_NE(refusal(kSample + std::string(1'000'000, '[')), "accepted");
  EXPECT_NE(refusal(kSample + "x = " + std::string(1'000'000, '{')), "accepted");
}

}  // namespace
}  // namespace fedarena
