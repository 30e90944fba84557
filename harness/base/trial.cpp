#include "fedarena/base/trial.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <span>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "fedarena/base/descriptor.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"

namespace fedarena {
namespace {

// The last word of a copy that lives; what dies before leaves a reason or nothing.
constexpr std::string_view kAlive{"\0", 1};

// Where the copy writes to: its last word, and what it hands over.
int words = -1, pieces = -1;

void write_or_end(int file, std::span<const char> bytes) {
  if (write_all(file, std::as_bytes(bytes)) != 0) ::_exit(1);  // nobody reads any more
}

[[noreturn]] void end_with(std::string_view word) {
  ::close(pieces);  // which are read before the word
  write_or_end(words, word);
  ::_exit(0);
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

// Each process closes the end that it does not use: else whoever reads would wait for itself.
struct Pipe {
  Descriptor reading, writing;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error::of("cannot make a pipe: {}", std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// A piece goes as its size and its bytes.
void hand_over(std::string_view piece) {
  const std::uint64_t size = piece.size();
  write_or_end(pieces, {reinterpret_cast<const char*>(&size), sizeof(size)});
  write_or_end(pieces, piece);
}

// Fewer only where there are no more.
std::size_t read_up_to(int file, char* bytes, std::size_t most) {
  std::size_t got = 0;
  while (got < most) {
    const auto count = read_some(file, std::as_writable_bytes(std::span(bytes + got, most - got)));
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  return got;
}

// False after the last whole piece.
bool read_piece(int file, std::string& piece) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::uint64_t size = 0;
  if (read_up_to(file, reinterpret_cast<char*>(&size), sizeof(size)) < sizeof(size)) return false;
  piece.clear();
  // The copy may be out of its mind: what a size promises must come before memory is taken for it.
  while (piece.size() < size) {
    const std::size_t before = piece.size();
    piece.resize(before + std::min<std::uint64_t>(size - before, kBlock));
    if (read_up_to(file, piece.data() + before, piece.size() - before) < piece.size() - before) return false;
  }
  return true;
}

int end_of(pid_t copy) {
  int status = 0;
  while (::waitpid(copy, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 512> block{};
  while (const std::size_t count = read_up_to(file, block.data(), block.size())) {
    text.append(block.data(), count);
  }
  return text;
}

}  // namespace

std::string died_of(const std::function<void()>& body) {
  return died_of([&](const TakePiece&) { body(); }, [](std::string_view) {});
}

std::string died_of(const std::function<void(const TakePiece&)>& body, const TakePiece& take) {
  Pipe last_word = make_pipe(), handed_over = make_pipe();
  const pid_t copy = ::fork();
  if (copy < 0) throw Error::of("cannot start a process: {}", std::strerror(errno));
  if (copy == 0) {
    last_word.reading.close();
    handed_over.reading.close();
    words = last_word.writing.number();
    pieces = handed_over.writing.number();
    run_copy([&] { body(hand_over); });
  }
  last_word.writing.close();
  handed_over.writing.close();
  try {
    for (std::string piece; read_piece(handed_over.reading.number(), piece);) take(piece);
  } catch (...) {
    handed_over.reading.close();  // which ends the copy at its next piece
    end_of(copy);
    throw;
  }
  std::string word = read_all(last_word.reading.number());
  const int status = end_of(copy);
  if (word == kAlive) return "";
  if (!word.empty()) return word;
  if (WIFSIGNALED(status)) return fmt::format("it crashed ({})", ::strsignal(WTERMSIG(status)));
  return fmt::format("it ended the program with exit code {}", WEXITSTATUS(status));
}

}  // namespace fedarena
