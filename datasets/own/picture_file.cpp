#include "datasets/own/picture_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <optional>
#include <png.h>
#include <span>
#include <string_view>
#include <turbojpeg.h>
#include <utility>

#include <fmt/format.h>

#include "datasets/published/published_files.hpp"
#include "harness/digest/sha256.hpp"

namespace fedarena {
namespace {

constexpr std::size_t kLargestPicture = std::size_t{1} << 28;
constexpr std::int64_t kLargestSide = 4096;
constexpr std::string_view kPngMagic = "\x89PNG", kJpegMagic = "\xff\xd8\xff";
// Of EXIF's orientations: these swap rows and columns.
constexpr int kFirstTurned = 5;

using Jpeg = std::unique_ptr<void, int (*)(tjhandle)>;

[[noreturn]] void reject_picture(const std::filesystem::path& file, std::string found) {
  reject_file(file, std::move(found), "a whole PNG or JPEG file",
              "Save the picture again as PNG or JPEG, or remove it");
}

Jpeg open_jpeg() { return {tjInitDecompress(), tjDestroy}; }

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

// How the picture is to be turned for looking at it, as EXIF numbers it: 1 (as it is) to 8; 1 where nothing
// is said. The entry of the first directory (TIFF 6.0, section 2).
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

// The PNG without chunks that say how its shades are to be shown (gamma, profiles), which a decoder would
// apply. What is damaged is left for the decoder to refuse.
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

// Of 16 bits a channel, and stored in passes: libpng's simple interface, as several distributions mended it,
// reads such a picture wrongly without a word. Both stand in IHDR (PNG, section 11.2.1).
bool is_deep_and_interlaced(Bytes png) {
  constexpr std::size_t kDepth = 24, kInterlace = 28;
  return number_at(png, kDepth, 1) == 16 && number_at(png, kInterlace, 1) != 0;
}

// In thousandths, as ITU-R BT.601 weighs colours.
std::uint8_t grey_of(const std::uint8_t* pixel) {
  return static_cast<std::uint8_t>((299U * pixel[0] + 587U * pixel[1] + 114U * pixel[2] + 500U) / 1000U);
}

std::uint8_t on_paper(std::uint8_t shade, std::uint8_t opacity) {
  constexpr unsigned kWhite = 255;
  return static_cast<std::uint8_t>((shade * opacity + kWhite * (kWhite - opacity) + kWhite / 2) / kWhite);
}

// libpng's simple interface, which needs no longjmp.
class Png {
 public:
  Png(const std::filesystem::path& file, const std::vector<std::uint8_t>& content) : file_(file) {
    image_.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_memory(&image_, content.data(), content.size()) == 0) reject();
  }
  ~Png() { png_image_free(&image_); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  PictureForm form() const {
    return {image_.width, image_.height, (image_.format & PNG_FORMAT_FLAG_COLOR) != 0};
  }
  // With the opacity as the last channel.
  std::vector<std::uint8_t> decode() {
    const bool colour = form().colour;
    image_.format = colour ? PNG_FORMAT_RGBA : PNG_FORMAT_GA;
    // Else the library takes 16 bits for linear light.
    image_.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image_));
    if (png_image_finish_read(&image_, nullptr, pixels.data(), 0, nullptr) == 0) reject();
    return pixels;
  }

 private:
  [[noreturn]] void reject() const {
    reject_picture(file_, fmt::format("the PNG cannot be read ({})", image_.message));
  }

  const std::filesystem::path& file_;
  png_image image_{};
};

}  // namespace

std::string in_words(const PictureForm& form) {
  return fmt::format("{} x {} {}", form.width, form.height, form.colour ? "colour" : "grey");
}

