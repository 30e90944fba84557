#pragma once

#include <cstdint>
#include <string_view>

namespace fedarena {

/// The 64-bit FNV-1a hash (Fowler, Noll, Vo), for names and against accidents, not against anybody. Fed with
/// bytes one by one, or with whole words where speed counts.
class Fnv1a {
 public:
  /// `start`: mixed into the offset basis; what is hashed later does not begin with it.
  explicit constexpr Fnv1a(std::uint64_t start = 0) : hash_(0xcbf29ce484222325 ^ start) {}

  constexpr void add(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x100000001b3; }
  constexpr void add(std::string_view text) {
    for (const char letter : text) add(std::uint64_t{static_cast<unsigned char>(letter)});
  }
  constexpr std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_;
};

}  // namespace fedarena
