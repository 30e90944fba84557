#include "results/images/npy_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

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

[[noreturn]] void refuse(const std::filesystem::path& file, std::string found, std::string allowed = {}) {
  throw Error::in(file, std::move(found),
                  {.allowed = std::move(allowed),
                   .remedy = "the file is damaged, or another program wrote it; run this cell again"});
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t size : shape) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", size);
  return text + (shape.size() == 1 ? ",)" : ")");
}

// What follows 'name': in the header, a Python dictionary.
std::string_view value_of(const std::filesystem::path& file, std::string_view header, std::string_view name) {
  const std::string key = fmt::format("'{}':", name);
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) refuse(file, fmt::format("its header has no '{}'", name));
  header.remove_prefix(at + key.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::string first_word(std::string_view text) {
  return std::string(text.substr(0, text.find_first_of(", \n")));
}

std::vector<std::int64_t> parse_shape(const std::filesystem::path& file, std::string_view text) {
  const std::size_t close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos) refuse(file, "its shape is not a tuple");
  const std::string_view inside = text.substr(1, close - 1);
  std::vector<std::string_view> parts = split_at_commas(inside);
  if (parts.back().empty()) parts.pop_back();  // "(3,)", "()"
  std::vector<std::int64_t> shape;
  for (const std::string_view part : parts) {
    const std::optional<std::int64_t> size = parse_number<std::int64_t>(part);
    if (!size || *size < 0)
      refuse(file, fmt::format("its shape is ({})", inside), "whole numbers of at least 0");
    shape.push_back(*size);
  }
  return shape;
}

// The values, when their bytes are exactly as many as the shape asks for.
template <typename Value>
std::vector<Value> parse_values(const std::filesystem::path& file, const std::vector<std::int64_t>& shape,
                                std::string_view bytes) {
  std::size_t count = 1;
  bool too_many = false;
  for (const std::int64_t size : shape) {
    // No more than there are bytes, so that no product overflows.
    too_many = too_many || (size > 0 && count > bytes.size() / static_cast<std::size_t>(size));
    count = too_many ? 0 : count * static_cast<std::size_t>(size);
  }
  if (too_many || count * sizeof(Value) != bytes.size()) {
    refuse(file, fmt::format("holds {} bytes of values, which does not fit its shape {}", bytes.size(),
                             shape_text(shape)));
  }
  std::vector<Value> values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

std::string to_npy(const Array& array) {
  const bool is_float = std::holds_alternative<std::vector<float>>(array.values);
  std::string header = fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': {}, }}",
                                   is_float ? kFloat : kInteger, shape_text(array.shape));
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

Array read_npy(const std::filesystem::path& file) {
  const std::string bytes = read_whole_file(file, kMostBytesOfFile);
  const std::string_view text = bytes;
  if (!text.starts_with(kMagic.substr(0, 6))) refuse(file, "is no .npy file");
  if (text.size() < kLengthEnd) refuse(file, "is cut short in its header");
  if (!text.starts_with(kMagic)) {
    refuse(file,
           fmt::format("has version {}.{} of the format", int{static_cast<unsigned char>(text[6])},
                       int{static_cast<unsigned char>(text[7])}),
           "1.0");
  }
  const std::size_t length =
      static_cast<unsigned char>(text[8]) + 256 * std::size_t{static_cast<unsigned char>(text[9])};
  if (text.size() < kLengthEnd + length) refuse(file, "is cut short in its header");
  const std::string_view header = text.substr(kLengthEnd, length);
  const std::string_view values = text.substr(kLengthEnd + length);

  const std::string_view order = value_of(file, header, "fortran_order");
  if (!order.starts_with("False")) {
    refuse(file, fmt::format("its fortran_order is {}", first_word(order)), "False");
  }
  Array array{.shape = parse_shape(file, value_of(file, header, "shape")), .values = {}};
  const std::string_view type = value_of(file, header, "descr");
  if (type.starts_with(kFloat)) {
    array.values = parse_values<float>(file, array.shape, values);
  } else if (type.starts_with(kInteger)) {
    array.values = parse_values<std::int64_t>(file, array.shape, values);
  } else {
    refuse(file, fmt::format("its values are of the type {}", first_word(type)),
           fmt::format("{} or {}", kFloat, kInteger));
  }
  return array;
}

}  // namespace fedarena::results
