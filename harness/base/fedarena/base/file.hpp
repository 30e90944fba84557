#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fedarena/base/descriptor.hpp"
#include "fedarena/base/export.hpp"

namespace fedarena {

/// Throws the Error of a failed system call on `file`: what failed, the reason of `code` (an errno), a
/// remedy.
[[noreturn]] FEDARENA_API void fail_on_file(const std::filesystem::path& file, std::string_view what,
                                            int code);

/// Makes the folder, and those above it, where they are not there yet; an empty path is the current one.
/// Throws Error.
FEDARENA_API void make_folders(const std::filesystem::path& folder);

/// Writes all of `bytes` from `offset` on, else where the descriptor stands; returns 0 or the errno.
FEDARENA_API int write_all(int descriptor, std::span<const std::byte> bytes,
                           std::optional<std::uint64_t> offset = std::nullopt);
/// Reads what comes at once, at `offset` or where the descriptor stands: how many bytes, 0 at the end, below
/// 0 where errno says why not. Signals interrupt neither.
FEDARENA_API std::ptrdiff_t read_some(int descriptor, std::span<std::byte> bytes,
                                      std::optional<std::uint64_t> offset = std::nullopt);

/// Brings names in a folder to disk, such as a new one of a file. Some file systems cannot do that; then
/// there is nothing to be done.
FEDARENA_API void sync_folder(const std::filesystem::path& folder);

/// A regular file that is open for reading. Nothing else is opened, because a pipe would wait for ever and a
/// device has no end: every reader of the program begins here. Links are followed.
class FEDARENA_API RegularFile {
 public:
  /// An Error says why it cannot be read, or that it is a folder, a pipe, a device or a socket.
  explicit RegularFile(const std::filesystem::path& file);

  /// At its beginning at first; closed with this object.
  int descriptor() const { return descriptor_.number(); }
  /// In bytes, when it was opened.
  std::uintmax_t size() const { return size_; }

 private:
  Descriptor descriptor_;
  std::uintmax_t size_ = 0;
};

/// The most that a text or record may have, so that none fills the memory: 1 GiB.
inline constexpr std::uintmax_t kMostBytesOfText = std::uintmax_t{1} << 30;
/// The most of any file, such as a checkpoint, so that none is read or hashed for hours: 64 GiB.
inline constexpr std::uintmax_t kMostBytesOfFile = std::uintmax_t{1} << 36;

/// The bytes of a regular file. An Error names the file and the reason; more than `most` bytes are one.
FEDARENA_API std::string read_whole_file(const std::filesystem::path& file,
                                         std::uintmax_t most = kMostBytesOfText);

}  // namespace fedarena
