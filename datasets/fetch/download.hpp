#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "fedarena/base/error.hpp"

#include "datasets/fetch/growing_file.hpp"

namespace fedarena {

/// The source of a file is to blame: its server fails, or what it has is not the published file. Another
/// source may do better, which it could not on a full disk.
class SourceError : public Error {
 public:
  using Error::Error;
};

/// Called now and then with the bytes that are there and those of the whole file (0: the server does not
/// say); returns whether to go on.
using OnProgress = std::function<bool(std::int64_t done, std::int64_t whole)>;

/// One file to be had from a web server.
struct Download {
  std::string address;    ///< http:// or https://
  std::int64_t most = 0;  ///< bytes; a longer file is refused
  OnProgress on_progress = {};
  /// A server that sends nothing for so long counts as gone.
  std::chrono::seconds patience{60};
};

/// Fetches a file into `file`, behind the bytes that an earlier attempt left there where the server can do
/// that, else from the beginning. A connection that breaks is taken up again a few times. Certificates are
/// verified; at most 5 redirects are followed, from https:// to https:// alone. The environment may name a
/// proxy (https_proxy, ...) and a file of certificate authorities (CURL_CA_BUNDLE).
///
/// Returns whether the bytes came in more than one answer: then they may be of different files. Throws Error
/// at the address, and Interrupted when `on_progress` says so; what has come is kept in both cases, except of
/// a file that is too long.
bool download(const Download& wanted, GrowingFile& file);

}  // namespace fedarena
