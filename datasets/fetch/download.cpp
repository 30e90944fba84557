#include "datasets/fetch/download.hpp"

#include <utility>

#include <fmt/format.h>

#include "datasets/fetch/transfer.hpp"

namespace fedarena {
namespace {

constexpr int kMostAttempts = 5;

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
      refuse(wanted, fmt::format("the server redirects more than {} times", Transfer::kMostRedirects),
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
