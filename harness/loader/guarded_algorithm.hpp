#pragma once

#include <cfenv>
#include <memory>

#include "fedarena/algorithm.hpp"
#include "fedarena/base/error.hpp"

namespace fedarena {

/// A plugin threw something that is not an Error, which says nothing of what the user gave.
class PluginFailure : public Error {
 public:
  using Error::Error;
};

/// An algorithm of a plugin whose exceptions cannot leave as they are: whatever it throws becomes an Error
/// that names plugin, algorithm and call, and a PluginFailure unless it was one. Interrupted passes, so that
/// Ctrl-C works inside of it.
std::unique_ptr<const Algorithm> guarded(const AlgorithmInfo& info, const Settings& settings);

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

}  // namespace fedarena
