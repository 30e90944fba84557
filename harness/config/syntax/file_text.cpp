#include "harness/config/syntax/file_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "harness/config/syntax/document.hpp"

namespace fedarena::config {
namespace {

constexpr std::size_t kLongestFile = 10'000'000;

// The TOML file beside the missing one whose name is most like it.
std::string neighbour(const std::filesystem::path& file) {
  std::vector<std::string> names;
  std::error_code failure;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry->path().extension() == ".toml") names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::string nearest = nearest_to(file.filename().string(), names);
  return nearest.empty() ? "" : (file.parent_path() / nearest).string();
}

}  // namespace

std::string file_text(const std::filesystem::path& file) {
  const Place place{.file = file.string()};
  std::error_code failure;
  const auto status = std::filesystem::status(file, failure);
  if (status.type() == std::filesystem::file_type::not_found) {
    complain({.place = place, .found = "no such file", .nearest = neighbour(file)});
  }
  if (std::filesystem::is_directory(status)) {
    complain({.place = place, .found = "is a folder", .allowed = "an experiment file (TOML)"});
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"), std::fclose);
  if (stream == nullptr) {
    complain({.place = place, .found = fmt::format("cannot be read: {}", std::strerror(errno))});
  }
  // Read piece by piece: devices and pipes have no size.
  std::string text;
  char piece[1 << 16];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, stream.get())) {
    text.append(piece, count);
    if (text.size() > kLongestFile) {
      complain(
          {.place = place, .found = "more than 10 MB", .allowed = "an experiment file (TOML), a few kB"});
    }
  }
  if (std::ferror(stream.get()) != 0) complain({.place = place, .found = "cannot be read to its end"});
  return text;
}

}  // namespace fedarena::config
