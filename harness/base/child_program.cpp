#include "fedarena/base/child_program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

[[noreturn]] void fail_to_call(const std::string& program, std::string_view what, int code) {
  throw Error::of("{} {}: {}", program, what, std::generic_category().message(code));
}

// A stream of the child. Files rather than pipes, so that neither side ever waits for the other.
class ChildStream {
 public:
  explicit ChildStream(const std::string& program) : file_(std::tmpfile(), &std::fclose) {
    if (!file_) fail_to_call(program, "needs a temporary file, which cannot be made", errno);
  }
  int descriptor() const { return ::fileno(file_.get()); }
  bool write(std::string_view text) const {
    if (text.empty()) return true;
    const std::size_t written = std::fwrite(text.data(), 1, text.size(), file_.get());
    if (written != text.size() || std::fflush(file_.get()) != 0) return false;
    std::rewind(file_.get());
    return true;
  }
  std::string read() const {
    std::rewind(file_.get());
    std::string text;
    std::array<char, 4096> block{};
    while (const std::size_t count = std::fread(block.data(), 1, block.size(), file_.get())) {
      text.append(block.data(), count);
    }
    return text;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

std::vector<char*> environment_without(std::string_view beginning) {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (beginning.empty() || !std::string_view(*variable).starts_with(beginning))
      variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

// The exit code, or -1.
int wait_for(pid_t child, const std::string& program, std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kStep{5};
  int status = 0;
  std::chrono::milliseconds waited{0};
  while (true) {
    const bool polls = limit.count() > 0 && waited < limit;
    const pid_t ended = ::waitpid(child, &status, polls ? WNOHANG : 0);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (ended < 0 && errno != EINTR) fail_to_call(program, "cannot be waited for", errno);
    if (!polls) continue;
    std::this_thread::sleep_for(kStep);
    waited += kStep;
    if (waited >= limit) ::kill(child, SIGKILL);
  }
}

}  // namespace

std::optional<ChildOutcome> call_program(std::vector<std::string> words, const ChildStart& start) {
  const std::string program = words.front();
  const ChildStream in(program);
  const ChildStream out(program);
  const ChildStream err(program);
  if (!in.write(start.input)) {
    fail_to_call(program, "needs a temporary file, which cannot be written", errno);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.descriptor(), STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> variables = environment_without(start.without);
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT) return std::nullopt;
  if (failure != 0) fail_to_call(program, "cannot be started", failure);
  const int code = wait_for(child, program, start.limit);
  return ChildOutcome{.exit_code = code, .out = out.read(), .err = err.read()};
}

}  // namespace fedarena
