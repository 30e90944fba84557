#include "results/record/durable_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "fedarena/base/descriptor.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/uninterrupted.hpp"

namespace fedarena::results {
namespace {

Descriptor opened(const std::filesystem::path& file, int flags) {
  return Descriptor(::open(file.c_str(), flags | O_CLOEXEC, 0666));
}

// Writes all of `bytes` at `offset` and brings them to disk; returns 0 or the errno.
int write_durably(const Descriptor& file, std::string_view bytes, std::uintmax_t offset) {
  if (const int failure = write_all(file.number(), std::as_bytes(std::span(bytes)), offset)) return failure;
  return ::fsync(file.number()) == 0 ? 0 : errno;
}

// Adds the folders above and at this one that are not there.
void add_missing_folders(const std::filesystem::path& folder, std::vector<std::filesystem::path>& missing) {
  std::error_code ignored;
  if (folder.empty() || std::filesystem::exists(folder, ignored)) return;
  add_missing_folders(folder.parent_path(), missing);
  missing.push_back(folder);
}

}  // namespace

std::filesystem::path partial_of(const std::filesystem::path& file) {
  std::filesystem::path partial = file;
  partial += ".partial";
  return partial;
}

void prepare_file(const std::filesystem::path& file, std::string_view bytes) {
  // A device, such as /dev/full, would become a file for everybody.
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(file, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error::in(file, "is not a regular file, so it is not replaced",
                    {.remedy = "give the name of a file, which may exist or not"});
  }
  const std::filesystem::path partial = partial_of(file);
  int failure = 0;
  {
    // What lies there is left over, or a link or pipe that somebody else put there: it is not written to.
    ::unlink(partial.c_str());
    const Descriptor descriptor = opened(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (!descriptor) fail_on_file(file, "cannot be written", errno);
    failure = write_durably(descriptor, bytes, 0);
  }
  if (failure == 0) return;
  ::unlink(partial.c_str());
  fail_on_file(file, "cannot be written", failure);
}

void replace_file(const std::filesystem::path& file, std::string_view bytes) {
  const Uninterrupted whole;
  prepare_file(file, bytes);
  const std::filesystem::path partial = partial_of(file);
  if (std::rename(partial.c_str(), file.c_str()) != 0) {
    const int failure = errno;
    ::unlink(partial.c_str());
    fail_on_file(file, "cannot be written", failure);
  }
  sync_folder(file.parent_path());
}

void replace_files(std::span<const FileContent> files) {
  const Uninterrupted whole;
  std::vector<std::filesystem::path> new_folders, partials;  // an outer folder before those in it
  try {
    for (const auto& [file, bytes] : files) {
      add_missing_folders(file.parent_path(), new_folders);
      make_folders(file.parent_path());
      prepare_file(file, bytes);
      partials.push_back(partial_of(file));
    }
  } catch (...) {
    std::error_code ignored;
    for (const std::filesystem::path& partial : partials) std::filesystem::remove(partial, ignored);
    std::ranges::reverse(new_folders);
    for (const std::filesystem::path& folder : new_folders) std::filesystem::remove(folder, ignored);
    throw;
  }
  for (const auto& [file, bytes] : files) rename_durably(partial_of(file), file);
}

void remove_durably(const std::filesystem::path& file) {
  if (::unlink(file.c_str()) == 0) return sync_folder(file.parent_path());
  if (errno != ENOENT) fail_on_file(file, "cannot be removed", errno);
}

bool create_file(const std::filesystem::path& file, std::string_view bytes) {
  const Descriptor descriptor = opened(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!descriptor && errno == EEXIST) return false;
  if (!descriptor) fail_on_file(file, "cannot be written", errno);
  if (const int failure = write_durably(descriptor, bytes, 0))
    fail_on_file(file, "cannot be written", failure);
  return true;
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
  const Descriptor descriptor = opened(file, O_WRONLY | O_NOFOLLOW);
  if (!descriptor && errno == ELOOP)
    throw Error::in(file, "is a symbolic link, which is not written to", {.remedy = "put the file there"});
  if (!descriptor) fail_on_file(file, "cannot be written", errno);
  struct stat status = {};
  if (::fstat(descriptor.number(), &status) != 0) fail_on_file(file, "cannot be written", errno);
  if (static_cast<std::uintmax_t>(status.st_size) != size) {
    throw Error::in(file, fmt::format("has {} bytes where this run left {}", status.st_size, size),
                    {.remedy = "another program writes to this run; stop it, then resume the run"});
  }
  int failure = ::ftruncate(descriptor.number(), static_cast<off_t>(keep)) == 0 ? 0 : errno;
  if (failure == 0) failure = write_durably(descriptor, bytes, keep);
  if (failure == 0) return;
  // Half a line must not stay; should even this fail, the reader drops it.
  const bool restored = ::ftruncate(descriptor.number(), static_cast<off_t>(keep)) == 0;
  fail_on_file(file, restored ? "cannot be written" : "cannot be written, and may end in half a line",
               failure);
}

void replace_end(const std::filesystem::path& file, std::uintmax_t size, std::uintmax_t keep,
                 std::string_view bytes) {
  const std::filesystem::path partial = partial_of(file);
  ::unlink(partial.c_str());  // as in prepare_file()
  std::error_code failure;
  std::filesystem::copy_file(file, partial, failure);
  if (failure) fail_on_file(file, "cannot be written", failure.value());
  try {
    rewrite_end(partial, size, keep, bytes);
    rename_durably(partial, file);
  } catch (...) {
    ::unlink(partial.c_str());
    throw;
  }
}

}  // namespace fedarena::results
