#include "harness/oracle/system_bits.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/random.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

std::uint64_t SystemBits::operator()() {
  if (used_ == bits_.size()) refill();
  return bits_[used_++];
}

std::span<const std::uint64_t> SystemBits::pairs(std::size_t most) {
  if (bits_.size() - used_ < 2) refill();
  const std::size_t count = std::min(most, bits_.size() - used_) / 2 * 2;
  const std::span<const std::uint64_t> words(&bits_[used_], count);
  used_ += count;
  return words;
}

void SystemBits::refill() {
  auto* bytes = reinterpret_cast<unsigned char*>(bits_.data());
  std::size_t filled = 0;
  while (filled < sizeof(bits_)) {
    const ssize_t got = getrandom(bytes + filled, sizeof(bits_) - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Error::of("the system's random generator failed: {}", std::strerror(errno));
    filled += static_cast<std::size_t>(got);
  }
  used_ = 0;
}

}  // namespace fedarena
