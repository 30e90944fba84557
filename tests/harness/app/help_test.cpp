// What the program says about itself: tests/golden/{plugins,help_experiment}.txt.
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/app/golden.hpp"

namespace fedarena::test {
namespace {

using testing::HasSubstr;

// The transcript of commands that must succeed without a word on stderr.
std::string answers(const Scratch& scratch, const std::vector<std::vector<std::string>>& command_lines) {
  std::string text;
  for (const std::vector<std::string>& arguments : command_lines) {
    const Outcome outcome = run_program(scratch, arguments);
    SCOPED_TRACE(testing::PrintToString(arguments));
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    text += transcript(scratch, arguments, outcome);
  }
  return text;
}

// CLI11 lays these pages out, differently from version to version.
TEST(Help, ExplainsTheProgramAndEveryCommand) {
  const std::map<std::vector<std::string>, std::vector<std::string>> pages{
      {{}, {"run", "table", "list", "images", "plugins", "help", "--version", "fedarena COMMAND --help"}},
      {{"run"},
       {"FILE", "--out", "--workers", "--device", "--set", "--plugin-path", "--resume", "--only", "--jobs",
        "--memory", "--dry-run"}},
      {{"partition"}, {"FILE", "--seed", "--format", "--output", "--profile", "--set", "--plugin-path"}},
      {{"table"}, {"DIR", "--format", "csv, html, json, latex or markdown"}},
      {{"compare"}, {"DIR", "--labels", "--metric", "--across", "--format", "epsilon"}},
      {{"list"}, {"DIR", "default runs"}},
      {{"watch"}, {"DIR", "default runs", "--once"}},
      {{"plot"},
       {"DIR", "--output", "--x", "--y", "--labels", "--log-x", "--log-y", "--roc", "--format"}},
      {{"report"}, {"DIR", "--output", "default report.html"}},
      {{"export"}, {"DIR", "csv or jsonl", "tensorboard", "--output", "--measures", "test_accuracy"}},
      {{"images"}, {"RUN", "--round", "--output", "--histogram", "--scale", "--format"}},
      {{"data"}, {"list", "info", "verify", "fetch", "preview"}},
      {{"data", "verify"}, {"NAME", "--set", "--from"}},
      {{"data", "fetch"}, {"NAME", "--from", "--to"}},
      {{"data", "preview"}, {"NAME", "--output", "--part", "--per-class", "--scale", "--set", "--from"}},
      {{"plugins"}, {"NAME", "--plugin-path"}},
      {{"help"}, {"TOPIC", "fedarena help experiment"}}};
  const Scratch scratch;
  for (const auto& [command, words] : pages) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    const Outcome outcome = run_program(scratch, arguments);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    for (const std::string& word : words) EXPECT_THAT(outcome.out, HasSubstr(word));
  }
}

TEST(Help, TellsTheVersion) {
  const Outcome outcome = run_program(Scratch(), {"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("fedarena [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Help, ExplainsEveryAlgorithm) {
  const Scratch scratch;
  std::vector<std::vector<std::string>> command_lines{{"plugins"}};
  std::istringstream list(run_program(scratch, {"plugins"}).out);
  std::string line;
  std::getline(list, line);  // the heading
  while (std::getline(list, line) && !line.empty()) {
    command_lines.push_back({"plugins", line.substr(0, line.find(' '))});
  }
  EXPECT_GE(command_lines.size(), 4U);
  expect_golden("plugins.txt", answers(scratch, command_lines));
}

TEST(Help, ExplainsTheExperimentFile) {
  const Scratch scratch;
  expect_golden("help_experiment.txt", answers(scratch, {{"help", "experiment"}}));
  EXPECT_EQ(run_program(scratch, {"help"}).out, run_program(scratch, {"help", "experiment"}).out);
}

}  // namespace
}  // namespace fedarena::test
