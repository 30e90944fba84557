#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

namespace fedarena {

/// Of several pieces of work, keeps the exception of the first one that failed, in whatever order they were
/// done: so what users read does not depend on who did them. `record` and `precedes` are safe to call from
/// several threads, `seen` and `rethrow` are for when they are done.
class FirstFailure {
 public:
  void record(std::size_t index, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (index >= first_.load(std::memory_order_relaxed)) return;
    failure_ = std::move(failure);
    first_.store(index, std::memory_order_relaxed);
  }
  /// Whether a piece before this one failed, so that nothing of this one matters any more.
  bool precedes(std::size_t index) const { return first_.load(std::memory_order_relaxed) < index; }
  bool seen() const { return failure_ != nullptr; }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::atomic<std::size_t> first_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure_;
};

}  // namespace fedarena
