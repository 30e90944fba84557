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
#include "results/record/durable_file.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

constexpr std::string_view kEnding = ".npy";
constexpr int kReadableByAll = 0644;
constexpr std::size_t kReadAtOnce = std::size_t{1} << 18;
// Weights hardly shrink. Of a few bytes, no more may come than a reader takes well.
constexpr std::uintmax_t kMostGrowth = 100;
constexpr std::uintmax_t kBytesAtLeast = std::uintmax_t{16} << 20;
constexpr const char* kWriteAgain = "write it by `fedarena model`, or by numpy.savez of contiguous arrays";

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

la_ssize_t append_bytes(archive* /*writer*/, void* text, const void* bytes, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

std::string reason_of(archive* of) {
  const char* reason = archive_error_string(of);
  return reason == nullptr ? "no reason known" : one_line(reason);
}

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
    refuse(fmt::format("is no .npz file, or it is damaged or cut off ({})", reason_of(reader_.get())));
  }

  std::filesystem::path file_;
  std::string packed_;
  Archive reader_;
  std::uintmax_t unpacked_ = 0;
};

}  // namespace

std::string to_npz(const NamedArrays& arrays) {
  std::string text;
  const Archive writer(archive_write_new(), archive_write_free);
  const auto check = [&](bool done) {
    if (!done) throw Bug(fmt::format("an archive cannot be written: {}", reason_of(writer.get())));
  };
  check(archive_write_set_format_zip(writer.get()) == ARCHIVE_OK);
  check(archive_write_zip_set_compression_store(writer.get()) == ARCHIVE_OK);
  check(archive_write_set_bytes_in_last_block(writer.get(), 1) == ARCHIVE_OK);  // no padding
  check(archive_write_open(writer.get(), &text, nullptr, append_bytes, nullptr) == ARCHIVE_OK);
  for (const auto& [name, array] : arrays) {
    const std::string bytes = to_npy(array);
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), (name + std::string(kEnding)).c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), kReadableByAll);
    check(archive_write_header(writer.get(), entry.get()) == ARCHIVE_OK);
    check(archive_write_data(writer.get(), bytes.data(), bytes.size()) == std::ssize(bytes));
  }
  check(archive_write_close(writer.get()) == ARCHIVE_OK);
  return text;
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
