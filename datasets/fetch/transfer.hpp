#pragma once

#include <array>
#include <curl/curl.h>
#include <exception>
#include <memory>
#include <optional>
#include <span>

#include "datasets/fetch/download.hpp"
#include "datasets/fetch/growing_file.hpp"

namespace fedarena {

/// One request for a file and its answer: puts the answer behind the bytes that are there when it continues
/// them, else in their place. Throws what `on_progress` and the file throw.
class Transfer {
 public:
  static constexpr long kMostRedirects = 5;

  /// Where the bytes of an answer lie in the whole file. What is not said is missing.
  struct ContentRange {
    std::optional<std::int64_t> first, whole;
  };

  /// Both must live as long.
  Transfer(const Download& wanted, GrowingFile& file);

  CURLcode perform();

  /// The server's last word, such as 404; 0: none.
  long status() const;
  /// Whether the answer's bytes were put behind earlier ones.
  bool continued() const { return begun_ && offset_ > 0; }
  /// Whether the answer, which ended with `code`, is all that was asked for.
  bool complete(CURLcode code) const;
  /// Whether the server says that the earlier bytes are the whole file.
  bool complete_before() const;
  /// Whether the server says, or has shown, that the earlier bytes belong to something else.
  bool unfitting(CURLcode code) const;
  /// Whether there were more bytes than are wanted.
  bool too_long(CURLcode code) const { return too_long_ || code == CURLE_FILESIZE_EXCEEDED; }
  /// libcurl's words for `code`.
  const char* reason(CURLcode code) const;

 private:
  template <typename T>
  void set(CURLoption option, T value);
  void describe_request();
  void receive();
  bool begin();
  bool take(std::span<const std::uint8_t> bytes);

  static std::size_t on_header(char* text, std::size_t one, std::size_t size, void* self);
  static std::size_t on_bytes(char* bytes, std::size_t one, std::size_t size, void* self);
  static int on_transfer(void* self, curl_off_t whole, curl_off_t done, curl_off_t up, curl_off_t uploaded);

  const Download& wanted_;
  GrowingFile& file_;
  std::unique_ptr<CURL, void (*)(CURL*)> handle_;
  std::int64_t offset_;  // of the answer's first byte in the file
  ContentRange range_ = {};
  bool begun_ = false, too_long_ = false;
  std::exception_ptr failure_ = {};
  std::array<char, CURL_ERROR_SIZE> reason_{};
};

}  // namespace fedarena
