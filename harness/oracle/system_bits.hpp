#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fedarena {

/// Uniform bits of the operating system's cryptographic generator: never the same twice, and nobody can tell
/// them from a seed. An Error where the system has none.
class SystemBits {
 public:
  std::uint64_t operator()();
  /// Several words at once: 2 at least, `most` at most, which is 2 or more; an even number of them. Valid
  /// until the next call.
  std::span<const std::uint64_t> pairs(std::size_t most);

 private:
  void refill();

  std::array<std::uint64_t, 1024> bits_{};
  std::size_t used_ = bits_.size();
};

}  // namespace fedarena
