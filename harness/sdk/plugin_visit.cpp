#include "harness/sdk/plugin_visit.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unistd.h>

#include <ATen/record_function.h>
#include <fmt/format.h>

#include "fedarena/base/print.hpp"

namespace fedarena {
namespace {

// Without record functions: an observer of all threads would see private numbers before they are noised.
const at::ThreadLocalState& of_new_thread() {
  static const at::ThreadLocalState kState = [] {
    std::optional<at::ThreadLocalState> state;
    std::thread([&] {
      const at::DisableRecordFunctionGuard unobserved;
      state.emplace();
    }).join();
    return *state;
  }();
  return kState;
}

thread_local const PluginCall* inside = nullptr;
// A call of whichever thread, for crashes in threads that a plugin started.
std::atomic<const PluginCall*> at_work = nullptr;

void refuse_exit() {
  if (inside == nullptr) return;
  print(stderr,
        "fedarena: {}, in {}, ended the program\n"
        "  Throw an exception there instead of calling exit(). All complete rounds of a run are kept: "
        "--resume continues it.\n",
        inside->origin, inside->where());
  ::_exit(2);
}

// Says whose the crash is, by what a handler of signals may call, and lets it happen.
void name_who_crashed(int signal) {
  const PluginCall* call = inside != nullptr ? inside : at_work.load();
  if (call != nullptr) {
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
    say(call->origin);
    say(", in ");
    say(call->function);
    say_number(", round ", call->round);
    say_number(", client ", call->client);
    say(call == inside ? ", crashed the program" : ", was at work when another thread crashed the program");
    say("\n  All complete rounds of a run are kept: --resume continues it.\n");
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void watch_for_crashes() {
  struct sigaction action {};
  action.sa_handler = name_who_crashed;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &action, nullptr);
}

// Where a recursion without an end has left no room, a handler needs some elsewhere. Each thread has its own,
// unless somebody gave it one before.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t now{};
    if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
    memory_ = std::make_unique<std::array<std::byte, kBytes>>();
    now = {.ss_sp = memory_->data(), .ss_flags = 0, .ss_size = kBytes};
    if (::sigaltstack(&now, nullptr) != 0) memory_.reset();
  }
  ~HandlerStack() {
    if (!memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  static constexpr std::size_t kBytes = 65536;
  std::unique_ptr<std::array<std::byte, kBytes>> memory_;
};

}  // namespace

FreshTorchState::FreshTorchState() : guard_(of_new_thread()) {}

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
  static thread_local const HandlerStack stack;
  inside = call;
  at_work.store(call, std::memory_order_relaxed);
}

PluginVisit::~PluginVisit() {
  const PluginCall* own = inside;
  at_work.compare_exchange_strong(own, outside_, std::memory_order_relaxed);
  inside = outside_;
}

const PluginCall* PluginVisit::current() { return inside; }

}  // namespace fedarena
