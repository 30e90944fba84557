// What is seen while a run goes on: its own lines, and fedarena watch beside it.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <regex>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

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

using Progress = ScratchTest;

TEST_F(Progress, IsPlainLinesWhereThereIsNoTerminal) {
  const Outcome outcome = run_small(scratch, {.algorithms = {"fedavg", "fedprox"}});
  EXPECT_EQ(outcome.err.find_first_of("\r\033"), std::string::npos);
  std::vector<std::string> lines;
  std::istringstream stream(outcome.err);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  lines.emplace_back();
  EXPECT_THAT(lines, final_lines("3 rounds"));
}

TEST_F(Progress, IsOneLineOnATerminal) {
  if (!terminals_exist()) return;
  SmallExperiment experiment{.rounds = 400, .evaluate_every = 100, .algorithms = {"fedavg", "fedprox"}};
  experiment.write_to(scratch);
  const Outcome outcome = succeed("run small.toml --out out", {.terminal = true});
  const Screen screen(outcome.err);
  EXPECT_THAT(screen.lines, final_lines("400 rounds"));

  std::vector<std::string> progress;
  for (const std::string& line : screen.drawn) {
    // The notes and the final lines are as long as they are; they stay.
    const bool rewritten = std::find(screen.lines.begin(), screen.lines.end(), line) == screen.lines.end();
    if (rewritten && !line.empty()) progress.push_back(line);
  }
  const std::regex shape(
      R"(\[[12]/2\] fed(avg|prox), seed 1: round \d+/400(, (about \d+ s left|time left unknown|\d+ examples/s|accuracy [\d.]+ %|client [1-3]/4|server at work))+)");
  for (const std::string& line : progress) {
    EXPECT_LT(line.size(), kColumns) << line;
    EXPECT_TRUE(std::regex_match(line, shape)) << line;
  }
  EXPECT_THAT(progress, Contains(HasSubstr("[1/2] fedavg, seed 1: round 1/400, time left unknown")));
  EXPECT_THAT(progress,
              Contains(ContainsRegex(
                  "\\[2/2\\] fedprox, seed 1: round [0-9]+/400, about [0-9]+ s left, [0-9]+ examples/s")));
}

// Sizes of samples are secret, and a log may be anybody's.
TEST_F(Progress, TellsNoSizesUnderAPolicy) {
  if (!terminals_exist()) return;
  SmallExperiment{.rounds = 100,
                  .more =
                      "\n[privacy]\npolicy = \"record\"\nclip_norm = 1.0\n"
                      "noise_multiplier = 1.0\n"}
      .write_to(scratch);
  const std::string drawn = succeed("run small.toml", {.terminal = true}).err;
  EXPECT_THAT(drawn, ContainsRegex("round [0-9]+/100, about [0-9]+ s left"));
  EXPECT_THAT(drawn, AllOf(Not(HasSubstr("examples/s")), Not(ContainsRegex("client [0-9]"))));
}

// The second cell's line is drawn when it begins, however fast the rounds of the first one were.
TEST_F(Progress, SaysThatARuleMayEndRunsSooner) {
  if (!terminals_exist()) return;
  SmallExperiment{.algorithms = {"fedavg", "fedprox"}}.write_to(scratch);
  EXPECT_THAT(succeed("run small.toml --set evaluation.validation_fraction=0.2 --set stopping.patience=2",
                      {.terminal = true})
                  .err,
              ContainsRegex("fedprox, seed 1: round 1/3, about [0-9]+ s left or sooner"));
}

TEST_F(Progress, SurvivesATerminalWithoutASize) {
  if (!terminals_exist()) return;
  SmallExperiment{}.write_to(scratch);
  succeed("run small.toml", {.terminal = true, .columns = 0});
}

using Watch = ScratchTest;

