#include "harness/wire/parts.hpp"

#include "fedarena/base/error.hpp"

namespace fedarena {

void put_bytes(Bytes& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

Parts::Parts(std::span<const std::byte> bytes, std::string_view what) : bytes_(bytes), what_(what) {}

void Parts::finish() const {
  if (!bytes_.empty()) throw Error::of("the {} has {} bytes to spare", what_, bytes_.size());
}

std::span<const std::byte> Parts::take(std::uint64_t size) {
  if (size > bytes_.size()) throw Error::of("the {} is cut short", what_);
  const std::span<const std::byte> taken = bytes_.first(size);
  bytes_ = bytes_.subspan(size);
  return taken;
}

}  // namespace fedarena
