#include "harness/digest/gzip_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

namespace fedarena {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
constexpr int kWindowOfGzip = 15 + 16;  // zlib's largest, and no other form than gzip

}  // namespace

GzipFile::GzipFile(const std::filesystem::path& file) : opened_(file), packed_(kBlock) {
  stream_.next_in = packed_.data();
  if (inflateInit2(&stream_, kWindowOfGzip) != Z_OK) throw std::bad_alloc();
}

GzipFile::~GzipFile() { inflateEnd(&stream_); }

std::ptrdiff_t GzipFile::read(std::span<std::uint8_t> bytes) {
  const auto room = static_cast<uInt>(std::min(bytes.size(), kMostAtOnce));
  stream_.next_out = bytes.data();
  stream_.avail_out = room;
  while (stream_.avail_out > 0 && step()) {
  }
  return problem_.empty() ? static_cast<std::ptrdiff_t>(room - stream_.avail_out) : -1;
}

// Whether there may be more.
bool GzipFile::step() {
  if (stream_.avail_in < 2) refill();  // two bytes tell what begins
  if (!problem_.empty()) return false;
  const bool gzip = stream_.avail_in >= 2 && stream_.next_in[0] == 0x1f && stream_.next_in[1] == 0x8b;
  if (gzip && (place_ == Place::kStart || place_ == Place::kBehindMember)) {
    inflateReset(&stream_);
    place_ = Place::kMember;
  }
  if (place_ == Place::kMember) {
    inflate_some();
  } else if (stream_.avail_in == 0) {
    return false;
  } else if (place_ == Place::kBehindMember) {
    skip_zeros();
  } else {
    copy_some();
  }
  return problem_.empty();
}

void GzipFile::refill() {
  std::memmove(packed_.data(), stream_.next_in, stream_.avail_in);
  const auto room = std::as_writable_bytes(std::span(packed_)).subspan(stream_.avail_in);
  const std::ptrdiff_t got = read_some(opened_.descriptor(), room);
  if (got < 0) problem_ = "cannot be read: " + std::generic_category().message(errno);
  stream_.next_in = packed_.data();
  stream_.avail_in += static_cast<uInt>(std::max<std::ptrdiff_t>(got, 0));
}

void GzipFile::inflate_some() {
  const int status = inflate(&stream_, Z_NO_FLUSH);
  if (status == Z_STREAM_END) {
    place_ = Place::kBehindMember;
  } else if (status == Z_BUF_ERROR) {
    problem_ = "the compressed stream is cut off";
  } else if (status != Z_OK) {
    problem_ = "the compressed stream is damaged: it does not fit its checksum, length or form";
  }
}

void GzipFile::copy_some() {
  place_ = Place::kPlain;
  const uInt count = std::min(stream_.avail_in, stream_.avail_out);
  std::memcpy(stream_.next_out, stream_.next_in, count);
  stream_.next_in += count;
  stream_.avail_in -= count;
  stream_.next_out += count;
  stream_.avail_out -= count;
}

void GzipFile::skip_zeros() {
  if (*stream_.next_in != 0) problem_ = "something that is not gzip follows the compressed stream";
  for (; stream_.avail_in > 0 && *stream_.next_in == 0; --stream_.avail_in) ++stream_.next_in;
}

}  // namespace fedarena
