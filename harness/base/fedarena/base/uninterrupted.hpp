#pragma once

#include "fedarena/base/export.hpp"

namespace fedarena {

/// While one of these is there, a signal that would end the program waits until the last one goes: what must
/// be whole or not there at all is written meanwhile, which takes moments. A second signal does not wait.
class FEDARENA_API Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

  /// For a handler of signals, before it ends the program: whether this one waits, to be raised again.
  static bool defers(int signal);
};

}  // namespace fedarena
