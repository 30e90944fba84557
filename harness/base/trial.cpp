#include "fedarena/base/trial.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

// The last word of a copy that lives; what dies before leaves a reason or nothing.
constexpr std::string_view kAlive{"\0", 1};

int words = -1;  // where the copy writes to

[[noreturn]] void end_with(std::string_view word) {
  const bool said = ::write(words, word.data(), word.size()) == static_cast<ssize_t>(word.size());
  ::_exit(said ? 0 : 1);
}

[[noreturn]] void end_by_exception() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
    end_with("it called std::terminate");
  } catch (const std::exception& thrown) {
    end_with(thrown.what());
  } catch (...) {
    end_with("something that is not a std::exception was thrown");
  }
}

[[noreturn]] void run_copy(const std::function<void()>& body) {
  std::set_terminate(end_by_exception);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  try {
    body();
  } catch (...) {
    end_by_exception();
  }
  end_with(kAlive);
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 512> block{};
  while (true) {
    const ssize_t count = ::read(file, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::string died_of(const std::function<void()>& body) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error::of("cannot make a pipe: {}", std::strerror(errno));
  const pid_t copy = ::fork();
  if (copy < 0) throw Error::of("cannot start a process: {}", std::strerror(errno));
  if (copy == 0) {
    words = ends[1];
    run_copy(body);
  }
  ::close(ends[1]);
  std::string word = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(copy, &status, 0) < 0 && errno == EINTR) {
  }
  if (word == kAlive) return "";
  if (!word.empty()) return word;
  if (WIFSIGNALED(status)) return fmt::format("it crashed ({})", ::strsignal(WTERMSIG(status)));
  return fmt::format("it ended the program with exit code {}", WEXITSTATUS(status));
}

}  // namespace fedarena
