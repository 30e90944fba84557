#include "fedarena/base/uninterrupted.hpp"

#include <atomic>
#include <csignal>

namespace fedarena {
namespace {

std::atomic<int> held = 0;
std::atomic<int> waiting = 0;  // a signal, or 0
static_assert(std::atomic<int>::is_always_lock_free, "a handler of signals may not wait");

}  // namespace

Uninterrupted::Uninterrupted() { ++held; }

Uninterrupted::~Uninterrupted() {
  if (--held > 0) return;
  if (const int signal = waiting.exchange(0); signal != 0) std::raise(signal);
}

// Noted first: the last holder may look between the two.
bool Uninterrupted::defers(int signal) {
  const bool is_first = waiting.exchange(signal) == 0;
  return is_first && (held > 0 || waiting.exchange(0) == 0);
}

}  // namespace fedarena
