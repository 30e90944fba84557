#include "datasets/fetch/download.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <curl/curl.h>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

constexpr int kMostAttempts = 5;
constexpr long kMostRedirects = 5;
// Slower than any line; a server that sends a byte now and then would hold a download for ever.
constexpr long kLeastBytesPerSecond = 1024;
constexpr long kOk = 200;
constexpr long kPartialContent = 206;
constexpr long kRangeNotSatisfiable = 416;

// Where the bytes of an answer lie in the whole file. What is not said is missing.
struct ContentRange {
  std::optional<std::int64_t> first, whole;
};

std::optional<std::int64_t> number_at(std::string_view text) {
  std::int64_t number = 0;
  const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number < 0) return std::nullopt;
  return number;
}

// Reads "Content-Range: bytes FIRST-LAST/WHOLE", or "bytes */WHOLE" where the answer has none of them (RFC
// 9110, section 14.4); nothing when the header is another one.
std::optional<ContentRange> content_range(std::string_view header) {
  constexpr std::string_view kName = "content-range:";
  const std::string_view name = header.substr(0, kName.size());
  if (!std::ranges::equal(name, kName, {}, [](unsigned char letter) { return std::tolower(letter); }))
    return std::nullopt;
  header.remove_prefix(kName.size());
  const std::size_t unit = header.find("bytes ");
  const std::size_t slash = header.find('/');
  if (unit == std::string_view::npos || slash == std::string_view::npos) return std::nullopt;
  return ContentRange{number_at(header.substr(unit + 6)), number_at(header.substr(slash + 1))};
}

CURL* make_handle() {
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  FEDARENA_CHECK(static_cast<int>(kReady), ==, 0);
  CURL* handle = curl_easy_init();
  FEDARENA_CHECK(handle != nullptr, ==, true);
  return handle;
}

// One request for a file and its answer: puts the answer behind the bytes that are there when it continues
// them, else in their place. Throws what `on_progress` and the file throw.
class Transfer {
 public:
  // Both must live as long.
  Transfer(const Download& wanted, GrowingFile& file) : wanted_(wanted), file_(file), offset_(file.size()) {
    describe_request();
    receive();
  }

  CURLcode perform() {
    const CURLcode code = curl_easy_perform(handle_.get());
    // An empty file has no bytes that would begin it.
    if (code == CURLE_OK && !begun_ && status() == kOk) file_.clear();
    if (failure_) std::rethrow_exception(failure_);
    return code;
  }

  // The server's last word, such as 404; 0: none.
  long status() const {
    long status = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
  }
  // Whether the answer's bytes were put behind earlier ones.
  bool continued() const { return begun_ && offset_ > 0; }
  // Whether the answer, which ended with `code`, is all that was asked for.
  bool complete(CURLcode code) const { return code == CURLE_OK && (begun_ || status() == kOk); }
  // Whether the server says that the earlier bytes are the whole file.
  bool complete_before() const {
    return status() == kRangeNotSatisfiable && file_.size() > 0 && range_.whole == file_.size();
  }
  // Whether the server says, or has shown, that the earlier bytes belong to something else.
  bool unfitting(CURLcode code) const {
    return too_long(code) || status() == kRangeNotSatisfiable ||
           (code == CURLE_WRITE_ERROR && status() == kPartialContent);
  }
  // Whether there were more bytes than are wanted.
  bool too_long(CURLcode code) const { return too_long_ || code == CURLE_FILESIZE_EXCEEDED; }
  // libcurl's words for `code`.
  const char* reason(CURLcode code) const {
    return reason_.front() != '\0' ? reason_.data() : curl_easy_strerror(code);
  }

 private:
  template <typename T>
  void set(CURLoption option, T value) {
    FEDARENA_CHECK(static_cast<int>(curl_easy_setopt(handle_.get(), option, value)), ==, 0);
  }

