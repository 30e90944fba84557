#pragma once

#include <cfenv>
#include <cstdint>
#include <string>
#include <string_view>

#include <ATen/ThreadLocalState.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

/// Puts this thread's floating-point environment back at the end of its life: the direction of rounding, and
/// whether subnormal numbers are flushed to zero. A plugin may change it; the numbers of others must not
/// depend on that. Threads inherit it from the one that starts them.
class KeptFloatEnvironment {
 public:
  KeptFloatEnvironment() { FEDARENA_CHECK(std::fegetenv(&environment_), ==, 0); }
  ~KeptFloatEnvironment() { std::fesetenv(&environment_); }
  KeptFloatEnvironment(const KeptFloatEnvironment&) = delete;
  KeptFloatEnvironment& operator=(const KeptFloatEnvironment&) = delete;

 private:
  std::fenv_t environment_{};
};

/// While it lives, LibTorch has in this thread what a new one has: the inference mode, a dispatch key or an
/// observer that a plugin set for its thread neither changes nor sees what the harness computes of private
/// examples, nor does an observer of all threads.
class FEDARENA_API FreshTorchState {
 public:
  FreshTorchState();
  FreshTorchState(const FreshTorchState&) = delete;
  FreshTorchState& operator=(const FreshTorchState&) = delete;

 private:
  at::ThreadLocalStateGuard guard_;
};

/// A call into a plugin's code. It is put into words only where it fails, because there are millions.
struct FEDARENA_API PluginCall {
  std::string_view origin;  ///< "algorithm \"x\" of plugin y"; outlives the call, as does the next
  std::string_view function;
  std::int64_t round = -1, client = -1;  ///< below 0: of none
  /// "train, round 3, client 0"
  std::string where() const;
};

/// While a plugin's code has this thread: says who it is should it end the process by exit() or quick_exit(),
/// or crash it, and keeps the thread's floating-point environment and what LibTorch holds for it (gradients
/// on or off, the inference mode, ...).
class FEDARENA_API PluginVisit {
 public:
  /// `call` outlives this. nullptr: nobody is to be named.
  explicit PluginVisit(const PluginCall* call);
  ~PluginVisit();
  PluginVisit(const PluginVisit&) = delete;
  PluginVisit& operator=(const PluginVisit&) = delete;

  /// Of the innermost visit of this thread, for threads that go on with its work; nullptr outside of visits.
  static const PluginCall* current();

 private:
  const PluginCall* outside_;
  KeptFloatEnvironment environment_;
  at::ThreadLocalStateGuard torch_state_{at::ThreadLocalState()};
};

}  // namespace fedarena