bool is_picture_name(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

PictureFile::PictureFile(const std::filesystem::path& file)
    : file_(file), content_(read_content(file, kLargestPicture)) {
  png_ = text_of(content_).starts_with(kPngMagic);
  if (png_) {
    form_ = Png(file_, content_).form();
    if (is_deep_and_interlaced(content_))
      reject_file(file_, "the PNG has 16 bits a channel and is interlaced", "either of the two",
                  "Save it without interlacing");
  } else if (text_of(content_).starts_with(kJpegMagic)) {
    const Jpeg jpeg = open_jpeg();
    int width = 0, height = 0, sampling = 0, space = 0;
    // The library also decodes colours that are sampled in a way for which it has no name.
    if (tjDecompressHeader3(jpeg.get(), content_.data(), content_.size(), &width, &height, &sampling,
                            &space) != 0 &&
        sampling >= 0)
      reject_picture(file_, fmt::format("the JPEG cannot be read ({})", tjGetErrorStr2(jpeg.get())));
    if (width < 1 || height < 1) reject_picture(file_, "the JPEG cannot be read (it has no picture)");
    if (space == TJCS_CMYK || space == TJCS_YCCK)
      reject_file(file_, "the JPEG is in the colours of print (CMYK)", "grey or RGB", "Convert the picture");
    form_ = {width, height, space != TJCS_GRAY};
  } else {
    reject_picture(file_, "the content is neither PNG nor JPEG");
  }
  orientation_ = orientation_in(png_ ? exif_of_png(content_) : exif_of_jpeg(content_));
  if (orientation_ >= kFirstTurned) std::swap(form_.width, form_.height);
  if (form_.width > kLargestSide || form_.height > kLargestSide)
    reject_file(file_, fmt::format("the picture is {}", in_words(form_)),
                fmt::format("at most {} pixels in each direction", kLargestSide), "Scale it down");
}

std::string PictureFile::digest() const { return sha256_of(std::span(content_)); }

void PictureFile::append(bool colour, std::vector<std::uint8_t>& planes) const {
  const std::vector<std::uint8_t> pixels = png_ ? decode_png() : decode_jpeg();
  const auto channels = static_cast<std::size_t>(form_.channels());
  for (std::size_t channel = 0; channel < (colour ? 3 : 1); ++channel) {
    for (std::int64_t row = 0; row < form_.height; ++row) {
      for (std::int64_t column = 0; column < form_.width; ++column) {
        const std::uint8_t* pixel = &pixels[channels * source_of(row, column)];
        planes.push_back(!form_.colour ? pixel[0] : colour ? pixel[channel] : grey_of(pixel));
      }
    }
  }
}

std::vector<std::uint8_t> PictureFile::decode_png() const {
  const std::vector<std::uint8_t> content = without_colour_management(content_);
  const std::vector<std::uint8_t> layered = Png(file_, content).decode();
  const auto channels = static_cast<std::size_t>(form_.channels());
  std::vector<std::uint8_t> pixels;
  for (std::size_t at = 0; at < layered.size(); at += channels + 1) {
    const std::uint8_t opacity = layered[at + channels];
    for (std::size_t i = 0; i < channels; ++i) pixels.push_back(on_paper(layered[at + i], opacity));
  }
  return pixels;
}

std::vector<std::uint8_t> PictureFile::decode_jpeg() const {
  const Jpeg jpeg = open_jpeg();
  const bool turned = orientation_ >= kFirstTurned;
  const auto width = static_cast<int>(turned ? form_.height : form_.width);
  const auto height = static_cast<int>(turned ? form_.width : form_.height);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(form_.width * form_.height * form_.channels()));
  // A stream that is cut off is only worth a warning to the library.
  const int flags = TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING;
  if (tjDecompress2(jpeg.get(), content_.data(), content_.size(), pixels.data(), width, 0, height,
                    form_.colour ? TJPF_RGB : TJPF_GRAY, flags) != 0)
    reject_picture(file_, fmt::format("the JPEG cannot be read ({})", tjGetErrorStr2(jpeg.get())));
  return pixels;
}

// The stored pixel that is looked at here. EXIF 2.32, tag 274: where the stored row 0 and column 0 are to be
// seen.
std::size_t PictureFile::source_of(std::int64_t row, std::int64_t column) const {
  const bool upside_down = orientation_ % 4 == 3 || orientation_ % 4 == 0;
  const bool mirrored = orientation_ % 4 == 2 || orientation_ % 4 == 3;
  if (upside_down) row = form_.height - 1 - row;
  if (mirrored) column = form_.width - 1 - column;
  const bool turned = orientation_ >= kFirstTurned;
  return static_cast<std::size_t>(turned ? column * form_.height + row : row * form_.width + column);
}

}  // namespace fedarena
