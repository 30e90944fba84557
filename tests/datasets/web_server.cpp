#include "tests/datasets/web_server.hpp"

#include <thread>
#include <utility>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace fedarena::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Failure = boost::system::error_code;

std::string pem_of(const std::function<int(BIO*)>& write) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(BIO_new(BIO_s_mem()), BIO_free);
  write(bio.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

struct Identity {
  std::string key, certificate;
};

// A key and a certificate for "localhost" that the key itself has signed.
Identity fresh_identity() {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"),
                             -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> names(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost"), X509_EXTENSION_free);
  X509_add_ext(certificate.get(), names.get(), -1);
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  return {pem_of([&](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          }),
          pem_of([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); })};
}

WebRequest parsed(const std::string& head) {
  WebRequest request;
  const std::size_t begin = head.find(' ') + 1;
  request.path = head.substr(begin, head.find(' ', begin) - begin);
  constexpr std::string_view kRange = "\r\nRange: bytes=";
  if (const std::size_t range = head.find(kRange); range != std::string::npos)
    request.first = std::stoll(head.substr(range + kRange.size()));
  return request;
}

}  // namespace

WebAnswer ranged(const WebRequest& request, const std::string& content) {
  if (!request.first) return {.body = content};
  const auto first = static_cast<std::size_t>(*request.first);
  if (first >= content.size())
    return {.status = 416, .headers = {fmt::format("Content-Range: bytes */{}", content.size())}};
  return {
      .status = 206,
      .headers = {fmt::format("Content-Range: bytes {}-{}/{}", first, content.size() - 1, content.size())},
      .body = content.substr(first)};
}

class WebServer::Implementation {
 public:
  Implementation(Handler handler, bool secure)
      : handler_(std::move(handler)), secure_(secure), tls_(asio::ssl::context::tls_server) {
    if (secure_) {
      const Identity identity = fresh_identity();
      certificate_ = identity.certificate;
      tls_.use_private_key(asio::buffer(identity.key), asio::ssl::context::pem);
      tls_.use_certificate(asio::buffer(identity.certificate), asio::ssl::context::pem);
    }
    thread_ = std::thread([this] { serve(); });
  }
  ~Implementation() {
    // The connection that ends a waiting accept is no request.
    stopped_ = true;
    tcp::socket knock(io_);
    Failure ignored;
    knock.connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  std::string address() const {
    const unsigned port = acceptor_.local_endpoint().port();
    return secure_ ? fmt::format("https://localhost:{}/", port) : fmt::format("http://127.0.0.1:{}/", port);
  }
  const std::string& certificate() const { return certificate_; }
  std::vector<WebRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    while (true) {
      tcp::socket socket(io_);
      Failure failure;
      acceptor_.accept(socket, failure);
      if (stopped_ || failure) return;
      if (!secure_) {
        converse(socket);
        continue;
      }
      asio::ssl::stream<tcp::socket> stream(std::move(socket), tls_);
      stream.handshake(asio::ssl::stream_base::server, failure);
      if (failure) continue;
      converse(stream);
      stream.shutdown(failure);
    }
  }

  // Clients that go away in the middle are part of what is tested.
  template <typename Stream>
  void converse(Stream& stream) {
    Failure failure;
    std::string head;
    asio::read_until(stream, asio::dynamic_buffer(head), "\r\n\r\n", failure);
    if (failure) return;
    const WebRequest request = parsed(head);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const WebAnswer answer = handler_(request);
    if (answer.silent) {
      char byte = 0;
      asio::read(stream, asio::buffer(&byte, 1), failure);
      return;
    }
    std::string text = fmt::format("HTTP/1.1 {} As asked\r\nConnection: close\r\n", answer.status);
    if (answer.length) text += fmt::format("Content-Length: {}\r\n", answer.body.size());
    for (const std::string& header : answer.headers) text += header + "\r\n";
    text += "\r\n";
    const std::string body = answer.body.substr(0, answer.cut_after.value_or(answer.body.size()));
    if (!answer.trickling) text += body;
    asio::write(stream, asio::buffer(text), failure);
    asio::steady_timer timer(io_);
    for (std::size_t sent = 0; answer.trickling && sent < body.size() && !failure; ++sent) {
      asio::write(stream, asio::buffer(&body[sent], 1), failure);
      timer.expires_after(std::chrono::milliseconds(100));
      timer.wait();
    }
  }

  Handler handler_;
  bool secure_;
  std::atomic<bool> stopped_ = false;
  std::string certificate_;
  mutable std::mutex mutex_;
  std::vector<WebRequest> requests_;
  asio::io_context io_;
  asio::ssl::context tls_;
  tcp::acceptor acceptor_{io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::thread thread_;
};

WebServer::WebServer(Handler handler, bool secure)
    : implementation_(std::make_unique<Implementation>(std::move(handler), secure)) {}

WebServer::~WebServer() = default;

std::string WebServer::address() const { return implementation_->address(); }

std::string WebServer::certificate() const { return implementation_->certificate(); }

std::vector<WebRequest> WebServer::requests() const { return implementation_->requests(); }

}  // namespace fedarena::test
