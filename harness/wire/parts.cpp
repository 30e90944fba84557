#include "harness/wire/parts.hpp"

#include <bit>

#include "fedarena/base/error.hpp"

namespace fedarena {

void put_double(Bytes& bytes, double value) { put_number(bytes, std::bit_cast<std::uint64_t>(value)); }

void put_bytes(Bytes& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

void put_part(Bytes& bytes, std::span<const std::byte> part) {
  put_number(bytes, part.size());
  put_bytes(bytes, part);
}

void put_text(Bytes& bytes, std::string_view text) { put_part(bytes, std::as_bytes(std::span(text))); }

Parts::Parts(std::span<const std::byte> bytes, std::string_view what) : bytes_(bytes), what_(what) {}

std::uint64_t Parts::number() {
  std::uint64_t value = 0;
  std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
  return value;
}

double Parts::floating() { return std::bit_cast<double>(number()); }

std::string Parts::text() {
  const std::span<const std::byte> bytes = part();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

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
