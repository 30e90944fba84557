#include "datasets/published/idx.hpp"

#include <cstring>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/published/published_files.hpp"

namespace fedarena {
namespace {

constexpr std::uint32_t kUnsignedBytes = 0x0800;

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
         bytes[3];
}

std::string in_words(const std::vector<std::int64_t>& shape) {
  return fmt::format("{}", fmt::join(shape, " x "));
}

}  // namespace

torch::Tensor read_idx(const std::filesystem::path& file, const IdxLayout& layout) {
  const auto count = static_cast<std::size_t>(
      std::accumulate(layout.shape.begin(), layout.shape.end(), std::int64_t{1}, std::multiplies<>()));
  const std::size_t header = 4 + 4 * layout.shape.size();
  const std::size_t expected = header + count;
  const auto content = read_content(file, expected + 1);
  const std::string meaning = fmt::format("{} of header and {}", header, in_words(layout.shape));
  if (content.size() < header) check_size(file, content.size(), expected, meaning);

  const std::uint32_t magic = kUnsignedBytes | static_cast<std::uint32_t>(layout.shape.size());
  if (big_endian(content.data()) != magic)
    reject_file(file, fmt::format("the magic number is {:#010x}", big_endian(content.data())),
                fmt::format("{:#010x} (IDX, unsigned bytes, dimensions: {})", magic, layout.shape.size()));
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < layout.shape.size(); ++i)
    shape.push_back(big_endian(content.data() + 4 + 4 * i));
  if (shape != layout.shape)
    reject_file(file, fmt::format("the header says {}", in_words(shape)), in_words(layout.shape));
  check_size(file, content.size(), expected, meaning);

  for (std::size_t i = 0; layout.classes > 0 && i < count; ++i)
    if (content[header + i] >= layout.classes)
      reject_file(file, fmt::format("label {} (counting from 0) is {}", i, content[header + i]),
                  fmt::format("0 to {}", layout.classes - 1));
  check_sha256(file, content, layout.sha256);

  auto bytes = torch::empty(layout.shape, torch::kUInt8);
  if (count > 0) std::memcpy(bytes.data_ptr<std::uint8_t>(), content.data() + header, count);
  return bytes;
}

}  // namespace fedarena
