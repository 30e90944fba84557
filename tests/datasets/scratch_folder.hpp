#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

using Bytes = std::vector<std::uint8_t>;

/// A folder of its own for every test, removed afterwards.
class ScratchFolder : public testing::Test {
 protected:
  ScratchFolder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("fedarena-{}-{}-{}", test->test_suite_name(), test->name(), getpid());
    std::filesystem::create_directories(folder_);
  }
  ~ScratchFolder() override { std::filesystem::remove_all(folder_); }

  /// Writes `content` under the folder, making folders on the way; returns the path.
  std::filesystem::path write(const std::string& name, const Bytes& content) const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    return path;
  }

  std::filesystem::path write_gzip(const std::string& name, const Bytes& content) const {
    const auto path = write(name, {});
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
    gzclose(file);
    return path;
  }

  std::filesystem::path folder_;
};

inline Bytes bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// What the Error thrown by `action` says; fails the test and gives "" when none is thrown.
template <typename Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

}  // namespace fedarena
