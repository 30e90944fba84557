// A library to be preloaded into fedarena-full. The program is then loaded once, which takes LibTorch a
// second, and runs its main() for each command in a forked copy: the tests start hundreds of commands.
#include <array>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <signal.h>
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

struct Received {
  std::array<char, kLargestRequest> bytes;
  std::size_t size = 0;
  std::array<int, 2> outputs{-1, -1};
};

bool receive(int socket, Received& received) {
  iovec bytes{received.bytes.data(), received.bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(received.outputs))> descriptors;
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = descriptors.data();
  message.msg_controllen = descriptors.size();
  const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size < static_cast<ssize_t>(sizeof(Request))) return false;
  received.size = static_cast<std::size_t>(size);
  const cmsghdr* control = CMSG_FIRSTHDR(&message);
  if (control != nullptr) std::memcpy(received.outputs.data(), CMSG_DATA(control), sizeof(received.outputs));
  return true;
}

// In the copy: what execve() would have given it.
int run_command(Received& received, int count) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> texts;
  char* const end = received.bytes.data() + received.size;
  for (char* text = received.bytes.data() + sizeof(Request); text < end; text += std::strlen(text) + 1) {
    texts.push_back(text);
  }
  const bool ready = dup2(received.outputs[0], STDOUT_FILENO) >= 0 &&
                     dup2(received.outputs[1], STDERR_FILENO) >= 0 && chdir(texts.front()) == 0;
  if (!ready) return 127;
  for (const int output : received.outputs) close(output);
  std::vector<char*> words(texts.begin() + 1, texts.begin() + 1 + count);
  words.push_back(nullptr);
  std::vector<char*> variables(texts.begin() + 1 + count, texts.end());
  variables.push_back(nullptr);
  environ = variables.data();
  return program_main(count, words.data(), environ);
}

int serve(int, char**, char**) {
  const int socket = std::atoi(getenv(kSocketVariable));
  static Received received;
  while (receive(socket, received)) {
    Request request;
    std::memcpy(&request, received.bytes.data(), sizeof(request));
    if (request.wait_for != 0) {
      int status = 0;
      waitpid(request.wait_for, &status, 0);
      send(socket, &status, sizeof(status), 0);
      continue;
    }
    const pid_t child = fork();
    if (child == 0) {
      close(socket);
      return run_command(received, request.words);
    }
    for (const int output : received.outputs) close(output);
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
