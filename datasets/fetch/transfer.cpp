#include "datasets/fetch/transfer.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

// Slower than any line; a server that sends a byte now and then would hold a download for ever.
constexpr long kLeastBytesPerSecond = 1024;
constexpr long kOk = 200;
constexpr long kPartialContent = 206;
constexpr long kRangeNotSatisfiable = 416;

using Handle = std::unique_ptr<CURL, void (*)(CURL*)>;

Handle make_handle() {
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  FEDARENA_CHECK(static_cast<int>(kReady), ==, 0);
  Handle handle(curl_easy_init(), curl_easy_cleanup);
  FEDARENA_CHECK(handle != nullptr, ==, true);
  return handle;
}

std::optional<std::int64_t> number_at(std::string_view text) {
  std::int64_t number = 0;
  const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number < 0) return std::nullopt;
  return number;
}

// Reads "Content-Range: bytes FIRST-LAST/WHOLE", or "bytes */WHOLE" where the answer has none of them (RFC
// 9110, section 14.4); nothing when the header is another one.
std::optional<Transfer::ContentRange> content_range(std::string_view header) {
  constexpr std::string_view kName = "content-range:";
  const bool same = header.size() > kName.size() &&
                    std::equal(kName.begin(), kName.end(), header.begin(), [](char wanted, char found) {
                      return wanted == (found >= 'A' && found <= 'Z' ? found - 'A' + 'a' : found);
                    });
  if (!same) return std::nullopt;
  header.remove_prefix(kName.size());
  const std::size_t unit = header.find("bytes ");
  const std::size_t slash = header.find('/');
  if (unit == std::string_view::npos || slash == std::string_view::npos) return std::nullopt;
  return Transfer::ContentRange{number_at(header.substr(unit + 6)), number_at(header.substr(slash + 1))};
}

}  // namespace

Transfer::Transfer(const Download& wanted, GrowingFile& file)
    : wanted_(wanted), file_(file), handle_(make_handle()), offset_(file.size()) {
  describe_request();
  receive();
}

CURLcode Transfer::perform() {
  const CURLcode code = curl_easy_perform(handle_.get());
  // An empty file has no bytes that would begin it.
  if (code == CURLE_OK && !begun_ && status() == kOk) file_.clear();
  if (failure_) std::rethrow_exception(failure_);
  return code;
}

long Transfer::status() const {
  long status = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
  return status;
}

bool Transfer::complete(CURLcode code) const { return code == CURLE_OK && (begun_ || status() == kOk); }

bool Transfer::complete_before() const {
  return status() == kRangeNotSatisfiable && file_.size() > 0 && range_.whole == file_.size();
}

bool Transfer::unfitting(CURLcode code) const {
  return too_long(code) || status() == kRangeNotSatisfiable ||
         (code == CURLE_WRITE_ERROR && status() == kPartialContent);
}

const char* Transfer::reason(CURLcode code) const {
  return reason_.front() != '\0' ? reason_.data() : curl_easy_strerror(code);
}

template <typename T>
void Transfer::set(CURLoption option, T value) {
  FEDARENA_CHECK(static_cast<int>(curl_easy_setopt(handle_.get(), option, value)), ==, 0);
}

void Transfer::describe_request() {
  const bool secure = wanted_.address.starts_with("https://");
  set(CURLOPT_URL, wanted_.address.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, kMostRedirects);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (const char* authorities = std::getenv("CURL_CA_BUNDLE")) set(CURLOPT_CAINFO, authorities);
  set(CURLOPT_USERAGENT, "fedarena");
  set(CURLOPT_FAILONERROR, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(wanted_.patience.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, kLeastBytesPerSecond);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(wanted_.patience.count()));
  set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(wanted_.most));
  // Not CURLOPT_RESUME_FROM: it fails where a server sends the whole file instead, which serves as well.
  if (offset_ > 0) set(CURLOPT_RANGE, fmt::format("{}-", offset_).c_str());
}

void Transfer::receive() {
  set(CURLOPT_ERRORBUFFER, reason_.data());
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &on_bytes);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &on_transfer);
  set(CURLOPT_XFERINFODATA, this);
}

// Puts the file's end where the answer begins.
bool Transfer::begin() {
  begun_ = true;
  const bool fits = status() == kPartialContent && range_.first == offset_;
  if (!fits) {
    // The next request finds an empty file and asks for all.
    file_.clear();
    offset_ = 0;
  }
  return fits || status() == kOk;
}

std::size_t Transfer::on_header(char* text, std::size_t /*one*/, std::size_t size, void* self) {
  const std::string_view header(text, size);
  auto& transfer = *static_cast<Transfer*>(self);
  // Of several answers, the last one counts.
  if (header.starts_with("HTTP/")) transfer.range_ = {};
  if (const auto range = content_range(header)) transfer.range_ = *range;
  return size;
}

// No exception may pass through the library: it is kept until the library has returned.
std::size_t Transfer::on_bytes(char* bytes, std::size_t /*one*/, std::size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  try {
    return transfer.take({reinterpret_cast<const std::uint8_t*>(bytes), size}) ? size : CURL_WRITEFUNC_ERROR;
  } catch (...) {
    transfer.failure_ = std::current_exception();
    return CURL_WRITEFUNC_ERROR;
  }
}

bool Transfer::take(std::span<const std::uint8_t> bytes) {
  if (!begun_ && !begin()) return false;
  too_long_ = file_.size() + static_cast<std::int64_t>(bytes.size()) > wanted_.most;
  if (!too_long_) file_.add(bytes);
  return !too_long_;
}

int Transfer::on_transfer(void* self, curl_off_t whole, curl_off_t /*done*/, curl_off_t /*up*/,
                          curl_off_t /*uploaded*/) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (!transfer.wanted_.on_progress) return 0;
  try {
    const bool known = transfer.begun_ && whole > 0;
    return transfer.wanted_.on_progress(transfer.file_.size(), known ? transfer.offset_ + whole : 0) ? 0 : 1;
  } catch (...) {  // kept, as above
    transfer.failure_ = std::current_exception();
    return 1;
  }
}

}  // namespace fedarena
