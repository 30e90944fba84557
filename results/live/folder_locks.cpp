#include "results/live/folder_locks.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace fedarena::results {

// A line: "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF". One that waits for a lock has "->" after the
// number.
FolderLocks FolderLocks::read(const std::filesystem::path& list) {
  FolderLocks locks;
  std::ifstream stream(list);
  locks.known_ = stream.is_open();
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string number, kind, strictness, access;
    std::int64_t holder = 0;
    unsigned major = 0, minor = 0;
    std::uint64_t inode = 0;
    char first = 0, second = 0;
    words >> number >> kind >> strictness >> access >> holder;
    words >> std::hex >> major >> first >> minor >> second >> std::dec >> inode;
    if (words && kind == "FLOCK" && access == "WRITE" && first == ':' && second == ':')
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
