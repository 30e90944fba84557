#pragma once

#include <cfenv>
#include <string>

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

/// While a plugin's code has this thread: says who it is should it end the process by exit() or quick_exit(),
/// or crash it, and keeps the thread's floating-point environment.
class FEDARENA_API PluginVisit {
 public:
  /// `where`: "algorithm \"x\" of plugin y, in train,"; outlives this. nullptr: nobody is to be named.
  explicit PluginVisit(const std::string* where);
  ~PluginVisit();
  PluginVisit(const PluginVisit&) = delete;
  PluginVisit& operator=(const PluginVisit&) = delete;

  /// Of the innermost visit of this thread, for threads that go on with its work; nullptr outside of visits.
  static const std::string* current();

 private:
  const std::string* outside_;
  KeptFloatEnvironment environment_;
};

}  // namespace fedarena
