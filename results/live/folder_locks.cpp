#include "results/live/folder_locks.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace fedarena::results {
namespace {

template <typename Number>
bool parse(std::string_view text, Number& number, int base = 10) {
  const char* end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, number, base);
  return failure == std::errc() && stopped == end;
}

}  // namespace

// A line: "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF". One that waits for a lock has "->" after the
// number.
FolderLocks FolderLocks::read(const std::filesystem::path& list) {
  FolderLocks locks;
  std::ifstream stream(list);
  locks.known_ = stream.is_open();
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string number;
    std::string kind;
    std::string strictness;
    std::string access;
    std::string process;
    std::string file;
    words >> number >> kind >> strictness >> access >> process >> file;
    if (kind != "FLOCK" || access != "WRITE") continue;
    const std::size_t first = file.find(':');
    const std::size_t second = file.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view parts = file;
    unsigned major = 0;
    unsigned minor = 0;
    std::uint64_t inode = 0;
    std::int64_t holder = 0;
    if (!parse(parts.substr(0, first), major, 16) ||
        !parse(parts.substr(first + 1, second - first - 1), minor, 16) ||
        !parse(parts.substr(second + 1), inode) || !parse(process, holder)) {
      continue;
    }
    locks.holders_[{major, minor, inode}] = std::max<std::int64_t>(0, holder);
  }
  return locks;
}

std::optional<std::int64_t> FolderLocks::holder(const std::filesystem::path& folder) const {
  struct stat status = {};
  if (::stat(folder.c_str(), &status) != 0) return std::nullopt;
  const File file{major(status.st_dev), minor(status.st_dev), status.st_ino};
  if (const auto found = holders_.find(file); found != holders_.end()) return found->second;
  // Btrfs and overlays tell programs another device than this list; both have no hardware behind them, hence
  // major number 0.
  if (major(status.st_dev) != 0) return std::nullopt;
  const auto alike = std::ranges::find_if(holders_, [&](const auto& entry) {
    return std::get<0>(entry.first) == 0 && std::get<2>(entry.first) == status.st_ino;
  });
  if (alike == holders_.end()) return std::nullopt;
  return alike->second;
}

}  // namespace fedarena::results
