#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fedarena::test {

/// fedarena-full, loaded once for all commands of this process, each of which runs in a copy of it. Loading
/// LibTorch is most of the second that a start takes.
class LoadedProgram {
 public:
  /// Loads it at the first call. It ends with this process.
  static LoadedProgram& instance();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  /// Starts a command as execve() would: its words with the program's name, its variables as NAME=VALUE, and
  /// descriptors for stdout and stderr, which stay open here.
  pid_t start(const std::filesystem::path& folder, const std::vector<std::string>& words,
              const std::vector<std::string>& variables, int out, int err) const;
  /// Waits for a command to end: what waitpid() says of it.
  int wait_for(pid_t command) const;

 private:
  LoadedProgram();
  // Sends a request and returns the answer to it.
  int ask(const std::string& request) const;

  int socket_;
};

}  // namespace fedarena::test
