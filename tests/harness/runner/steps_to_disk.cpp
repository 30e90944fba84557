#include "tests/harness/runner/steps_to_disk.hpp"

#include <cerrno>
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

namespace fedarena {

int steps_left = -1;
bool steps_are_small = false;
bool last_step_fails = false;

}  // namespace fedarena

namespace {

// False where the step fails.
bool make_step() {
  if (fedarena::steps_left < 0 || fedarena::steps_left-- > 0) return true;
  if (!fedarena::last_step_fails) ::_exit(9);
  errno = ENOSPC;
  return false;
}

}  // namespace

// In place of the C library's: each begins with a step.
extern "C" int rename(const char* from, const char* to) noexcept {
  if (!make_step()) return -1;
  static const auto original =
      reinterpret_cast<int (*)(const char*, const char*)>(dlsym(RTLD_NEXT, "rename"));
  return original(from, to);
}

extern "C" int unlink(const char* file) noexcept {
  if (fedarena::steps_are_small && !make_step()) return -1;
  static const auto original = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_NEXT, "unlink"));
  return original(file);
}

extern "C" int ftruncate(int file, off_t size) noexcept {
  if (fedarena::steps_are_small && !make_step()) return -1;
  static const auto original = reinterpret_cast<int (*)(int, off_t)>(dlsym(RTLD_NEXT, "ftruncate"));
  return original(file, size);
}

// What a process wrote outlives it without the disk's help.
extern "C" int fsync(int /*file*/) { return make_step() ? 0 : -1; }
