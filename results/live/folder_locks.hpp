#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

namespace fedarena::results {

/// Which processes of this machine hold folders, as a process at work on a run holds its directory (flock).
/// Only looks: nobody's lock is taken or asked for, which could make a run that begins just then fail.
class FolderLocks {
 public:
  /// Knows of no lock and cannot know.
  FolderLocks() = default;
  /// Reads the list that the system keeps, in the format of Linux' /proc/locks.
  static FolderLocks read(const std::filesystem::path& list = "/proc/locks");

  /// Whether the system keeps such a list. Where it does not, `holder` never finds anybody.
  bool known() const { return known_; }
  /// The process that holds the folder, 0 when it cannot be named; none when nobody does, or one on another
  /// machine or in another container.
  std::optional<std::int64_t> holder(const std::filesystem::path& folder) const;

 private:
  // A file system's device and a file's number there.
  using File = std::tuple<unsigned, unsigned, std::uint64_t>;

  bool known_ = false;
  std::map<File, std::int64_t> holders_;
};

}  // namespace fedarena::results
