#include "tests/harness/app/loaded_program/loaded_program.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

#include "tests/harness/app/loaded_program/protocol.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

std::string header_of(const Request& request) {
  return {reinterpret_cast<const char*>(&request), sizeof(request)};
}

}  // namespace

LoadedProgram& LoadedProgram::instance() {
  static LoadedProgram program;
  return program;
}

LoadedProgram::LoadedProgram() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  const std::string program = (build_folder() / "bin" / "fedarena-full").string();
  const std::string server = (build_folder() / "tests" / "libloaded_program_server.so").string();
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDONLY);
    setenv("LD_PRELOAD", server.c_str(), 1);
    setenv(kSocketVariable, std::to_string(ends[1]).c_str(), 1);
    if (dup2(nothing, STDIN_FILENO) >= 0 && fcntl(ends[1], F_SETFD, 0) == 0) {
      execl(program.c_str(), program.c_str(), nullptr);
    }
    _exit(127);
  }
  close(ends[1]);
  socket_ = ends[0];
}

int LoadedProgram::ask(const std::string& request) const {
  if (request.size() > kLargestRequest)
    throw std::length_error("the command is too long for the loaded program");
  int answer = 0;
  if (send(socket_, request.data(), request.size(), MSG_NOSIGNAL) < 0 ||
      recv(socket_, &answer, sizeof(answer), 0) != sizeof(answer)) {
    throw std::system_error(errno, std::generic_category(), "the loaded program does not answer");
  }
  return answer;
}

pid_t LoadedProgram::start(const std::filesystem::path& folder, const std::vector<std::string>& words,
                           const std::vector<std::string>& variables, int out, int err) const {
  std::string request = header_of({.words = static_cast<int>(words.size()), .outputs = {out, err}});
  const auto add = [&](const std::string& text) { request.append(text.c_str(), text.size() + 1); };
  add(folder.string());
  for (const std::string& word : words) add(word);
  for (const std::string& variable : variables) add(variable);
  return ask(request);
}

int LoadedProgram::wait_for(pid_t command) const { return ask(header_of({.wait_for = command})); }

}  // namespace fedarena::test
