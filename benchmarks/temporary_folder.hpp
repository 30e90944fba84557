#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "fedarena/base/error.hpp"

namespace fedarena::benchmarks {

/// A folder of its own that is gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fedarena-benchmark-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Bug("no temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fedarena::benchmarks
