#include "datasets/own/picture_container.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace fedarena {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kPngSignature = 8;
// Length and name before the data of a chunk, checksum behind.
constexpr std::size_t kChunkHead = 8, kChunkTail = 4;
constexpr std::array<std::string_view, 4> kColourManagement = {"gAMA", "cHRM", "sRGB", "iCCP"};

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// An unsigned number of so many bytes; 0 beyond the end.
std::uint32_t number_at(Bytes bytes, std::size_t offset, std::size_t size, bool little = false) {
  if (offset > bytes.size() || bytes.size() - offset < size) return 0;
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number = number << 8U | bytes[offset + (little ? size - 1 - i : i)];
  return number;
}

struct Chunk {
  std::string_view name;
  Bytes data, whole;
};

// None at the end, and where the file is damaged.
std::optional<Chunk> take_chunk(Bytes& rest) {
  const std::size_t length = number_at(rest, 0, 4);
  if (rest.size() < kChunkHead + kChunkTail || rest.size() - kChunkHead - kChunkTail < length)
    return std::nullopt;
  const Chunk chunk{text_of(rest.subspan(4, 4)), rest.subspan(kChunkHead, length),
                    rest.first(kChunkHead + length + kChunkTail)};
  rest = rest.subspan(chunk.whole.size());
  return chunk;
}

// The TIFF structure in which a PNG has its EXIF data; empty without any.
Bytes exif_of_png(Bytes png) {
  for (Bytes rest = png.subspan(std::min(png.size(), kPngSignature)); const auto chunk = take_chunk(rest);)
    if (chunk->name == "eXIf") return chunk->data;
  return {};
}

// The same of a JPEG: in a segment before the picture begins.
Bytes exif_of_jpeg(Bytes jpeg) {
  constexpr std::string_view kName("Exif\0\0", 6);
  constexpr std::uint32_t kApplication = 0xffe1, kScan = 0xffda;
  std::size_t at = 2;
  while (at + 4 <= jpeg.size()) {
    // Any number of fill bytes may stand before a marker.
    if (jpeg[at] == 0xff && jpeg[at + 1] == 0xff) {
      ++at;
      continue;
    }
    const std::uint32_t marker = number_at(jpeg, at, 2);
    const std::size_t length = number_at(jpeg, at + 2, 2);
    if (marker < 0xff01 || marker == kScan || length < 2 || jpeg.size() - at - 2 < length) break;
    const Bytes data = jpeg.subspan(at + 4, length - 2);
    if (marker == kApplication && text_of(data).starts_with(kName)) return data.subspan(kName.size());
    at += 2 + length;
  }
  return {};
}

// The entry of the first directory (TIFF 6.0, section 2).
int orientation_in(Bytes tiff) {
  constexpr std::uint32_t kOrientation = 0x0112;
  const bool little = text_of(tiff).starts_with("II");
  if (!little && !text_of(tiff).starts_with("MM")) return 1;
  const std::size_t directory = number_at(tiff, 4, 4, little);
  const std::uint32_t entries = number_at(tiff, directory, 2, little);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + std::size_t{12} * i;
    if (number_at(tiff, entry, 2, little) != kOrientation) continue;
    const std::uint32_t value = number_at(tiff, entry + 8, 2, little);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace

std::vector<std::uint8_t> without_colour_management(Bytes png) {
  const std::size_t head = std::min(png.size(), kPngSignature);
  std::vector<std::uint8_t> kept(png.begin(), png.begin() + static_cast<std::ptrdiff_t>(head));
  Bytes rest = png.subspan(head);
  while (const auto chunk = take_chunk(rest)) {
    if (std::ranges::find(kColourManagement, chunk->name) == kColourManagement.end())
      kept.insert(kept.end(), chunk->whole.begin(), chunk->whole.end());
  }
  kept.insert(kept.end(), rest.begin(), rest.end());
  return kept;
}

int orientation_of(Bytes content, bool png) {
  return orientation_in(png ? exif_of_png(content) : exif_of_jpeg(content));
}

}  // namespace fedarena
