#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include "tests/message_of.hpp"
#include "tests/scratch.hpp"

namespace fedarena {

using test::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

using Bytes = std::vector<std::uint8_t>;

/// A folder of its own for every test, removed afterwards.
class ScratchFolder : public testing::Test {
 protected:
  /// Writes `content` under the folder, making folders on the way; returns the path.
  std::filesystem::path write(const std::string& name, const Bytes& content) const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    return path;
  }

  std::filesystem::path write(const std::string& name, std::string_view content) const {
    return write(name, Bytes(content.begin(), content.end()));
  }

  std::filesystem::path write_gzip(const std::string& name, const Bytes& content) const {
    const auto path = write(name, Bytes());
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
    gzclose(file);
    return path;
  }
  std::filesystem::path write_gzip(const std::string& name, std::string_view content) const {
    return write_gzip(name, Bytes(content.begin(), content.end()));
  }

  /// What `read`, which reads the file at `path`, refuses it for; without its name and the remedy.
  template <typename Read>
  static std::string problem_of(const std::filesystem::path& path, Read&& read) {
    const std::string message = message_of(read), begin = path.string() + ": ";
    EXPECT_THAT(message, testing::StartsWith(begin));
    EXPECT_THAT(message, testing::EndsWith("\n  Replace the file with the publisher's"));
    return message.substr(std::min(begin.size(), message.size()), message.find('\n') - begin.size());
  }

  test::Scratch scratch_;
  std::filesystem::path folder_ = scratch_.path();
};

inline Bytes bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace fedarena
