#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scratch.hpp"

namespace fedarena::test {

namespace fs = std::filesystem;

/// The words of a command line. In a text they are parted by spaces, and '...' holds one with spaces, or an
/// empty one.
class CommandLine {
 public:
  CommandLine(std::string_view text);
  CommandLine(const std::string& text) : CommandLine(std::string_view(text)) {}
  CommandLine(const char* text) : CommandLine(std::string_view(text)) {}
  CommandLine(std::vector<std::string> words) : words_(std::move(words)) {}

  const std::vector<std::string>& words() const { return words_; }
  friend CommandLine operator+(CommandLine left, const CommandLine& right) {
    left.words_.insert(left.words_.end(), right.words_.begin(), right.words_.end());
    return left;
  }

 private:
  std::vector<std::string> words_;
};

/// How a program ended and what it wrote.
struct Outcome {
  int exit_code = -1;  ///< -1 when a signal ended it
  int signal = 0;
  std::string out = {};
  std::string err = {};
};

/// What differs from one start of the program to another.
struct Start {
  std::map<std::string, std::string> environment = {};  ///< added to a small fixed one
  bool terminal = false;                                ///< stderr is a pseudo-terminal
  bool out_terminal = false;                            ///< stdout is one
  unsigned short columns = 80;                          ///< of the terminal; 0: it does not know
  std::string out = {};                                 ///< a file that takes stdout instead of the outcome
  std::string program = {};                             ///< instead of the one that was built
  int signal = 0;                                       ///< one that was sent to it before it begins
};

/// `fedarena` as a child process, in the scratch folder. Ends with its owner.
class Program {
 public:
  Program(const Scratch& scratch, const CommandLine& command, const Start& start = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Collects output until the condition holds; false when the program ended, or a minute went by, before.
  bool wait_until(const std::function<bool()>& condition);
  void send(int signal) const;
  pid_t pid() const { return child_; }
  /// Waits for the end; a program that takes two minutes is killed, which the outcome's signal tells.
  Outcome finish();
  /// What it wrote so far.
  const std::string& out() const { return outcome_.out; }
  const std::string& err() const { return outcome_.err; }

 private:
  // Waits for output at most so long; false when both ends are closed.
  bool collect(int milliseconds);

  // Waits for the end of the child: what waitpid() says of it.
  int wait_for_child();

  pid_t child_ = -1;
  bool of_loaded_program_ = false;  // then it is no child of this process
  int out_ = -1;
  int err_ = -1;
  Outcome outcome_;
};

/// Starts the program and waits for its end.
Outcome run_program(const Scratch& scratch, const CommandLine& command, const Start& start = {});

/// The same of one that must succeed: anything but exit code 0 ends the test.
Outcome succeed(const Scratch& scratch, const CommandLine& command, const Start& start = {});

/// Starts the program on a terminal, sends it the signal once it says this, and waits for its end.
Outcome signal_once_it_says(const Scratch& scratch, const CommandLine& command, const std::string& text,
                            int signal);

/// A test with a scratch folder of its own, in which it starts the program.
class ScratchTest : public testing::Test {
 protected:
  Outcome call(const CommandLine& command, const Start& start = {}) const {
    return run_program(scratch, command, start);
  }
  Outcome succeed(const CommandLine& command, const Start& start = {}) const {
    return test::succeed(scratch, command, start);
  }
  // The same of one that must fail with exit code 2, and what it then writes to stderr.
  Outcome failed(const CommandLine& command, const Start& start = {}) const;
  std::string refused(const CommandLine& command, const Start& start = {}) const {
    return failed(command, start).err;
  }

  const Scratch scratch;
};

}  // namespace fedarena::test
