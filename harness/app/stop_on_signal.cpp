#include "harness/app/stop_on_signal.hpp"

#include <csignal>

namespace fedarena {
namespace {

std::atomic<bool> stop_requested = false;

void request_stop(int signal) {
  stop_requested.store(true);
  if (signal != SIGXCPU) std::signal(signal, SIG_DFL);  // which comes every second
}

}  // namespace

const std::atomic<bool>& stop_on_signal() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) {
    // nohup, and shells that start something in the background, have the program ignore a signal.
    if (std::signal(signal, request_stop) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  return stop_requested;
}

}  // namespace fedarena
