#include "results/text/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fedarena::results {
namespace {

TEST(Text, AlignsLinesByTheWidestCellOfEachColumn) {
  EXPECT_EQ(
      aligned_lines({{"name", "bytes", "note"}, {"μ", "12"}, {"fedavg", "1024", "large"}}, {false, true}),
      "name    bytes  note\n"
      "μ          12\n"
      "fedavg   1024  large\n");
  EXPECT_EQ(aligned_lines({}, {true}), "");
}

TEST(Text, EndsNoLineInSpaces) {
  EXPECT_EQ(aligned_line({"a", ""}, {3, 5}, {}), "a\n");
  EXPECT_EQ(aligned_line({"", "b"}, {3, 2}, {false, true}), "      b\n");
}

TEST(Text, MakesNotesOfSentences) {
  std::vector<std::string> notes = {"first"};
  append_notes(notes, {"one. Two.", "over\ntwo lines", "said"});
  EXPECT_THAT(notes, testing::ElementsAre("first", "one. Two", "over two lines", "said"));
}

}  // namespace
}  // namespace fedarena::results
