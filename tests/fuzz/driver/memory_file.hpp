#pragma once

#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tests/fuzz/driver/target.hpp"

namespace fedarena::fuzz {

/// A file in memory that has a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content = {}) : descriptor_(::memfd_create("input", 0)) {
    require(descriptor_ >= 0 &&
                ::write(descriptor_, content.data(), content.size()) == static_cast<ssize_t>(content.size()),
            "no file in memory");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }
  std::string content() const {
    std::string bytes(static_cast<std::size_t>(::lseek(descriptor_, 0, SEEK_END)), '\0');
    const ssize_t count = ::pread(descriptor_, bytes.data(), bytes.size(), 0);
    require(count == static_cast<ssize_t>(bytes.size()), "a file in memory cannot be read");
    return bytes;
  }

 private:
  int descriptor_;
};

}  // namespace fedarena::fuzz
