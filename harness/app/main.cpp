// The program that people call. It runs the light commands itself and leaves all others to the full program
// beside it.
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <unistd.h>

#include "fedarena/base/print.hpp"

#include "harness/app/command_line.hpp"
#include "harness/app/start_limits.hpp"
#include "harness/app/stop_on_signal.hpp"

namespace {

// A stream that is closed would be the next file that is opened, whatever that is.
void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDWR);
  }
}

// Returns only when there is no such program.
int become_full_program(char** arguments) {
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const std::filesystem::path full = self.parent_path() / "fedarena-full";
  if (!failure) {
    fedarena::hold_signals();
    execv(full.c_str(), arguments);
    failure = std::error_code(errno, std::generic_category());
  }
  fedarena::print(
      stderr,
      "fedarena: {}: cannot be started: {}\n  it belongs beside the program fedarena: install or build "
      "fedarena again\n",
      full.string(), failure.message());
  return fedarena::kUserError;
}

}  // namespace

int main(int count, char** arguments) {
  using namespace fedarena;
  end_on_signal();
  open_closed_streams();
  const auto words = std::span(arguments, static_cast<std::size_t>(count)).subspan(count > 0 ? 1 : 0);
  if (is_light_command(words)) {
    return run_command_line(count, arguments, light_commands(), FEDARENA_VERSION);
  }
  if (const std::string problem = start_problem(start_needs(words)); !problem.empty()) {
    print(stderr, "fedarena: {}\n", problem);
    return kUserError;
  }
  return become_full_program(arguments);
}
