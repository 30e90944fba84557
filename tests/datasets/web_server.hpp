#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fedarena::test {

/// What a client asks for.
struct WebRequest {
  std::string path;                   ///< such as "/mnist/a.gz"
  std::optional<std::int64_t> first;  ///< of "Range: bytes=FIRST-"
};

/// What the server answers, and how it misbehaves.
struct WebAnswer {
  int status = 200;
  std::vector<std::string> headers = {};  ///< beside Content-Length, such as "Location: /b"
  std::string body = {};
  /// The connection is closed after so many bytes of the body, while Content-Length promises all.
  std::optional<std::size_t> cut_after = {};
  bool length = true;      ///< whether Content-Length is sent
  bool silent = false;     ///< nothing is sent until the client is gone
  bool trickling = false;  ///< the body is sent byte by byte, ten in a second
};

/// `content` as a server that knows ranges gives it.
WebAnswer ranged(const WebRequest& request, const std::string& content);

/// An HTTP server at 127.0.0.1 in a thread of its own, which answers one request a connection.
class WebServer {
 public:
  using Handler = std::function<WebAnswer(const WebRequest&)>;
  /// Over TLS with a fresh certificate of its own for "localhost" when `secure`.
  explicit WebServer(Handler handler, bool secure = false);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  /// "http://127.0.0.1:PORT/" or "https://localhost:PORT/".
  std::string address() const;
  /// The certificate in PEM form; empty unless secure.
  std::string certificate() const;
  /// All that was asked for so far.
  std::vector<WebRequest> requests() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace fedarena::test
