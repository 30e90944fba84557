#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"

#include "harness/digest/gzip_file.hpp"
#include "harness/digest/sha256.hpp"
#include "results/bundle/bundle.hpp"
#include "results/record/archive_writer.hpp"
#include "results/record/durable_file.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::int64_t kMostManifestBytes = std::int64_t{64} << 20;
// Records shrink to a tenth or so. Of a few bytes, no more may come than a reader takes well.
constexpr std::uintmax_t kMostExpansion = 100;
constexpr std::uintmax_t kFreeBytes = std::uintmax_t{16} << 20;

// Brings every block of content somewhere.
using Sink = std::function<void(std::string_view)>;

// The archive, one file after the other.
class Members {
 public:
  Members(const fs::path& file, const std::atomic<bool>* stop)
      : file_(file.string()), packed_(file), stop_(stop), reader_(archive_read_new(), archive_read_free) {
    archive_read_support_format_tar(reader_.get());
    // Else libarchive passes over what stands behind the tar's end.
    archive_read_set_format_option(reader_.get(), "tar", "read_concatenated_archives", "1");
    if (archive_read_open(reader_.get(), this, nullptr, inflate_block, nullptr) != ARCHIVE_OK) damaged();
  }

  // The name of the next file; empty at the end.
  std::string next() {
    const Utf8Names names;
    archive_entry* member = nullptr;
    const int status = archive_read_next_header(reader_.get(), &member);
    if (status == ARCHIVE_EOF) {
      // Behind the last file lies what the whole stream is checked by.
      const void* rest = nullptr;
      la_ssize_t count = 1;
      while (count > 0) count = inflate_block(reader_.get(), this, &rest);
      if (count < 0) damaged();
      return {};
    }
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) damaged();
    const char* name = archive_entry_pathname_utf8(member);
    if (name == nullptr || *name == '\0' || archive_entry_filetype(member) != AE_IFREG) {
      refuse("it holds something that is not a file");
    }
    return name;
  }

  // The content of that file, which may have `most` bytes, block by block.
  void read(const std::string& name, std::int64_t most, const Sink& sink) {
    std::int64_t size = 0;
    while (true) {
      if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw Interrupted();
      const la_ssize_t count = archive_read_data(reader_.get(), block_.data(), block_.size());
      if (count < 0) damaged();
      if (count == 0) return;
      size += count;
      if (size > most) refuse(fmt::format("its file {} is longer than {} bytes", one_line(name), most));
      sink(std::string_view(block_).substr(0, static_cast<std::size_t>(count)));
    }
  }

  [[noreturn]] void refuse(std::string found) const {
    throw Error::in(file_, std::move(found), {.allowed = "a bundle as `fedarena bundle` wrote it"});
  }

 private:
  // Gives libarchive the next block of the tar; its own filter for gzip checks neither checksum nor length.
  static la_ssize_t inflate_block(archive* reader, void* of, const void** block) {
    Members& members = *static_cast<Members*>(of);
    *block = members.inflated_.data();
    const std::ptrdiff_t count = members.packed_.read(members.inflated_);
    members.unpacked_ += static_cast<std::uintmax_t>(std::max<std::ptrdiff_t>(count, 0));
    const std::uintmax_t packed = members.packed_.size();
    std::string problem = members.packed_.problem();
    if (problem.empty() && members.unpacked_ > kFreeBytes && members.unpacked_ / kMostExpansion > packed)
      problem = fmt::format("it unpacks to more than {} times its {} bytes", kMostExpansion, packed);
    if (problem.empty()) return count;
    archive_set_error(reader, EIO, "%s", problem.c_str());
    return -1;
  }

  [[noreturn]] void damaged() const {
    const char* reason = archive_error_string(reader_.get());
    refuse(fmt::format("this is not a bundle, or it is damaged or cut off{}",
                       reason ? fmt::format(" ({})", one_line(reason)) : ""));
  }

  std::string file_;
  GzipFile packed_;
  const std::atomic<bool>* stop_;
  std::unique_ptr<archive, int (*)(archive*)> reader_;
  std::vector<std::uint8_t> inflated_ = std::vector<std::uint8_t>(kBlock);
  std::string block_ = std::string(kBlock, '\0');
  std::uintmax_t unpacked_ = 0;
};

// Writes the member's content, of so many bytes, to a file below the folder; returns its SHA-256.
std::string unpack(Members& members, const std::string& name, std::int64_t size, const fs::path& file) {
  make_folders(file.parent_path());
  std::ofstream stream(file, std::ios::binary);
  Sha256 digest;
  std::int64_t written = 0;
  members.read(name, size, [&](std::string_view bytes) {
    written += std::ssize(bytes);
    digest.add({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    stream << bytes;
  });
  stream.close();
  if (!stream) fail_on_file(file, "cannot be written", errno);
  if (written < size)
    members.refuse(fmt::format("its file {} is shorter than {} bytes", one_line(name), size));
  return digest.text();
}

}  // namespace

Manifest unpack_bundle(const fs::path& file, const fs::path& folder, const std::atomic<bool>* stop) {
  Members members(file, stop);
  if (members.next() != kManifestFile) members.refuse("its first file is not a manifest");
  std::string text;
  members.read(kManifestFile, kMostManifestBytes, [&](std::string_view bytes) { text += bytes; });
  Manifest manifest = parse_manifest(text, (file / kManifestFile).string());
  std::map<std::string, const BundledFile*> missing;
  for (const BundledRun& run : manifest.runs) {
    for (const BundledFile& listed : run.files) missing.emplace(run.folder + "/" + listed.name, &listed);
  }
  for (std::string name = members.next(); !name.empty(); name = members.next()) {
    const auto listed = missing.find(name);
    if (listed == missing.end()) {
      members.refuse(fmt::format("it holds {}, which its manifest does not list", one_line(name)));
    }
    std::string digest;
    try {
      digest = unpack(members, name, listed->second->bytes, folder / name);
    } catch (const Error& error) {
      Complaint complaint = error.complaint();
      if (!complaint.place.file.starts_with(folder.string())) throw;
      complaint.found += fmt::format(" (a file of {}, which is unpacked there)", file.string());
      throw Error(std::move(complaint));
    }
    if (digest != listed->second->sha256) {
      members.refuse(fmt::format("the SHA-256 of its file {} is not that of the manifest", one_line(name)));
    }
    missing.erase(listed);
  }
  if (!missing.empty()) {
    members.refuse(fmt::format("it lacks {}, which its manifest lists", one_line(missing.begin()->first)));
  }
  for (const BundledRun& run : manifest.runs) {
    if (find_named(run.files, kSummaryFile, &BundledFile::name) == nullptr)
      members.refuse(fmt::format("its manifest lists no {} of {}", kSummaryFile, one_line(run.folder)));
  }
  return manifest;
}

}  // namespace fedarena::results
