#include "datasets/fetch/unpack.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "datasets/fetch/download.hpp"
#include "datasets/fetch/growing_file.hpp"
#include "harness/digest/sha256.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = std::size_t{1} << 18;

[[noreturn]] void reject(const std::string& source, std::string found, std::string allowed = {}) {
  throw SourceError(Complaint{.place = {source},
                              .found = std::move(found),
                              .allowed = std::move(allowed),
                              .remedy = "Name another address or a folder with the published files: --from"});
}

// The packed file, one member after the other.
class Packed {
 public:
  Packed(const fs::path& file, Packing packing, std::string source)
      : source_(std::move(source)), opened_(file), reader_(archive_read_new(), archive_read_free) {
    archive_read_support_filter_gzip(reader_.get());
    archive_read_support_format_empty(reader_.get());
    if (packing == Packing::kArchive)
      archive_read_support_format_tar(reader_.get());
    else
      archive_read_support_format_raw(reader_.get());
    if (archive_read_open_fd(reader_.get(), opened_.descriptor(), kBlock) != ARCHIVE_OK) damaged();
  }

  // The next member, or nothing at the end.
  archive_entry* next() {
    archive_entry* member = nullptr;
    const int status = archive_read_next_header(reader_.get(), &member);
    if (status == ARCHIVE_EOF) return nullptr;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) damaged();
    return member;
  }

  // Some bytes of the member; none at its end.
  std::span<const std::uint8_t> read() {
    const la_ssize_t count = archive_read_data(reader_.get(), block_.data(), block_.size());
    if (count < 0) damaged();
    return {block_.data(), static_cast<std::size_t>(count)};
  }

  const std::string& source() const { return source_; }

 private:
  [[noreturn]] void damaged() const {
    const char* reason = archive_error_string(reader_.get());
    reject(source_,
           fmt::format("the content is damaged or cut off ({})", reason ? reason : "no reason known"));
  }

  std::string source_;
  RegularFile opened_;
  std::unique_ptr<archive, int (*)(archive*)> reader_;
  std::vector<std::uint8_t> block_ = std::vector<std::uint8_t>(kBlock);
};

void write_verified(GrowingFile& file, Packed& packed, const PublishedFile& published, const fs::path& path) {
  const std::string allowed = fmt::format("exactly {} bytes", published.size);
  Sha256 digest;
  for (auto bytes = packed.read(); !bytes.empty(); bytes = packed.read()) {
    if (file.size() + static_cast<std::int64_t>(bytes.size()) > published.size)
      reject(packed.source(), fmt::format("{} is longer than {} bytes", published.name, published.size),
             allowed);
    digest.add(bytes);
    file.add(bytes);
  }
  if (file.size() < published.size)
    reject(packed.source(), fmt::format("{} ends after {} bytes", published.name, file.size()), allowed);
  const std::string found = digest.text();
  if (found != published.sha256)
    reject(
        packed.source(),
        fmt::format("this is not the published {}: the SHA-256 of its content is {}", published.name, found),
        published.sha256);
  file.place(path);
}

void unpack_member(Packed& packed, const PublishedFile& published, const fs::path& folder) {
  GrowingFile file(folder / (published.name + ".unverified"));
  file.clear();
  try {
    write_verified(file, packed, published, folder / published.name);
  } catch (...) {
    file.remove();
    throw;
  }
}

}  // namespace

void unpack_published(const fs::path& packed, Packing packing, std::span<const PublishedFile> wanted,
                      const fs::path& folder, const std::string& source) {
  Packed members(packed, packing, source);
  std::vector<PublishedFile> missing(wanted.begin(), wanted.end());
  while (!missing.empty()) {
    archive_entry* member = members.next();
    if (member == nullptr) break;
    if (archive_entry_filetype(member) != AE_IFREG) continue;
    const char* path = archive_entry_pathname(member);
    const std::string name = path == nullptr ? "" : fs::path(path).filename().string();
    // A file that is not in an archive has no name of its own.
    const auto found = packing == Packing::kOneFile
                           ? missing.begin()
                           : std::find_if(missing.begin(), missing.end(),
                                          [&](const auto& file) { return file.name == name; });
    if (found == missing.end()) continue;
    unpack_member(members, *found, folder);
    missing.erase(found);
  }
  if (missing.empty()) return;
  if (packing == Packing::kOneFile)
    reject(source, "the file is empty", fmt::format("exactly {} bytes", missing.front().size));
  reject(source, "the archive lacks " + join_names(names_of(missing, &PublishedFile::name)));
}

}  // namespace fedarena
