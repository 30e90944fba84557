#pragma once

#include <cfenv>

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

}  // namespace fedarena
