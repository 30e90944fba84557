#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Numbers and parts of any length one after the other, little-endian: what several encoded messages and what
// goes with them are packed in.
namespace fedarena {

/// A serialised message, or several.
using Bytes = std::vector<std::byte>;

void put_bytes(Bytes& bytes, std::span<const std::byte> more);
/// In as many bytes as its type has.
template <typename Value>
void put_value(Bytes& bytes, const Value& value) {
  put_bytes(bytes, std::as_bytes(std::span(&value, 1)));
}
/// In eight bytes.
inline void put_number(Bytes& bytes, std::uint64_t value) { put_value(bytes, value); }
void put_double(Bytes& bytes, double value);
/// Its length, then the part.
void put_part(Bytes& bytes, std::span<const std::byte> part);
void put_text(Bytes& bytes, std::string_view text);
/// A part of numbers of one size.
template <typename Number>
void put_numbers(Bytes& bytes, const std::vector<Number>& numbers) {
  put_part(bytes, std::as_bytes(std::span(numbers)));
}

/// Takes the parts off again, in the same order. Error naming `what` where the bytes are cut short.
class Parts {
 public:
  explicit Parts(std::span<const std::byte> bytes, std::string_view what = "message");
  std::uint64_t number();
  std::int64_t integer() { return static_cast<std::int64_t>(number()); }
  double floating();
  std::span<const std::byte> part() { return take(number()); }
  std::string text();
  template <typename Number>
  std::vector<Number> numbers() {
    const std::span<const std::byte> bytes = part();
    std::vector<Number> values(bytes.size() / sizeof(Number));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Number));
    return values;
  }
  /// Error where anything is left.
  void finish() const;

 private:
  std::span<const std::byte> take(std::uint64_t size);

  std::span<const std::byte> bytes_;
  std::string_view what_;
};

}  // namespace fedarena
