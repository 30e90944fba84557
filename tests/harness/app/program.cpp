#include "tests/harness/app/program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <regex>
#include <signal.h>
#include <stdexcept>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/app/command_line.hpp"
#include "tests/harness/app/loaded_program/loaded_program.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

struct Ends {
  int mine, theirs;
};

Ends open_pipe() {
  std::array<int, 2> ends{};
  checked(pipe2(ends.data(), O_CLOEXEC), "pipe");
  return {ends[0], ends[1]};
}

Ends open_terminal(unsigned short columns) {
  const int mine = checked(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), "posix_openpt");
  checked(grantpt(mine), "grantpt");
  checked(unlockpt(mine), "unlockpt");
  const int theirs = checked(open(ptsname(mine), O_RDWR | O_NOCTTY | O_CLOEXEC), "open");
  const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  checked(ioctl(theirs, TIOCSWINSZ, &size), "TIOCSWINSZ");
  return {mine, theirs};
}

// Nothing of the caller's settings may change what a test sees, except how to find libraries, and which of
// its kernels OpenBLAS takes: another choice has other bits than the runs within this process.
std::vector<std::string> environment_of(const Scratch& scratch, const Start& start) {
  std::map<std::string, std::string> variables{{"HOME", scratch.path().string()}, {"TERM", "xterm"}};
  for (const char* kept : {"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TMPDIR", "CUDA_VISIBLE_DEVICES",
                           "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}) {
    if (const char* value = getenv(kept)) variables[kept] = value;
  }
  for (const auto& [name, value] : start.environment) variables[name] = value;
  std::vector<std::string> texts;
  for (const auto& [name, value] : variables) texts.push_back(name + "=" + value);
  return texts;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Those that need LibTorch, where nothing differs that libraries read while they are loaded.
bool may_be_loaded(const CommandLine& command, const Start& start) {
  const auto is_ours = [](const auto& variable) { return variable.first.starts_with("FEDARENA_"); };
  std::vector<const char*> words;
  for (const std::string& word : command.words()) words.push_back(word.c_str());
  return start.program.empty() && start.signal == 0 && getenv("LD_PRELOAD") == nullptr &&
         std::ranges::all_of(start.environment, is_ours) && !is_light_command(words);
}

// The signal waits until the program takes it.
void keep_waiting(int signal) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  raise(signal);
}

pid_t start_anew(const Scratch& scratch, std::vector<std::string>& words, std::vector<std::string>& variables,
                 int out, int err, int signal) {
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(variables);
  const pid_t child = checked(fork(), "fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDONLY);
    const bool ready = dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
                       dup2(err, STDERR_FILENO) >= 0 && chdir(scratch.path().c_str()) == 0;
    if (signal != 0) keep_waiting(signal);
    if (ready) execve(argv.front(), argv.data(), envp.data());
    _exit(127);
  }
  return child;
}

}  // namespace

CommandLine::CommandLine(std::string_view text) {
  bool quoted = false, begun = false;
  for (const char letter : text) {
    if (letter == ' ' && !quoted) {
      begun = false;
      continue;
    }
    if (!std::exchange(begun, true)) words_.emplace_back();
    if (letter == '\'') {
      quoted = !quoted;
    } else {
      words_.back() += letter;
    }
  }
}

Program::Program(const Scratch& scratch, const CommandLine& command, const Start& start) {
  std::vector<std::string> words{start.program.empty() ? (build_folder() / "bin" / "fedarena").string()
                                                       : start.program};
  words.insert(words.end(), command.words().begin(), command.words().end());
  std::vector<std::string> variables = environment_of(scratch, start);
  Ends out = start.out_terminal ? open_terminal(start.columns) : open_pipe();
  if (!start.out.empty()) {
    close(std::exchange(out.theirs, checked(open(start.out.c_str(), O_WRONLY | O_CLOEXEC), "open")));
  }
  const Ends err = start.terminal ? open_terminal(start.columns) : open_pipe();
  of_loaded_program_ = may_be_loaded(command, start);
  child_ = of_loaded_program_
               ? LoadedProgram::instance().start(scratch.path(), words, variables, out.theirs, err.theirs)
               : start_anew(scratch, words, variables, out.theirs, err.theirs, start.signal);
  close(out.theirs);
  close(err.theirs);
  out_ = out.mine;
  err_ = err.mine;
}

Program::~Program() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    wait_for_child();
  }
  for (const int end : {out_, err_}) {
    if (end >= 0) close(end);
  }
}

bool Program::collect(int milliseconds) {
  // A negative number tells poll() to leave an entry out.
  std::array<pollfd, 2> ends{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) return false;
  if (poll(ends.data(), ends.size(), milliseconds) <= 0) return true;
  const auto take = [](const pollfd& ready, int& end, std::string& text) {
    if (ready.revents == 0) return;
    std::array<char, 4096> block;
    const ssize_t count = read(end, block.data(), block.size());
    if (count > 0) {
      text.append(block.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {  // the end of a terminal is an error, EIO
      close(std::exchange(end, -1));
    }
  };
  take(ends[0], out_, outcome_.out);
  take(ends[1], err_, outcome_.err);
  return true;
}

bool Program::wait_until(const std::function<bool()>& condition) {
  const auto deadline = Clock::now() + kPatience;
  while (!condition()) {
    if (Clock::now() > deadline || !collect(5)) return false;
  }
  return true;
}

void Program::send(int signal) const { checked(kill(child_, signal), "kill"); }

int Program::wait_for_child() {
  const pid_t child = std::exchange(child_, -1);
  if (of_loaded_program_) return LoadedProgram::instance().wait_for(child);
  int status = 0;
  checked(waitpid(child, &status, 0), "waitpid");
  return status;
}

Outcome Program::finish() {
  const auto deadline = Clock::now() + 2 * kPatience;
  while (collect(100)) {
    if (Clock::now() > deadline) kill(child_, SIGKILL);
  }
  const int status = wait_for_child();
  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
  // A machine with a slow BLAS is told so; that is not what any test is about.
  static const std::regex kSlowBlas("warning: matrix products run at[^\n]*\n  [^\n]*\n");
  outcome_.err = std::regex_replace(outcome_.err, kSlowBlas, "");
  return outcome_;
}

Outcome run_program(const Scratch& scratch, const CommandLine& command, const Start& start) {
  return Program(scratch, command, start).finish();
}

Outcome succeed(const Scratch& scratch, const CommandLine& command, const Start& start) {
  Outcome outcome = run_program(scratch, command, start);
  if (outcome.exit_code != 0) {
    throw std::runtime_error(fmt::format("{}: exit code {}\n{}{}", fmt::join(command.words(), " "),
                                         outcome.exit_code, outcome.out, outcome.err));
  }
  return outcome;
}

Outcome signal_once_it_says(const Scratch& scratch, const CommandLine& command, const std::string& text,
                            int signal) {
  Program program(scratch, command, {.terminal = true});
  EXPECT_TRUE(program.wait_until([&] { return program.err().find(text) != std::string::npos; }));
  program.send(signal);
  return program.finish();
}

Outcome ScratchTest::failed(const CommandLine& command, const Start& start) const {
  Outcome outcome = call(command, start);
  EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(command.words()) << outcome.out << outcome.err;
  return outcome;
}

}  // namespace fedarena::test
