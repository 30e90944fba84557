// A library to be preloaded into fedarena-full. The program is then loaded once, which takes LibTorch a
// second, and runs its main() for each command in a forked copy: the tests start hundreds of commands.
#include <array>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/harness/app/loaded_program/protocol.hpp"

namespace fedarena::test {
namespace {

using Main = int (*)(int, char**, char**);

Main program_main = nullptr;

// What the tests have open under that number.
int opened(int descriptor) {
  const std::string file = "/proc/" + std::to_string(getppid()) + "/fd/" + std::to_string(descriptor);
  return open(file.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

// In the copy: what execve() would have given it.
int run_command(const Request& request, char* text, const char* end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> texts;
  for (; text < end; text += std::strlen(text) + 1) texts.push_back(text);
  const auto& [out, err] = request.outputs;
  const bool ready =
      dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0 && chdir(texts.front()) == 0;
  if (!ready) return 127;
  for (const int output : request.outputs) close(output);
  const int count = request.words;
  std::vector<char*> words(texts.begin() + 1, texts.begin() + 1 + count);
  words.push_back(nullptr);
  std::vector<char*> variables(texts.begin() + 1 + count, texts.end());
  variables.push_back(nullptr);
  environ = variables.data();
  return program_main(count, words.data(), environ);
}

int serve(int, char**, char**) {
  const int socket = std::atoi(getenv(kSocketVariable));
  static std::array<char, kLargestRequest> bytes;
  for (ssize_t size = 0; (size = recv(socket, bytes.data(), bytes.size(), 0)) > 0;) {
    Request request;
    std::memcpy(&request, bytes.data(), sizeof(request));
    if (request.wait_for != 0) {
      int status = 0;
      waitpid(request.wait_for, &status, 0);
      send(socket, &status, sizeof(status), 0);
      continue;
    }
    for (int& output : request.outputs) output = opened(output);
    const pid_t child = fork();
    if (child == 0) {
      close(socket);
      return run_command(request, bytes.data() + sizeof(request), bytes.data() + size);
    }
    for (const int output : request.outputs) close(output);
    send(socket, &child, sizeof(child), 0);
  }
  _exit(0);  // the tests have ended
}

}  // namespace
}  // namespace fedarena::test

// What the C library calls when all libraries are loaded. Programs that are started from here load nothing of
// this.
extern "C" __attribute__((visibility("default"))) int __libc_start_main(fedarena::test::Main main, int count,
                                                                        char** words, void (*begin)(),
                                                                        void (*end)(), void (*unload)(),
                                                                        void* stack) {
  using Start = int (*)(fedarena::test::Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  unsetenv("LD_PRELOAD");
  fedarena::test::program_main = main;
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(fedarena::test::serve, count, words, begin, end, unload, stack);
}
