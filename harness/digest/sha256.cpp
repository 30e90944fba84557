#include "harness/digest/sha256.hpp"

#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> state{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  FEDARENA_CHECK(EVP_DigestInit_ex(context_->state.get(), EVP_sha256(), nullptr), ==, 1);
}

Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::uint8_t> bytes) {
  FEDARENA_CHECK(EVP_DigestUpdate(context_->state.get(), bytes.data(), bytes.size()), ==, 1);
}

std::string Sha256::text() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  FEDARENA_CHECK(EVP_DigestFinal_ex(context_->state.get(), digest.data(), &length), ==, 1);
  std::string text;
  for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_of(std::span<const std::uint8_t> content) {
  Sha256 digest;
  digest.add(content);
  return digest.text();
}

std::string sha256_of(std::string_view content) {
  return sha256_of({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
}

bool is_sha256(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace fedarena
