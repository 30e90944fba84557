#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <vector>

#include "fedarena/base/descriptor.hpp"

#include "harness/wire/wire.hpp"

namespace fedarena {

/// Where some bytes lie in a file, and their checksum.
struct Extent {
  std::uint64_t offset = 0, size = 0, checksum = 0;
  bool operator==(const Extent&) const = default;
};

/// A file of many pieces of bytes, each of any length, which are put where there is room. It holds no
/// directory: whoever writes a piece keeps its extent. All failures are Errors that name the file.
class StateFile {
 public:
  /// An empty file, whatever was there before.
  static StateFile create(const std::filesystem::path& path);
  /// A file of which these extents still count. Error when it is missing or too short for them, or when they
  /// lie over each other.
  static StateFile open(const std::filesystem::path& path, std::vector<Extent> kept);

  /// Puts bytes where no extent lies; when that fails, the extents that there are stay as they are.
  Extent write(std::span<const std::byte> bytes);
  /// The bytes of an extent, checked. May be called from several threads while none writes.
  Bytes read(const Extent& extent) const;
  /// Lets other bytes take its place.
  void release(const Extent& extent);
  /// Brings everything that was written to disk.
  void sync() const;

 private:
  StateFile(std::filesystem::path path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  // Where so many bytes fit: the first gap that is large enough, or the end.
  std::uint64_t room_for(std::uint64_t size) const;
  void take(std::uint64_t offset, std::uint64_t size);

  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uint64_t end_ = 0;
  std::map<std::uint64_t, std::uint64_t> gaps_;  // from where to where, below the end; no two of them touch
};

}  // namespace fedarena
