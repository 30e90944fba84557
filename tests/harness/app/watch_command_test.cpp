// `fedarena watch`: runs while another process is at them.
#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/app/refusals.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;
using results::RunDirectory;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// A run of one planned round, finished or not begun.
void record(const fs::path& folder, std::int64_t seed, bool done) {
  results::Summary summary =
      done ? results::finished("fedavg", seed, 0.75) : results::unfinished("fedavg", seed, 0);
  summary.rounds = 1;
  summary.rounds_done = done ? 1 : 0;
  RunDirectory run =
      RunDirectory::create(folder / fmt::format("fedavg-seed-{}", seed), "[experiment]\n", "{}\n", summary);
  if (done) run.append(results::round_record(1));
}

// Takes a program's stdout as a terminal.
class Terminal {
 public:
  Terminal() : mine_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(::grantpt(mine_), 0);
    EXPECT_EQ(::unlockpt(mine_), 0);
    name_ = ::ptsname(mine_);
    theirs_ = ::open(name_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // else it vanishes with its program
    const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(::ioctl(theirs_, TIOCSWINSZ, &size), 0);
  }
  ~Terminal() {
    ::close(theirs_);
    ::close(mine_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  const std::string& name() const { return name_; }
  // All that was written so far, with the line ends of a file.
  const std::string& text() {
    pollfd ready{mine_, POLLIN, 0};
    std::array<char, 4096> block{};
    while (::poll(&ready, 1, 0) > 0) {
      const ssize_t count = ::read(mine_, block.data(), block.size());
      if (count <= 0) break;
      text_.append(block.data(), static_cast<std::size_t>(count));
    }
    std::erase(text_, '\r');
    return text_;
  }

 private:
  int mine_;
  int theirs_ = -1;
  std::string name_, text_;
};

TEST(Watch, TellsARunAtWorkFromOneThatWasKilledAndFromOneThatWasStopped) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.rounds = 1000, .evaluate_every = 500}.toml());
  const fs::path run = scratch / "out/fedavg-seed-1";
  const std::vector<std::string> watch = {"watch", "out", "--once"};
  {
    Program at_work(scratch, {"run", "small.toml", "--out", "out"});
    ASSERT_TRUE(at_work.wait_until([&] { return rounds_on_disk(run) >= 2; })) << at_work.err();
    at_work.send(SIGSTOP);  // so that it cannot end before it was seen
    const Outcome seen = run_program(scratch, watch);
    EXPECT_EQ(seen.exit_code, 0) << seen.err;
    EXPECT_THAT(seen.out, StartsWith("1 cell begun: 1 running; "));
    EXPECT_THAT(seen.out, HasSubstr("\nrunning  fedavg, seed 1"));
    at_work.send(SIGKILL);
    EXPECT_EQ(at_work.finish().signal, SIGKILL);
  }
  const Outcome killed = run_program(scratch, watch);
  EXPECT_THAT(killed.out, StartsWith("1 cell begun: 1 no process; "));
  EXPECT_THAT(killed.out, HasSubstr("\nno process: recorded as running, but killed"));
  const std::int64_t killed_after = rounds_on_disk(run);
  Program resumed(scratch, {"run", "small.toml", "--out", "out", "--resume"});
  ASSERT_TRUE(resumed.wait_until([&] { return rounds_on_disk(run) > killed_after; })) << resumed.err();
  resumed.send(SIGINT);
  EXPECT_EQ(resumed.finish().exit_code, 130);
  EXPECT_THAT(run_program(scratch, watch).out, StartsWith("1 cell begun: 1 interrupted; "));
}

TEST(Watch, PrintsOnceWhereThereIsNoTerminal) {
  const Scratch scratch;
  record(scratch / "runs", 1, true);
  record(scratch / "runs", 2, false);
  scratch.write("runs/broken/summary.json", "{\"schema\": 9}");
  const Outcome outcome = run_program(scratch, {"watch"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "3 cells begun: 1 interrupted, 1 broken, 1 finished; 1 of 2 rounds\n"
            "state        cell            rounds  accuracy    loss  s/round  curve  time left\n"
            "interrupted  fedavg, seed 2     0/1\n"
            "broken       runs/broken: summary.json: field \"schema\" is 9; allowed: 1 to 2\n"
            "finished     fedavg, seed 1     1/1   75.00 %  0.2500     1.62  =\n");
}

TEST(Watch, DrawsInTheLettersOfTheLocale) {
  const Scratch scratch;
  record(scratch / "runs", 1, true);
  const auto shown = [&](const std::string& locale) {
    return run_program(scratch, {"watch"}, {.environment = {{"LC_ALL", locale}}}).out;
  };
  EXPECT_THAT(shown("C"), EndsWith("  =\n"));
  EXPECT_THAT(shown("C.UTF-8"), EndsWith("  ▄\n"));
  EXPECT_THAT(shown("nonsense"), EndsWith("  =\n"));
}

TEST(Watch, RedrawsATerminalUntilAllIsFinished) {
  const Scratch scratch;
  record(scratch / "runs", 1, true);
  Terminal terminal;
  const Outcome outcome = run_program(scratch, {"watch"}, {.out = terminal.name()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  // A screen of its own, drawn over, then the last picture on the first screen.
  EXPECT_THAT(terminal.text(),
              AllOf(StartsWith("\033[?1049h\033[?25l\033[H1 cell begun: 1 finished;"),
                    HasSubstr("\033[J\033[?25h\033[?1049l1 cell begun: 1 finished;"), EndsWith("  =\n")));
}

TEST(Watch, EndsAtCtrlCAndLeavesTheTerminalAsItWas) {
  const Scratch scratch;
  record(scratch / "runs", 1, false);
  Terminal terminal;
  Program program(scratch, {"watch"}, {.out = terminal.name()});
  ASSERT_TRUE(program.wait_until([&] { return terminal.text().find("interrupted") != std::string::npos; }));
  program.send(SIGINT);
  EXPECT_EQ(program.finish().exit_code, 130);
  EXPECT_THAT(terminal.text(), HasSubstr("\033[?25h\033[?1049l1 cell begun: 1 interrupted;"));
}

TEST(Watch, WaitsForTheFirstRunOnATerminal) {
  const Scratch scratch;
  fs::create_directories(scratch / "runs");
  Terminal terminal;
  Program program(scratch, {"watch"}, {.out = terminal.name()});
  ASSERT_TRUE(
      program.wait_until([&] { return terminal.text().find("no run yet in runs") != std::string::npos; }));
  record(scratch / "runs", 1, true);
  EXPECT_EQ(program.finish().exit_code, 0);
  EXPECT_THAT(terminal.text(), EndsWith("  =\n"));
}

TEST(Watch, RefusesWithOneMessage) {
  const Scratch scratch;
  fs::create_directories(scratch / "empty");
  scratch.write("file", "");
  const std::string text =
      refusals(scratch, {{"watch", "nowhere"}, {"watch", "empty"}, {"watch", "file"}, {"watch", "--twice"}});
  EXPECT_THAT(text, HasSubstr("fedarena: nowhere: does not exist\n"));
  EXPECT_THAT(text, HasSubstr("fedarena: empty: holds no run: there is no summary.json below it\n"));
  EXPECT_THAT(text, HasSubstr("fedarena: file: is not a folder\n"));
  EXPECT_THAT(text, HasSubstr("unknown option \"--twice\"; allowed: --help, --once\n"));
  Terminal terminal;
  const Outcome outcome = run_program(scratch, {"watch", "nowhere"}, {.out = terminal.name()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(terminal.text(), "");
}

}  // namespace
}  // namespace fedarena::test