TEST_F(Watch, TellsARunAtWorkFromOneThatWasKilledAndFromOneThatWasStopped) {
  SmallExperiment{.rounds = 1000, .evaluate_every = 500}.write_to(scratch);
  const fs::path run = scratch / "out/fedavg-seed-1";
  const CommandLine watch = "watch out --once";
  {
    Program at_work(scratch, "run small.toml --out out");
    ASSERT_TRUE(at_work.wait_until([&] { return rounds_on_disk(run) >= 2; })) << at_work.err();
    at_work.send(SIGSTOP);  // so that it cannot end before it was seen
    const Outcome seen = succeed(watch);
    EXPECT_THAT(seen.out, StartsWith("1 cell begun: 1 running; "));
    EXPECT_THAT(seen.out, HasSubstr("\nrunning  fedavg, seed 1"));
    at_work.send(SIGKILL);
    EXPECT_EQ(at_work.finish().signal, SIGKILL);
  }
  const Outcome killed = call(watch);
  EXPECT_THAT(killed.out, StartsWith("1 cell begun: 1 no process; "));
  EXPECT_THAT(killed.out, HasSubstr("\nno process: recorded as running, but killed"));
  EXPECT_THAT(call("list out").out,
              EndsWith("\nno process: recorded as running, but killed, or at work on another machine\n"));
  const std::int64_t killed_after = rounds_on_disk(run);
  Program resumed(scratch, "run small.toml --out out --resume");
  ASSERT_TRUE(resumed.wait_until([&] { return rounds_on_disk(run) > killed_after; })) << resumed.err();
  resumed.send(SIGINT);
  EXPECT_EQ(resumed.finish().exit_code, 130);
  EXPECT_THAT(call(watch).out, StartsWith("1 cell begun: 1 interrupted; "));
}

TEST_F(Watch, PrintsOnceWhereThereIsNoTerminal) {
  record_run(scratch / "runs", 1, 1, 1);
  record_run(scratch / "runs", 2, 0, 1);
  scratch.write("runs/broken/summary.json", "{\"schema\": 9}");
  const Outcome outcome = succeed("watch");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "3 cells begun: 1 interrupted, 1 broken, 1 finished; 1 of 2 rounds\n"
            "state        cell            rounds  accuracy    loss  s/round  curve  time left\n"
            "interrupted  fedavg, seed 2     0/1\n"
            "broken       runs/broken: summary.json: field \"schema\" is 9, and this build reads 2: run "
            "the experiment again, or take the build that wrote it\n"
            "finished     fedavg, seed 1     1/1   75.00 %  0.2500     1.62  =\n");
}

TEST_F(Watch, DrawsInTheLettersOfTheLocale) {
  record_run(scratch / "runs", 1, 1, 1);
  const auto shown = [&](const std::string& locale) {
    return call("watch", {.environment = {{"LC_ALL", locale}}}).out;
  };
  EXPECT_THAT(shown("C"), EndsWith("  =\n"));
  EXPECT_THAT(shown("C.UTF-8"), EndsWith("  ▄\n"));
  EXPECT_THAT(shown("nonsense"), EndsWith("  =\n"));
}

TEST_F(Watch, RedrawsATerminalUntilAllIsFinished) {
  record_run(scratch / "runs", 1, 1, 1);
  // A screen of its own, drawn over, then the last picture on the first screen.
  EXPECT_THAT(succeed("watch", {.out_terminal = true}).out,
              AllOf(StartsWith("\033[?1049h\033[?25l\033[H1 cell begun: 1 finished;"),
                    HasSubstr("\033[J\033[?25h\033[?1049l1 cell begun: 1 finished;"), EndsWith("  =\r\n")));
}

TEST_F(Watch, EndsAtCtrlCAndLeavesTheTerminalAsItWas) {
  record_run(scratch / "runs", 1, 0, 1);
  Program program(scratch, "watch", {.out_terminal = true});
  ASSERT_TRUE(program.wait_until([&] { return program.out().find("interrupted") != std::string::npos; }));
  program.send(SIGINT);
  const Outcome outcome = program.finish();
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_THAT(outcome.out, HasSubstr("\033[?25h\033[?1049l1 cell begun: 1 interrupted;"));
}

TEST_F(Watch, WaitsForTheFirstRunOnATerminal) {
  fs::create_directories(scratch / "runs");
  Program program(scratch, "watch", {.out_terminal = true});
  ASSERT_TRUE(
      program.wait_until([&] { return program.out().find("no run yet in runs") != std::string::npos; }));
  record_run(scratch / "runs", 1, 1, 1);
  const Outcome outcome = program.finish();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, EndsWith("  =\r\n"));
}

TEST_F(Watch, RefusesWithOneMessage) {
  fs::create_directories(scratch / "empty");
  scratch.write("file", "");
  const std::string text = refusals(scratch, {"watch nowhere", "watch empty", "watch file", "watch --twice"});
  EXPECT_THAT(text, HasSubstr("fedarena: nowhere: does not exist\n"));
  EXPECT_THAT(text, HasSubstr("fedarena: empty: holds no run: there is no summary.json below it\n"));
  EXPECT_THAT(text, HasSubstr("fedarena: file: is not a folder\n"));
  EXPECT_THAT(text, HasSubstr("unknown option \"--twice\"; allowed: --help, --once\n"));
  EXPECT_EQ(failed("watch nowhere", {.out_terminal = true}).out, "");
}

}  // namespace
}  // namespace fedarena::test
