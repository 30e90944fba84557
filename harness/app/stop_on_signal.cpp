#include "harness/app/stop_on_signal.hpp"

#include <array>
#include <csignal>
#include <string_view>
#include <unistd.h>

#include "fedarena/base/uninterrupted.hpp"

#include "harness/app/commands.hpp"

namespace fedarena {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};

std::atomic<bool> is_awaited = false;  // whether a command looks at what follows
std::atomic<bool> stop_requested = false;

void request_stop(int signal) {
  if (!is_awaited) {
    if (Uninterrupted::defers(signal)) return;
    constexpr std::string_view kStopped = "Stopped.\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kStopped.data(), kStopped.size());
    ::_exit(kInterrupted);
  }
  stop_requested.store(true);
  if (signal != SIGXCPU) std::signal(signal, SIG_DFL);  // which comes every second
}

void mask_signals(int how) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) sigaddset(&signals, signal);
  ::sigprocmask(how, &signals, nullptr);
}

}  // namespace

void end_on_signal() {
  for (const int signal : kSignals) {
    // nohup, and shells that start something in the background, have the program ignore a signal.
    if (std::signal(signal, request_stop) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  mask_signals(SIG_UNBLOCK);
}

void hold_signals() { mask_signals(SIG_BLOCK); }

const std::atomic<bool>& stop_on_signal() {
  is_awaited = true;
  // Work goes on when nobody reads what it says any more, as after `2>&1 | head -1`.
  std::signal(SIGPIPE, SIG_IGN);
  return stop_requested;
}

}  // namespace fedarena
