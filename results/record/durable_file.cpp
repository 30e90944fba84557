#include "results/record/durable_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "fedarena/base/error.hpp"

namespace fedarena::results {
namespace {

std::string remedy_for(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free some space there, then resume; what was complete before is kept";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to, or change its permissions";
    case ENOENT:
      return "check the path; another program may have removed it";
    default:
      return {};
  }
}

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& file, int flags)
      : number_(::open(file.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

// Writes all of `bytes` at `offset` and brings them to disk; returns 0 or the errno.
int write_durably(const Descriptor& file, std::string_view bytes, std::uintmax_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uintmax_t>(written);
  }
  return ::fsync(file.number()) == 0 ? 0 : errno;
}

// A rename is on disk only once its folder is. Some file systems cannot do that; then there is nothing to be
// done.
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (descriptor.open()) ::fsync(descriptor.number());
}

}  // namespace

void fail_on_file(const std::filesystem::path& file, std::string_view what, int code) {
  throw Error(Complaint{.place = {.file = file.string()},
                        .found = fmt::format("{}: {}", what, std::generic_category().message(code)),
                        .remedy = remedy_for(code)});
}

std::string read_whole_file(const std::filesystem::path& file) {
  const Descriptor descriptor(file, O_RDONLY);
  if (!descriptor.open()) fail_on_file(file, "cannot be read", errno);
  std::string bytes;
  std::array<char, 1 << 16> block{};
  while (true) {
    const ssize_t count = ::read(descriptor.number(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_on_file(file, "cannot be read", errno);
    if (count == 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(count));
  }
}

void replace_file(const std::filesystem::path& file, std::string_view bytes) {
  // A device, such as /dev/full, would become a file for everybody.
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(file, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(Complaint{.place = {.file = file.string()},
                          .found = "is no regular file, which could be replaced",
                          .remedy = "give the name of a file, which may exist or not"});
  }
  std::filesystem::path partial = file;
  partial += ".partial";
  int failure = 0;
  {
    const Descriptor descriptor(partial, O_WRONLY | O_CREAT | O_TRUNC);
    if (!descriptor.open()) fail_on_file(file, "cannot be written", errno);
    failure = write_durably(descriptor, bytes, 0);
  }
  if (failure == 0 && std::rename(partial.c_str(), file.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(partial.c_str());
    fail_on_file(file, "cannot be written", failure);
  }
  sync_folder(file.parent_path());
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    fail_on_file(from, fmt::format("cannot be renamed to {}", to.filename().string()), errno);
  }
  sync_folder(to.parent_path());
}

void rewrite_end(const std::filesystem::path& file, std::uintmax_t size, std::uintmax_t keep,
                 std::string_view bytes) {
  FEDARENA_CHECK(keep, <=, size);
  const Descriptor descriptor(file, O_WRONLY);
  if (!descriptor.open()) fail_on_file(file, "cannot be written", errno);
  struct stat status = {};
  if (::fstat(descriptor.number(), &status) != 0) fail_on_file(file, "cannot be written", errno);
  if (static_cast<std::uintmax_t>(status.st_size) != size) {
    throw Error(Complaint{.place = {.file = file.string()},
                          .found = fmt::format("has {} bytes where this run left {}", status.st_size, size),
                          .remedy = "another program writes to this run; stop it, then resume the run"});
  }
  int failure = ::ftruncate(descriptor.number(), static_cast<off_t>(keep)) == 0 ? 0 : errno;
  if (failure == 0) failure = write_durably(descriptor, bytes, keep);
  if (failure == 0) return;
  // Half a line must not stay; should even this fail, the reader drops it.
  const bool restored = ::ftruncate(descriptor.number(), static_cast<off_t>(keep)) == 0;
  fail_on_file(file, restored ? "cannot be written" : "cannot be written, and may end in half a line",
               failure);
}

}  // namespace fedarena::results
