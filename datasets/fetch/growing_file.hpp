#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "fedarena/base/descriptor.hpp"

namespace fedarena {

/// A file that grows at its end. What was added is in it at once, however the program ends, and an earlier
/// program's bytes are kept. One process at a time has it.
class GrowingFile {
 public:
  /// Opens the file, or makes it with the folders above it. Throws Error when that fails or when another
  /// process has it.
  explicit GrowingFile(std::filesystem::path file);
  /// Takes an empty file away, and the folder if it was made for it: nobody can go on from it.
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::int64_t size() const { return size_; }
  /// Throws Error when the bytes cannot be written, a full disk for example.
  void add(std::span<const std::uint8_t> bytes);
  /// Makes it empty.
  void clear();
  /// Brings the bytes to disk and gives the file its final name, over what was there. Throws Error; then what
  /// was there stays.
  void place(const std::filesystem::path& final_path);
  /// Takes the file away, and the folder if it was made for it and holds nothing else.
  void remove();

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  std::int64_t size_ = 0;
  bool made_folder_ = false;
};

}  // namespace fedarena
