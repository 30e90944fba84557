#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <zlib.h>

#include "fedarena/base/file.hpp"

namespace fedarena {

/// The content of a regular file: unpacked where it is gzip, of several members one after the other, else as
/// it is. Behind a member zlib's own reader passes over anything, this one over zeros alone.
class GzipFile {
 public:
  /// Throws Error where the file cannot be opened.
  explicit GzipFile(const std::filesystem::path& file);
  ~GzipFile();
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  /// Fills the bytes, except at the end of the content: how many it brought; below 0 where `problem` says
  /// what is wrong.
  std::ptrdiff_t read(std::span<std::uint8_t> bytes);
  const std::string& problem() const { return problem_; }
  /// Of the file itself, in bytes.
  std::uintmax_t size() const { return opened_.size(); }

 private:
  enum class Place { kStart, kPlain, kMember, kBehindMember };

  bool step();
  void refill();
  void inflate_some();
  void copy_some();
  void skip_zeros();

  RegularFile opened_;
  std::vector<std::uint8_t> packed_;
  z_stream stream_ = {};
  Place place_ = Place::kStart;
  std::string problem_;
};

}  // namespace fedarena
