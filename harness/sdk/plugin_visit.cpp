#include "harness/sdk/plugin_visit.hpp"

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unistd.h>

#include "fedarena/base/print.hpp"

namespace fedarena {
namespace {

thread_local const std::string* inside = nullptr;

void refuse_exit() {
  if (inside == nullptr) return;
  print(stderr,
        "fedarena: {} ended the program\n"
        "  Throw an exception there instead of calling exit(). All complete rounds of a run are kept: "
        "--resume continues it.\n",
        *inside);
  ::_exit(1);
}

// Says whose the crash is, by what a handler of signals may call, and lets it happen.
void name_who_crashed(int signal) {
  if (inside != nullptr) {
    const auto say = [](std::string_view text) {
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    };
    say("fedarena: ");
    say(*inside);
    say(" crashed the program\n  All complete rounds of a run are kept: --resume continues it.\n");
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void watch_for_crashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, name_who_crashed);
}

}  // namespace

PluginVisit::PluginVisit(const std::string* where) : outside_(inside) {
  // Nothing is called at _Exit(), which only malice calls.
  static const int registered = std::atexit(refuse_exit) + std::at_quick_exit(refuse_exit);
  FEDARENA_CHECK(registered, ==, 0);
  static std::once_flag watching;
  std::call_once(watching, watch_for_crashes);
  inside = where;
}

PluginVisit::~PluginVisit() { inside = outside_; }

const std::string* PluginVisit::current() { return inside; }

}  // namespace fedarena
