#include "tests/harness/app/golden.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

fs::path golden_file(const std::string& name) { return source_folder() / "tests" / "golden" / name; }

std::vector<CommandLine> commands_of(const std::string& name) {
  constexpr std::string_view kPrompt = "$ fedarena";
  std::vector<CommandLine> commands;
  std::istringstream lines(content_of(golden_file(name)));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kPrompt)) commands.emplace_back(line.substr(kPrompt.size()));
  }
  EXPECT_FALSE(commands.empty()) << name;
  return commands;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// Lines that are not a message: what the run said before, and what belongs to the line above.
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

void expect_golden(const std::string& name, const std::string& text) {
  const fs::path file = golden_file(name);
  if (std::getenv("FEDARENA_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  const std::string expected = fs::exists(file) ? content_of(file) : "";
  EXPECT_EQ(expected, text)
      << file.string()
      << " (-) differs from what was printed (+). If the new text is right, run this test with "
         "FEDARENA_UPDATE_GOLDEN=1 and review what git diff shows.";
}

void expect_refusals(const Scratch& scratch, const std::string& name) {
  expect_golden(name, refusals(scratch, commands_of(name)));
}

void expect_answers(const Scratch& scratch, const std::string& name) {
  expect_golden(name, answers(scratch, commands_of(name)));
}

std::string transcript(const Scratch& scratch, const CommandLine& command, const Outcome& outcome) {
  std::string text = "$ fedarena";
  for (const std::string& word : command.words()) {
    text += word.empty() || word.find_first_of(" '\"") != std::string::npos ? " '" + word + "'" : " " + word;
  }
  text += "\n" + outcome.out + outcome.err;
  if (outcome.exit_code != 0) text += fmt::format("[exit {}]\n", outcome.exit_code);
  text = replaced(text + "\n", scratch.path().string(), "SCRATCH");
  text = replaced(std::move(text), build_folder().string(), "BUILD");
  return replaced(std::move(text), source_folder().string(), "SOURCE");
}

std::string answers(const Scratch& scratch, const std::vector<CommandLine>& commands) {
  std::string text;
  for (const CommandLine& command : commands) text += transcript(scratch, command, succeed(scratch, command));
  return text;
}

std::string refusals(const Scratch& scratch, const std::vector<CommandLine>& commands, const Start& start) {
  std::string text;
  for (const CommandLine& command : commands) {
    const Outcome outcome = run_program(scratch, command, start);
    text += transcript(scratch, command, outcome);
    SCOPED_TRACE(testing::PrintToString(command.words()));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    expect_one_message(outcome.err);
  }
  return text;
}

}  // namespace fedarena::test
