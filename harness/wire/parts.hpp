#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// What goes with encoded messages: numbers, texts and lists one after the other, little-endian.
namespace fedarena {

/// A serialised message, or several.
using Bytes = std::vector<std::byte>;

void put_bytes(Bytes& bytes, std::span<const std::byte> more);
/// In as many bytes as its type has.
template <typename Value>
void put_value(Bytes& bytes, const Value& value) {
  put_bytes(bytes, std::as_bytes(std::span(&value, 1)));
}

namespace detail {

template <typename Thing>
void put_one(Bytes& bytes, const Thing& thing) {
  if constexpr (std::is_floating_point_v<Thing>) {
    put_value<double>(bytes, thing);
  } else if constexpr (std::is_integral_v<Thing> || std::is_enum_v<Thing>) {
    put_value(bytes, static_cast<std::uint64_t>(thing));
  } else if constexpr (std::is_convertible_v<const Thing&, std::string_view>) {
    put_one(bytes, std::span(std::string_view(thing)));
  } else if constexpr (std::is_same_v<Thing, std::vector<std::string>>) {
    put_one(bytes, thing.size());
    for (const std::string& text : thing) put_one(bytes, text);
  } else {
    put_one(bytes, std::span(thing).size_bytes());
    put_bytes(bytes, std::as_bytes(std::span(thing)));
  }
}

}  // namespace detail

/// Appends them: a number, a flag or a name in eight bytes, a text or a list of numbers or bytes behind its
/// size in bytes, a list of texts behind its length.
template <typename... Things>
void put(Bytes& bytes, const Things&... things) {
  (detail::put_one(bytes, things), ...);
}

template <typename... Things>
Bytes packed(const Things&... things) {
  Bytes bytes;
  put(bytes, things...);
  return bytes;
}

/// Takes things off again, of the same types in the same order. Error naming `what` where the bytes are cut
/// short.
class Parts {
 public:
  explicit Parts(std::span<const std::byte> bytes, std::string_view what = "message");
  template <typename... Things>
  void operator()(Things&... things) {
    ((things = next<Things>()), ...);
  }
  template <typename Thing>
  Thing next() {
    if constexpr (std::is_floating_point_v<Thing>) {
      return value<double>();
    } else if constexpr (std::is_integral_v<Thing> || std::is_enum_v<Thing>) {
      return static_cast<Thing>(value<std::uint64_t>());
    } else if constexpr (std::is_same_v<Thing, std::vector<std::string>>) {
      Thing texts(next<std::uint64_t>());
      for (std::string& text : texts) text = next<std::string>();
      return texts;
    } else {
      const std::span<const std::byte> bytes = part();
      Thing list;
      list.resize(bytes.size() / sizeof(typename Thing::value_type));
      if (!list.empty()) std::memcpy(list.data(), bytes.data(), list.size() * sizeof(list.front()));
      return list;
    }
  }
  /// A text or list of numbers or bytes as it lies there.
  std::span<const std::byte> part() { return take(next<std::uint64_t>()); }
  /// All that is left.
  std::span<const std::byte> rest() { return take(bytes_.size()); }
  /// Error where anything is left.
  void finish() const;

 private:
  template <typename Value>
  Value value() {
    Value value;
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }
  std::span<const std::byte> take(std::uint64_t size);

  std::span<const std::byte> bytes_;
  std::string_view what_;
};

}  // namespace fedarena
