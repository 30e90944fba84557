#pragma once

#include <filesystem>
#include <string>

namespace fedarena::test {

/// A folder of its own for a test, with what a run leaves in it; removed afterwards.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }
  /// Writes a file below the folder, making folders on the way; returns its path.
  std::filesystem::path write(const std::filesystem::path& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

/// The bytes of a file; a file that cannot be read is a failure of the test.
std::string content_of(const std::filesystem::path& file);

}  // namespace fedarena::test
