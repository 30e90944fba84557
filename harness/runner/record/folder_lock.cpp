#include "harness/runner/record/folder_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) return;  // whoever writes to the folder next says what is wrong with it
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(descriptor_);
  throw Error(
      Complaint{.place = {folder.string()},
                .found = "another fedarena is running this cell",
                .remedy = "Wait for it or stop it, then pass --resume; or give another folder with --out."});
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace fedarena
