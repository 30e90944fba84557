#include "tests/harness/app/refusals.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/app/golden.hpp"

namespace fedarena::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Lines that are no message: what the run said before, and what belongs to the line above.
bool stands_for_itself(const std::string& line) {
  for (const char* beginning : {"note: ", "warning: ", "seed ", "  "}) {
    if (line.rfind(beginning, 0) == 0) return false;
  }
  return true;
}

void expect_one_message(const std::string& text) {
  std::istringstream lines(text);
  int messages = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!stands_for_itself(line)) continue;
    ++messages;
    EXPECT_EQ(line.rfind("fedarena: ", 0), 0U) << line;
  }
  EXPECT_EQ(messages, 1) << text;
  for (const char* trace : {"terminate", "what()", "frame #", "Exception raised", "this is a bug"}) {
    EXPECT_THAT(text, Not(HasSubstr(trace)));
  }
}

}  // namespace

std::string refusals(const Scratch& scratch, const std::vector<std::vector<std::string>>& command_lines,
                     const Start& start) {
  std::string text;
  for (const std::vector<std::string>& arguments : command_lines) {
    const Outcome outcome = run_program(scratch, arguments, start);
    text += transcript(scratch, arguments, outcome);
    SCOPED_TRACE(testing::PrintToString(arguments));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    expect_one_message(outcome.err);
  }
  return text;
}

}  // namespace fedarena::test