  void describe_request() {
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

  void receive() {
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
  bool begin() {
    begun_ = true;
    const bool fits = status() == kPartialContent && range_.first == offset_;
    if (!fits) {
      // The next request finds an empty file and asks for all.
      file_.clear();
      offset_ = 0;
    }
    return fits || status() == kOk;
  }

  bool take(std::span<const std::uint8_t> bytes) {
    if (!begun_ && !begin()) return false;
    too_long_ = file_.size() + static_cast<std::int64_t>(bytes.size()) > wanted_.most;
    if (!too_long_) file_.add(bytes);
    return !too_long_;
  }

  static std::size_t on_header(char* text, std::size_t /*one*/, std::size_t size, void* self) {
    const std::string_view header(text, size);
    auto& transfer = *static_cast<Transfer*>(self);
    // Of several answers, the last one counts.
    if (header.starts_with("HTTP/")) transfer.range_ = {};
    if (const auto range = content_range(header)) transfer.range_ = *range;
    return size;
  }

  // No exception may pass through the library: it is kept until the library has returned.
  template <typename Step>
  bool kept(const Step& step) {
    try {
      return step();
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }

  static std::size_t on_bytes(char* bytes, std::size_t /*one*/, std::size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const bool taken = transfer.kept([&] {
      return transfer.take({reinterpret_cast<const std::uint8_t*>(bytes), size});
    });
    return taken ? size : CURL_WRITEFUNC_ERROR;
  }

  static int on_transfer(void* self, curl_off_t whole, curl_off_t /*done*/, curl_off_t /*up*/,
                         curl_off_t /*uploaded*/) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto tell = [&] {
      const bool known = transfer.begun_ && whole > 0;
      return transfer.wanted_.on_progress(transfer.file_.size(), known ? transfer.offset_ + whole : 0);
    };
    return !transfer.wanted_.on_progress || transfer.kept(tell) ? 0 : 1;
  }

  const Download& wanted_;
  GrowingFile& file_;
  std::unique_ptr<CURL, void (*)(CURL*)> handle_{make_handle(), curl_easy_cleanup};
  std::int64_t offset_;  // of the answer's first byte in the file
  ContentRange range_ = {};
  bool begun_ = false, too_long_ = false;
  std::exception_ptr failure_ = {};
  std::array<char, CURL_ERROR_SIZE> reason_{};
};

// The server or the network gave up, so that another attempt may get further.
bool is_broken_connection(CURLcode code) {
  switch (code) {
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

[[noreturn]] void refuse(const Download& wanted, std::string found, std::string remedy,
                         std::string allowed = {}) {
  throw SourceError(Complaint{.place = {wanted.address},
                              .found = std::move(found),
                              .allowed = std::move(allowed),
                              .remedy = std::move(remedy)});
}

[[noreturn]] void explain(const Download& wanted, const Transfer& transfer, CURLcode code,
                          const GrowingFile& file) {
  const std::string reason = transfer.reason(code);
  switch (code) {
    case CURLE_OK:
    case CURLE_WRITE_ERROR:
    case CURLE_HTTP_RETURNED_ERROR:
      refuse(wanted, fmt::format("the server answers {}", transfer.status()),
             "The file may have moved: name another address or a folder with --from");
    case CURLE_TOO_MANY_REDIRECTS:
      refuse(wanted, fmt::format("the server redirects more than {} times", kMostRedirects),
             "Name another address or a folder with --from");
    case CURLE_UNSUPPORTED_PROTOCOL:
      refuse(wanted, fmt::format("the address, or one that it redirects to, cannot be followed ({})", reason),
             "Name another address or a folder with --from",
             "http:// and https://; after https:// only that");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_ISSUER_ERROR:
      refuse(wanted, fmt::format("no trusted connection can be made ({})", reason),
             "Where a proxy of yours has its own certificates, name their file in CURL_CA_BUNDLE");
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      refuse(wanted, fmt::format("the server cannot be reached ({})", reason),
             "Check this machine's network, or name a folder with the files: --from DIR");
    case CURLE_URL_MALFORMAT:
      refuse(wanted, "this is not a web address", "Name another address or a folder with --from",
             "http://HOST/PATH or https://HOST/PATH");
    default:
      break;
  }
  if (is_broken_connection(code))
    refuse(wanted, fmt::format("the connection broke after {} bytes ({})", file.size(), reason),
           "The same command goes on from there");
  refuse(wanted, fmt::format("the transfer failed ({})", reason),
         "Name another address or a folder with --from");
}

}  // namespace

bool download(const Download& wanted, GrowingFile& file) {
  if (file.size() > wanted.most) file.clear();
  for (int attempts = 1;; ++attempts) {
    const std::int64_t before = file.size();
    Transfer transfer(wanted, file);
    const CURLcode code = transfer.perform();
    if (code == CURLE_ABORTED_BY_CALLBACK) throw Interrupted();
    if (transfer.complete(code)) return transfer.continued();
    if (transfer.complete_before()) return true;
    const bool restart = transfer.unfitting(code);
    if (restart) file.clear();
    const bool further = restart ? before > 0 : is_broken_connection(code) && file.size() > before;
    if (further && attempts < kMostAttempts) continue;
    if (transfer.too_long(code)) {
      refuse(wanted, fmt::format("the file is longer than {} bytes", wanted.most),
             "This is not the published file: name another address or a folder with --from");
    }
    explain(wanted, transfer, code, file);
  }
}

}  // namespace fedarena
