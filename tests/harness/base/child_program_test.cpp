#include "fedarena/base/child_program.hpp"

#include <chrono>
#include <cstdlib>

#include <gtest/gtest.h>

namespace fedarena {
namespace {

TEST(ChildProgram, GetsItsWordsAsTheyAre) {
  const auto ended = call_program({"printf", "<%s>", "a b", "$(exit 3)", "'"});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 0);
  EXPECT_EQ(ended->out, "<a b><$(exit 3)><'>");
}

TEST(ChildProgram, ReadsItsInputAndSaysHowItEnded) {
  const auto ended = call_program({"sh", "-c", "cat; echo no >&2; exit 3"}, {.input = "text"});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 3);
  EXPECT_EQ(ended->out, "text");
  EXPECT_EQ(ended->err, "no\n");
  EXPECT_EQ(call_program({"sh", "-c", "kill -9 $$"})->exit_code, -1);
}

TEST(ChildProgram, IsNothingWhereThereIsNone) {
  EXPECT_FALSE(call_program({"fedarena-has-no-such-program"}));
}

TEST(ChildProgram, IsKilledAtItsLimit) {
  EXPECT_EQ(call_program({"sleep", "1000"}, {.limit = std::chrono::milliseconds(20)})->exit_code, -1);
}

TEST(ChildProgram, DoesNotSeeVariablesThatAreKeptFromIt) {
  ::setenv("SQUEUE_X", "1", 1);
  EXPECT_EQ(call_program({"sh", "-c", "echo $SQUEUE_X$HOME"}, {.without = "SQUEUE_"})->out,
            call_program({"sh", "-c", "echo $HOME"})->out);
}

}  // namespace
}  // namespace fedarena
