#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "tests/matchers.hpp"
#include "tests/scratch.hpp"

namespace fedarena {

using testing::UnorderedElementsAre;

using Bytes = std::vector<std::uint8_t>;

/// A folder of its own for every test, removed afterwards.
class ScratchFolder : public testing::Test {
 protected:
  /// Writes `content` under the folder, making folders on the way; returns the path.
  std::filesystem::path write(const std::string& name, const Bytes& content) const {
    return scratch_.write(name, std::string(content.begin(), content.end()));
  }
  std::filesystem::path write(const std::string& name, std::string_view content) const {
    return scratch_.write(name, content);
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

  /// What `action` is refused for; paths in the message without this folder.
  template <typename Action>
  std::string refusal_of(Action&& action) const {
    std::string message = message_of(action);
    const std::string begin = folder_.string() + "/";
    for (std::size_t at = 0; (at = message.find(begin, at)) != std::string::npos;)
      message.erase(at, begin.size());
    return message;
  }

  /// What `read`, which reads the file at `path`, refuses it for; without its name and the remedy, which has
  /// to be that one.
  template <typename Read>
  static std::string problem_of(const std::filesystem::path& path, Read&& read,
                                const std::string& remedy = "Replace the file with the publisher's") {
    const std::string message = message_of(read), begin = path.string() + ": ";
    EXPECT_THAT(message, StartsWith(begin));
    EXPECT_THAT(message, EndsWith("\n  " + remedy));
    return message.substr(std::min(begin.size(), message.size()), message.find('\n') - begin.size());
  }

  test::Scratch scratch_;
  std::filesystem::path folder_ = scratch_.path();
};

inline Bytes bytes_of(const std::filesystem::path& path) {
  const std::string content = test::content_of(path);
  return {content.begin(), content.end()};
}

/// What lies in a folder and below, by the paths there; nothing where there is no such folder.
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.push_back(std::filesystem::relative(entry.path(), folder).string());
  return names;
}

}  // namespace fedarena
