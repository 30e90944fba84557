#pragma once

#include <filesystem>

#include "fedarena/base/descriptor.hpp"

namespace fedarena {

/// Keeps other processes of this program from writing to a folder for as long as it lives, also when the
/// process is killed in the end. Leaves nothing on disk.
class FolderLock {
 public:
  /// Throws Error when another process holds the folder. Does nothing on a file system that knows no locks.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  Descriptor folder_;
};

}  // namespace fedarena
