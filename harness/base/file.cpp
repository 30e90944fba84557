#include "fedarena/base/file.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

std::string remedy_for(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      // Of a run or of anything else that is written.
      return "free some space there and give the command again (a run with --resume, which goes on from its "
             "last checkpoint)";
    case EFBIG:
      return "raise the limit of a file's size (`ulimit -f`), or name a file system that holds larger ones";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to, or change its permissions";
    case ENOTDIR:
      return "name another place: something on this path is a file";
    case ENOENT:
      return "check the path; another program may have removed it";
    default:
      return {};
  }
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

[[noreturn]] void fail_to_read(const std::filesystem::path& file, int code) {
  throw Error::in(file, "cannot be read: " + std::generic_category().message(code),
                  {.remedy = code == ENOENT ? remedy_for(code) : ""});
}

[[noreturn]] void fail_as_too_large(const std::filesystem::path& file, std::uintmax_t most) {
  throw Error::in(file, fmt::format("has more than {} bytes", most),
                  {.allowed = fmt::format("at most {} bytes", most)});
}

void check_regular(const std::filesystem::path& file, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return;
  throw Error::in(file, fmt::format("is {}", kind_of(status.st_mode)), {.allowed = "a regular file"});
}

}  // namespace

void fail_on_file(const std::filesystem::path& file, std::string_view what, int code) {
  throw Error::in(file, fmt::format("{}: {}", what, std::generic_category().message(code)),
                  {.remedy = remedy_for(code)});
}

void make_folders(const std::filesystem::path& folder) {
  if (folder.empty()) return;  // that of a bare file name
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) fail_on_file(folder, "cannot be created", failure.value());
}

int write_all(int descriptor, std::span<const std::byte> bytes, std::optional<std::uint64_t> offset) {
  while (!bytes.empty()) {
    const ssize_t count = offset
                              ? ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(*offset))
                              : ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    if (offset) *offset += static_cast<std::uint64_t>(count);
  }
  return 0;
}

std::ptrdiff_t read_some(int descriptor, std::span<std::byte> bytes, std::optional<std::uint64_t> offset) {
  while (true) {
    const ssize_t count = offset
                              ? ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(*offset))
                              : ::read(descriptor, bytes.data(), bytes.size());
    if (count >= 0 || errno != EINTR) return count;
  }
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened) ::fsync(opened.number());
}

RegularFile::RegularFile(const std::filesystem::path& file) {
  // Opening a device can have effects of its own, so that its kind is looked at before as well as after.
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) fail_to_read(file, errno);
  check_regular(file, status);
  descriptor_ = Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!descriptor_) fail_to_read(file, errno);
  if (::fstat(descriptor(), &status) != 0) fail_to_read(file, errno);
  check_regular(file, status);
  size_ = static_cast<std::uintmax_t>(status.st_size);
}

std::string read_whole_file(const std::filesystem::path& file, std::uintmax_t most) {
  const RegularFile opened(file);
  if (opened.size() > most) fail_as_too_large(file, most);
  std::string bytes;
  std::array<char, 1 << 16> block{};
  bytes.reserve(opened.size());
  while (true) {
    const auto count = read_some(opened.descriptor(), std::as_writable_bytes(std::span(block)));
    if (count < 0) fail_to_read(file, errno);
    if (count == 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(count));
    if (bytes.size() > most)
      fail_as_too_large(file, most);  // of the system's own, the size is not known before
  }
}

}  // namespace fedarena
