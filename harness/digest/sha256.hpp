#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fedarena {

/// The SHA-256 (FIPS 180-4) of bytes that come piece by piece.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::span<const std::uint8_t> bytes);
  /// Of all bytes so far, as 64 lower-case hexadecimal digits. Ends the digest: to be called once.
  std::string text();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// SHA-256 as 64 lower-case hexadecimal digits.
std::string sha256_of(std::span<const std::uint8_t> content);
std::string sha256_of(std::string_view content);

/// Whether the text has that form.
bool is_sha256(std::string_view text);

}  // namespace fedarena
