#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tests/scratch.hpp"

namespace fedarena::test {

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
  unsigned short columns = 80;                          ///< of the terminal; 0: it does not know
  std::string out = {};                                 ///< a file that takes stdout instead of the outcome
  std::string program = {};                             ///< instead of the one that was built
};

/// `fedarena` as a child process, in the scratch folder. Ends with its owner.
class Program {
 public:
  Program(const Scratch& scratch, const std::vector<std::string>& arguments, const Start& start = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Collects output until the condition holds; false when the program ended, or a minute went by, before.
  bool wait_until(const std::function<bool()>& condition);
  void send(int signal) const;
  /// Waits for the end; a program that takes two minutes is killed, which the outcome's signal tells.
  Outcome finish();
  /// What it wrote to stderr so far.
  const std::string& err() const { return outcome_.err; }

 private:
  // Waits for output at most so long; false when both ends are closed.
  bool collect(int milliseconds);

  pid_t child_ = -1;
  int out_ = -1;
  int err_ = -1;
  Outcome outcome_;
};

/// Starts the program and waits for its end.
Outcome run_program(const Scratch& scratch, const std::vector<std::string>& arguments,
                    const Start& start = {});

}  // namespace fedarena::test
