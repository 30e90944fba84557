#pragma once

#include <atomic>
#include <filesystem>

namespace fedarena {

/// A folder of its own in the system's place for temporary files; goes with all that is in it. Once one was
/// made, signals ask for an orderly stop (`stop_on_signal`), or they would leave it there: long work looks.
class TemporaryFolder {
 public:
  /// Throws Error when it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Whether a signal asked to stop.
  const std::atomic<bool>& stop() const { return stop_; }
  /// Throws Interrupted if so.
  void check_stop() const;

 private:
  const std::atomic<bool>& stop_;
  std::filesystem::path path_;
};

}  // namespace fedarena
