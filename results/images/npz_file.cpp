#include "results/images/npz_file.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/digest/sha256.hpp"
#include "results/record/archive_writer.hpp"
#include "results/record/durable_file.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

constexpr std::string_view kEnding = ".npy";
constexpr std::size_t kReadAtOnce = std::size_t{1} << 18;
// Weights hardly shrink. Of a few bytes, no more may come than a reader takes well.
constexpr std::uintmax_t kMostGrowth = 100;
constexpr std::uintmax_t kBytesAtLeast = std::uintmax_t{16} << 20;
constexpr const char* kWriteAgain = "write it by `fedarena model`, or by numpy.savez of contiguous arrays";

// A zip archive that is read.
class Zip {
 public:
  explicit Zip(const std::filesystem::path& file)
      : file_(file),
        packed_(read_whole_file(file, kMostBytesOfFile)),
        reader_(archive_read_new(), archive_read_free) {
    archive_read_support_format_zip_seekable(reader_.get());
    check(archive_read_open_memory(reader_.get(), packed_.data(), packed_.size()));
  }

  // The name of the next array; empty at the end.
  std::string next() {
    archive_entry* member = nullptr;
    const int status = archive_read_next_header(reader_.get(), &member);
    if (status == ARCHIVE_EOF) return {};
    check(status);
    const char* path = archive_entry_pathname(member);
    std::string name = path == nullptr ? "" : path;
    const bool is_plain =
        std::ranges::all_of(name, [](char letter) { return letter >= ' ' && letter <= '~'; });
    if (!is_plain || !name.ends_with(kEnding) || name == kEnding ||
        archive_entry_filetype(member) != AE_IFREG)
      refuse(fmt::format("holds \"{}\", which is not an array", one_line(name)));
    return name.substr(0, name.size() - kEnding.size());
  }

  std::string content() {
    std::string bytes, block(kReadAtOnce, '\0');
    while (true) {
      const la_ssize_t count = archive_read_data(reader_.get(), block.data(), block.size());
      if (count == 0) return bytes;
      if (count < 0) check(static_cast<int>(count));
      unpacked_ += static_cast<std::uintmax_t>(count);
      if (unpacked_ > kBytesAtLeast && unpacked_ / kMostGrowth > packed_.size())
        refuse(fmt::format("unpacks to more than {} times its {} bytes", kMostGrowth, packed_.size()));
      bytes.append(block, 0, static_cast<std::size_t>(count));
    }
  }

  [[noreturn]] void refuse(std::string found) const {
    throw Error::in(file_, std::move(found), {.allowed = "files NAME.npy", .remedy = kWriteAgain});
  }

 private:
  void check(int status) const {
    if (status == ARCHIVE_OK) return;
    const char* reason = archive_error_string(reader_.get());
    refuse(fmt::format("is no .npz file, or it is damaged or cut off ({})",
                       reason == nullptr ? "no reason known" : one_line(reason)));
  }

  std::filesystem::path file_;
  std::string packed_;
  std::unique_ptr<archive, int (*)(archive*)> reader_;
  std::uintmax_t unpacked_ = 0;
};

}  // namespace

std::string to_npz(const NamedArrays& arrays) {
  ArchiveWriter writer(ArchiveWriter::Kind::kZip);
  for (const auto& [name, array] : arrays) writer.add(name + std::string(kEnding), to_npy(array));
  return writer.finish();
}

NamedArrays read_npz(const std::filesystem::path& file) {
  Zip zip(file);
  NamedArrays arrays;
  std::set<std::string> seen;
  for (std::string name = zip.next(); !name.empty(); name = zip.next()) {
    if (!seen.insert(name).second) zip.refuse(fmt::format("holds \"{}\" twice", one_line(name)));
    arrays.emplace_back(name, parse_npy(zip.content(), file / (name + std::string(kEnding)), kWriteAgain));
  }
  return arrays;
}

std::string content_hash(const NamedArrays& arrays) {
  std::map<std::string_view, const Array*> sorted;
  for (const auto& [name, array] : arrays) sorted.emplace(name, &array);
  Sha256 digest;
  for (const auto& [name, array] : sorted) {
    const std::string bytes = to_npy(*array);  // says its length
    for (const std::string& part : {fmt::format("{}:{}\n", name.size(), name), bytes})
      digest.add({reinterpret_cast<const std::uint8_t*>(part.data()), part.size()});
  }
  return digest.text();
}

}  // namespace fedarena::results
