#pragma once

#include <array>
#include <cstddef>
#include <sys/types.h>

namespace fedarena::test {

/// What the tests ask of a loaded program, in one message: to start a command or to wait for one.
///
/// A start carries, after this header, strings that end with a zero each: the folder, `words` words and the
/// variables of the environment. The answer is the process (pid_t). The answer to a wait is what waitpid()
/// says of it (int).
struct Request {
  pid_t wait_for = 0;  ///< 0: a start
  int words = 0;
  std::array<int, 2> outputs = {};  ///< stdout and stderr, as the parent of the loaded program has them open
};

/// The largest message, header included.
constexpr std::size_t kLargestRequest = 64 << 10;

/// The environment variable with the number of the program's end of the socket.
constexpr const char* kSocketVariable = "FEDARENA_TEST_SOCKET";

}  // namespace fedarena::test
