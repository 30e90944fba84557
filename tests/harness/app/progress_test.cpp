// What is seen while a run goes on: plain lines in a file, one line that rewrites itself on a terminal.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <regex>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

constexpr std::size_t kColumns = 80;

// A terminal that knows what the program uses: carriage return, line feed, and "erase to the end of the
// line".
struct Screen {
  std::vector<std::string> lines = {""};
  std::vector<std::string> drawn = {};  // every text that a line held before it was rewritten or left
  std::size_t column = 0;

  explicit Screen(const std::string& bytes) {
    static const std::string kErase = "\033[K";
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      if (bytes.compare(at, kErase.size(), kErase) == 0) {
        lines.back().resize(column);
        at += kErase.size() - 1;
      } else if (bytes[at] == '\r') {
        drawn.push_back(lines.back());
        column = 0;
      } else if (bytes[at] == '\n') {
        lines.emplace_back();
      } else {
        EXPECT_NE(bytes[at], '\033') << "an escape code that this screen does not know";
        lines.back().resize(std::max(lines.back().size(), column + 1), ' ');
        lines.back()[column++] = bytes[at];
      }
    }
  }
};

auto final_lines(const std::string& rounds) {
  return ElementsAre(
      StartsWith("note: glyphs is synthetic"), StartsWith("seed 1: iid: 4 clients"),
      MatchesRegex("\\[1/2\\] fedavg, seed 1: " + rounds + ", test accuracy [0-9]+\\.[0-9][0-9] %, [0-9]+ s"),
      StartsWith("[2/2] fedprox, seed 1: " + rounds + ", test accuracy "),
      "Results are in out; `fedarena table out` prints the table.", "");
}

// Some containers have no pseudo-terminals; then a line says what was not tried.
bool terminals_exist() {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) {
    std::puts("This system has no pseudo-terminals (devpts), so nothing was tried on one.");
    return false;
  }
  close(terminal);
  return true;
}

TEST(Progress, IsPlainLinesWhereThereIsNoTerminal) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.algorithms = {"fedavg", "fedprox"}}.toml());
  const Outcome outcome = run_program(scratch, {"run", "small.toml", "--out", "out"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err.find_first_of("\r\033"), std::string::npos);
  std::vector<std::string> lines;
  std::istringstream stream(outcome.err);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  lines.emplace_back();
  EXPECT_THAT(lines, final_lines("3 rounds"));
}

TEST(Progress, IsOneLineOnATerminal) {
  if (!terminals_exist()) return;
  const Scratch scratch;
  SmallExperiment experiment{.rounds = 400, .evaluate_every = 100, .algorithms = {"fedavg", "fedprox"}};
  scratch.write("small.toml", experiment.toml());
  const Outcome outcome = run_program(scratch, {"run", "small.toml", "--out", "out"}, {.terminal = true});
  EXPECT_EQ(outcome.exit_code, 0);
  const Screen screen(outcome.err);
  EXPECT_THAT(screen.lines, final_lines("400 rounds"));

  std::vector<std::string> progress;
  for (const std::string& line : screen.drawn) {
    // The notes and the final lines are as long as they are; they stay.
    const bool rewritten = std::find(screen.lines.begin(), screen.lines.end(), line) == screen.lines.end();
    if (rewritten && !line.empty()) progress.push_back(line);
  }
  const std::regex shape(
      R"(\[[12]/2\] fed(avg|prox), seed 1: round \d+/400(, (\d+ s left|time left unknown|\d+ examples/s|accuracy [\d.]+ %|client \d/4))+)");
  for (const std::string& line : progress) {
    EXPECT_LT(line.size(), kColumns) << line;
    EXPECT_TRUE(std::regex_match(line, shape)) << line;
  }
  EXPECT_THAT(progress, testing::Contains(HasSubstr("[1/2] fedavg, seed 1: round 1/400, time left unknown")));
  EXPECT_THAT(progress,
              testing::Contains(testing::ContainsRegex(
                  "\\[2/2\\] fedprox, seed 1: round [0-9]+/400, [0-9]+ s left, [0-9]+ examples/s")));
}

// The second cell's line is drawn when it begins, however fast the rounds of the first one were.
TEST(Progress, SaysThatARuleMayEndRunsSooner) {
  if (!terminals_exist()) return;
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.algorithms = {"fedavg", "fedprox"}}.toml());
  const Outcome outcome = run_program(
      scratch,
      {"run", "small.toml", "--set", "evaluation.validation_fraction=0.2", "--set", "stopping.patience=2"},
      {.terminal = true});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, testing::ContainsRegex("fedprox, seed 1: round 1/3, at most [0-9]+ s left"));
}

TEST(Progress, SurvivesATerminalWithoutASize) {
  if (!terminals_exist()) return;
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{}.toml());
  const Outcome outcome = run_program(scratch, {"run", "small.toml"}, {.terminal = true, .columns = 0});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

}  // namespace
}  // namespace fedarena::test
