#include "harness/sdk/plugin_visit.hpp"

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "fedarena/base/print.hpp"

namespace fedarena {
namespace {

thread_local const PluginCall* inside = nullptr;

void refuse_exit() {
  if (inside == nullptr) return;
  print(stderr,
        "fedarena: {}, in {}, ended the program\n"
        "  Throw an exception there instead of calling exit(). All complete rounds of a run are kept: "
        "--resume continues it.\n",
        inside->origin, inside->where());
  ::_exit(1);
}

// Says whose the crash is, by what a handler of signals may call, and lets it happen.
void name_who_crashed(int signal) {
  if (inside != nullptr) {
    const auto say = [](std::string_view text) {
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    };
    const auto say_number = [&](std::string_view what, std::int64_t number) {
      if (number < 0) return;
      const fmt::format_int digits(number);
      say(what);
      say({digits.data(), digits.size()});
    };
    say("fedarena: ");
    say(inside->origin);
    say(", in ");
    say(inside->function);
    say_number(", round ", inside->round);
    say_number(", client ", inside->client);
    say(", crashed the program\n  All complete rounds of a run are kept: --resume continues it.\n");
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void watch_for_crashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, name_who_crashed);
}

}  // namespace

std::string PluginCall::where() const {
  std::string text(function);
  if (round >= 0) text += fmt::format(", round {}", round);
  if (client >= 0) text += fmt::format(", client {}", client);
  return text;
}

PluginVisit::PluginVisit(const PluginCall* call) : outside_(inside) {
  // Nothing is called at _Exit(), which only malice calls.
  static const int registered = std::atexit(refuse_exit) + std::at_quick_exit(refuse_exit);
  FEDARENA_CHECK(registered, ==, 0);
  static std::once_flag watching;
  std::call_once(watching, watch_for_crashes);
  inside = call;
}

PluginVisit::~PluginVisit() { inside = outside_; }

const PluginCall* PluginVisit::current() { return inside; }

}  // namespace fedarena
