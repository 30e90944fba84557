#include "datasets/fetch/growing_file.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

std::string remedy_for(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "Free some space there, or name another folder with --to DIR";
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOTDIR:
    case EEXIST:
    case EISDIR:
      return "Name a folder that you may write to with --to DIR";
    default:
      return {};
  }
}

[[noreturn]] void fail(const fs::path& file, int code) {
  throw Error(
      Complaint{.place = {file.string()},
                .found = fmt::format("the file cannot be written: {}", std::generic_category().message(code)),
                .remedy = remedy_for(code)});
}

}  // namespace

GrowingFile::GrowingFile(fs::path file) : path_(std::move(file)) {
  std::error_code failure;
  if (path_.has_parent_path()) made_folder_ = fs::create_directories(path_.parent_path(), failure);
  if (failure) fail(path_, failure.value());
  // A link would lead the bytes elsewhere.
  descriptor_ = Descriptor(
      ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  struct stat status = {};
  if (!descriptor_ || ::fstat(descriptor_.number(), &status) != 0) fail(path_, errno);
  if (!S_ISREG(status.st_mode)) fail(path_, EINVAL);
  if (::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0)
    throw Error::in(path_, "another process is writing to the file", {.remedy = "Let it finish, or end it"});
  size_ = status.st_size;
}

GrowingFile::~GrowingFile() {
  if (size_ == 0) remove();
}

void GrowingFile::add(std::span<const std::uint8_t> bytes) {
  if (const int code = write_all(descriptor_.number(), std::as_bytes(bytes)); code != 0) fail(path_, code);
  size_ += std::ssize(bytes);
}

void GrowingFile::clear() {
  if (::ftruncate(descriptor_.number(), 0) != 0) fail(path_, errno);
  size_ = 0;
}

void GrowingFile::place(const fs::path& final_path) {
  if (::fsync(descriptor_.number()) != 0) fail(path_, errno);
  if (std::rename(path_.c_str(), final_path.c_str()) != 0) fail(final_path, errno);
  sync_folder(final_path.parent_path());
}

void GrowingFile::remove() {
  std::error_code ignored;  // one that is left does no harm
  fs::remove(path_, ignored);
  if (made_folder_) fs::remove(path_.parent_path(), ignored);  // where nothing else is in it
}

}  // namespace fedarena
