#include "harness/app/stop_on_signal.hpp"

#include <csignal>

namespace fedarena {
namespace {

std::atomic<bool> stop_requested = false;

void request_stop(int signal) {
  stop_requested.store(true);
  std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& stop_on_signal() {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  return stop_requested;
}

}  // namespace fedarena
