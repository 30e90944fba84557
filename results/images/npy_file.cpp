#include "results/images/npy_file.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "harness/digest/sha256.hpp"
#include "results/record/archive_writer.hpp"
#include "results/record/durable_file.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

static_assert(std::endian::native == std::endian::little, "values go to disk as they lie in memory");

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);  // and the version, 1.0
constexpr std::size_t kLengthEnd = kMagic.size() + 2;       // then the header's length, 16 bits
constexpr std::size_t kAlignment = 64;                      // of the values, by the format
constexpr std::string_view kFloat = "'<f4'";
constexpr std::string_view kInteger = "'<i8'";
constexpr std::string_view kDouble = "'<f8'";

// Who wrote an array, for messages.
struct Origin {
  const std::filesystem::path& file;
  const std::string& remedy;
};

[[noreturn]] void refuse(const Origin& of, std::string found, std::string allowed = {}) {
  throw Error::in(of.file, std::move(found), {.allowed = std::move(allowed), .remedy = of.remedy});
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t size : shape) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", size);
  return text + (shape.size() == 1 ? ",)" : ")");
}

// What follows 'name': in the header, a Python dictionary.
std::string_view value_of(const Origin& of, std::string_view header, std::string_view name) {
  const std::string key = fmt::format("'{}':", name);
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) refuse(of, fmt::format("its header has no '{}'", name));
  header.remove_prefix(at + key.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::string first_word(std::string_view text) {
  return std::string(text.substr(0, text.find_first_of(", \n")));
}

std::vector<std::int64_t> parse_shape(const Origin& of, std::string_view text) {
  const std::size_t close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos) refuse(of, "its shape is not a tuple");
  const std::string_view inside = text.substr(1, close - 1);
  std::vector<std::string_view> parts = split_at_commas(inside);
  if (parts.back().empty()) parts.pop_back();  // "(3,)", "()"
  std::vector<std::int64_t> shape;
  for (const std::string_view part : parts) {
    const std::optional<std::int64_t> size = parse_number<std::int64_t>(part);
    if (!size || *size < 0)
      refuse(of, fmt::format("its shape is ({})", inside), "whole numbers of at least 0");
    shape.push_back(*size);
  }
  return shape;
}

// The values, when their bytes are exactly as many as the shape asks for.
template <typename Value>
std::vector<Value> parse_values(const Origin& of, const std::vector<std::int64_t>& shape,
                                std::string_view bytes) {
  std::size_t count = 1;
  bool too_many = false;
  for (const std::int64_t size : shape) {
    // No more than there are bytes, so that no product overflows.
    too_many = too_many || (size > 0 && count > bytes.size() / static_cast<std::size_t>(size));
    count = too_many ? 0 : count * static_cast<std::size_t>(size);
  }
  if (too_many || count * sizeof(Value) != bytes.size()) {
    refuse(of, fmt::format("holds {} bytes of values, which does not fit its shape {}", bytes.size(),
                           shape_text(shape)));
  }
  std::vector<Value> values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

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

std::string type_of(const Array& array) {
  return std::visit(Overload{[](const std::vector<float>&) { return "float32"; },
                             [](const std::vector<double>&) { return "float64"; },
                             [](const std::vector<std::int64_t>&) { return "int64"; }},
                    array.values);
}

std::string to_npy(const Array& array) {
  const std::string type = type_of(array);
  const std::string_view descr = type == "float32" ? kFloat : type == "float64" ? kDouble : kInteger;
  std::string header =
      fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': {}, }}", descr, shape_text(array.shape));
  const std::size_t unpadded = kLengthEnd + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  std::visit(
      [&](const auto& values) {
        std::size_t count = 1;
        for (const std::int64_t size : array.shape) count *= static_cast<std::size_t>(size);
        FEDARENA_CHECK(count, ==, values.size());
        bytes.append(reinterpret_cast<const char*>(values.data()), count * sizeof(values[0]));
      },
      array.values);
  return bytes;
}

Array parse_npy(std::string_view text, const std::filesystem::path& file, const std::string& remedy) {
  const Origin of{file, remedy};
  if (!text.starts_with(kMagic.substr(0, 6))) refuse(of, "is no .npy file");
  if (text.size() < kLengthEnd) refuse(of, "is cut short in its header");
  if (!text.starts_with(kMagic)) {
    refuse(of,
           fmt::format("has version {}.{} of the format", int{static_cast<unsigned char>(text[6])},
                       int{static_cast<unsigned char>(text[7])}),
           "1.0");
  }
  const std::size_t length =
      static_cast<unsigned char>(text[8]) + 256 * std::size_t{static_cast<unsigned char>(text[9])};
  if (text.size() < kLengthEnd + length) refuse(of, "is cut short in its header");
  const std::string_view header = text.substr(kLengthEnd, length);
  const std::string_view values = text.substr(kLengthEnd + length);

  const std::string_view order = value_of(of, header, "fortran_order");
  if (!order.starts_with("False")) {
    refuse(of, fmt::format("its fortran_order is {}", first_word(order)), "False");
  }
  Array array{.shape = parse_shape(of, value_of(of, header, "shape")), .values = {}};
  const std::string_view type = value_of(of, header, "descr");
  if (type.starts_with(kFloat)) {
    array.values = parse_values<float>(of, array.shape, values);
  } else if (type.starts_with(kInteger)) {
    array.values = parse_values<std::int64_t>(of, array.shape, values);
  } else if (type.starts_with(kDouble)) {
    array.values = parse_values<double>(of, array.shape, values);
  } else {
    refuse(of, fmt::format("its values are of the type {}", first_word(type)),
           fmt::format("{}, {} or {}", kFloat, kDouble, kInteger));
  }
  return array;
}

Array read_npy(const std::filesystem::path& file) {
  return parse_npy(read_whole_file(file, kMostBytesOfFile), file,
                   "the file is damaged, or another program wrote it; run this cell again");
}

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
