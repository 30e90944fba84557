#include "harness/simulation/state_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void fail_damaged(const fs::path& path, const std::string& found) {
  throw Error::in(path, found, {.remedy = "Remove the run directory to run this cell again from the start."});
}

// Eight bytes at a time, since it is checked in every round. Each step can be undone, so that a change
// within one word of eight bytes never goes unnoticed; the shift lets high bits reach low ones.
std::uint64_t checksum_by_words(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = bytes.size() < sizeof(word) ? bytes.size() : sizeof(word);
    std::memcpy(&word, bytes.data(), size);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
    bytes = bytes.subspan(size);
  }
  return hash;
}

}  // namespace

StateFile StateFile::create(const fs::path& path) {
  // What lies there is left over, or a link that somebody else put there: it is not written to.
  ::unlink(path.c_str());
  Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!descriptor) fail_on_file(path, "cannot be written", errno);
  return {path, std::move(descriptor)};
}

StateFile StateFile::open(const fs::path& path, std::vector<Extent> kept) {
  Descriptor descriptor(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!descriptor && errno == ELOOP) fail_damaged(path, "is a symbolic link");
  if (!descriptor && errno == ENOENT) fail_damaged(path, "is missing, and the checkpoint needs it");
  if (!descriptor) fail_on_file(path, "cannot be opened", errno);
  StateFile file(path, std::move(descriptor));
  std::ranges::sort(kept, {}, &Extent::offset);
  for (const Extent& extent : kept) {
    if (extent.size == 0) continue;  // takes no room, wherever it is
    if (extent.offset < file.end_ || extent.offset > kLargest || extent.size > kLargest - extent.offset) {
      fail_damaged(path, "the checkpoint's list of what it holds is wrong");
    }
    if (extent.offset > file.end_) file.gaps_[file.end_] = extent.offset;
    file.end_ = extent.offset + extent.size;
  }
  struct stat status = {};
  if (::fstat(file.descriptor_.number(), &status) != 0) fail_on_file(path, "cannot be read", errno);
  if (!S_ISREG(status.st_mode)) fail_damaged(path, "is not a regular file");
  if (static_cast<std::uint64_t>(status.st_size) < file.end_) {
    fail_damaged(path, fmt::format("is cut short: it has {} bytes of {} that the checkpoint needs",
                                   status.st_size, file.end_));
  }
  return file;
}

std::uint64_t StateFile::room_for(std::uint64_t size) const {
  const auto gap =
      std::ranges::find_if(gaps_, [&](const auto& gap) { return gap.second - gap.first >= size; });
  return gap == gaps_.end() ? end_ : gap->first;
}

void StateFile::take(std::uint64_t offset, std::uint64_t size) {
  if (offset == end_) {
    end_ += size;
    return;
  }
  const std::uint64_t end = gaps_.extract(offset).mapped();
  if (offset + size < end) gaps_[offset + size] = end;
}

Extent StateFile::write(std::span<const std::byte> bytes) {
  const Extent extent{room_for(bytes.size()), bytes.size(), checksum_by_words(bytes)};
  if (const int failure = write_all(descriptor_.number(), bytes, extent.offset))
    fail_on_file(path_, "cannot be written", failure);
  take(extent.offset, extent.size);
  return extent;
}

Bytes StateFile::read(const Extent& extent) const {
  Bytes bytes(extent.size);
  std::span<std::byte> left(bytes);
  std::uint64_t offset = extent.offset;
  while (!left.empty()) {
    const auto count = read_some(descriptor_.number(), left, offset);
    if (count < 0) fail_on_file(path_, "cannot be read", errno);
    if (count == 0) fail_damaged(path_, fmt::format("is cut short: it ends at byte {}", offset));
    left = left.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  if (checksum_by_words(bytes) != extent.checksum) {
    fail_damaged(path_, fmt::format("is damaged: the checksum of its {} bytes from {} on does not match",
                                    extent.size, extent.offset));
  }
  return bytes;
}

void StateFile::release(const Extent& extent) {
  if (extent.size == 0) return;
  std::uint64_t begin = extent.offset, end = extent.offset + extent.size;
  if (const auto next = gaps_.extract(end)) end = next.mapped();
  const auto after = gaps_.upper_bound(begin);
  if (after != gaps_.begin() && std::prev(after)->second == begin)
    begin = gaps_.extract(std::prev(after)).key();
  if (end == end_)
    end_ = begin;
  else
    gaps_[begin] = end;
}

void StateFile::sync() const {
  if (::fdatasync(descriptor_.number()) != 0) fail_on_file(path_, "cannot be written", errno);
}

}  // namespace fedarena
