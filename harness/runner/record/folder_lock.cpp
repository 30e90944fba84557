#include "harness/runner/record/folder_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : folder_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!folder_) return;  // whoever writes to the folder next says what is wrong with it
  if (flock(folder_.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw Error(
      Complaint{.place = {folder.string()},
                .found = "another fedarena is running this cell",
                .remedy = "Wait for it or stop it, then pass --resume; or give another folder with --out."});
}

}  // namespace fedarena
