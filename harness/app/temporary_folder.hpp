#pragma once

#include <filesystem>

namespace fedarena {

/// A folder of its own in the system's place for temporary files; goes with all that is in it.
class TemporaryFolder {
 public:
  /// Throws Error when it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fedarena
