#include "datasets/own/picture_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <png.h>
#include <turbojpeg.h>

#include <fmt/format.h>

#include "datasets/published/published_files.hpp"

namespace fedarena {
namespace {

constexpr std::size_t kLargestPicture = std::size_t{1} << 28;
constexpr std::int64_t kLargestSide = 4096;
constexpr std::array<std::uint8_t, 4> kPngMagic{0x89, 'P', 'N', 'G'};
constexpr std::array<std::uint8_t, 3> kJpegMagic{0xff, 0xd8, 0xff};
constexpr const char* kAllowed = "a whole PNG or JPEG file";

using Jpeg = std::unique_ptr<void, int (*)(tjhandle)>;

Jpeg open_jpeg() { return {tjInitDecompress(), tjDestroy}; }

template <std::size_t size>
bool begins_with(const std::vector<std::uint8_t>& content, const std::array<std::uint8_t, size>& magic) {
  return content.size() >= size && std::equal(magic.begin(), magic.end(), content.begin());
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
  void decode(bool colour, std::uint8_t* pixels) {
    image_.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    const png_color paper{255, 255, 255};
    if (png_image_finish_read(&image_, &paper, pixels, 0, nullptr) == 0) reject();
  }

 private:
  [[noreturn]] void reject() const {
    reject_file(file_, fmt::format("the PNG cannot be read ({})", image_.message), kAllowed);
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
  png_ = begins_with(content_, kPngMagic);
  if (png_) {
    form_ = Png(file_, content_).form();
  } else if (begins_with(content_, kJpegMagic)) {
    const Jpeg jpeg = open_jpeg();
    int width = 0, height = 0, sampling = 0, space = 0;
    if (tjDecompressHeader3(jpeg.get(), content_.data(), content_.size(), &width, &height, &sampling,
                            &space) != 0)
      reject_file(file_, fmt::format("the JPEG cannot be read ({})", tjGetErrorStr2(jpeg.get())), kAllowed);
    if (space == TJCS_CMYK || space == TJCS_YCCK)
      reject_file(file_, "the JPEG is in the colours of print (CMYK)", "grey or RGB");
    form_ = {width, height, space != TJCS_GRAY};
  } else {
    reject_file(file_, "the content is neither PNG nor JPEG", kAllowed);
  }
  if (form_.width > kLargestSide || form_.height > kLargestSide)
    reject_file(file_, fmt::format("the picture is {}", in_words(form_)),
                fmt::format("at most {} pixels in each direction", kLargestSide));
}

void PictureFile::append(bool colour, std::vector<std::uint8_t>& planes) const {
  const auto area = static_cast<std::size_t>(form_.width * form_.height);
  const std::size_t channels = colour ? 3 : 1;
  std::vector<std::uint8_t> pixels(area * channels);
  if (png_)
    decode_png(colour, pixels.data());
  else
    decode_jpeg(colour, pixels.data());
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (std::size_t i = 0; i < area; ++i) planes.push_back(pixels[i * channels + channel]);
  }
}

void PictureFile::decode_png(bool colour, std::uint8_t* pixels) const {
  Png(file_, content_).decode(colour, pixels);
}

void PictureFile::decode_jpeg(bool colour, std::uint8_t* pixels) const {
  const Jpeg jpeg = open_jpeg();
  // A stream that is cut off is only worth a warning to the library.
  const int flags = TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING;
  if (tjDecompress2(jpeg.get(), content_.data(), content_.size(), pixels, static_cast<int>(form_.width), 0,
                    static_cast<int>(form_.height), colour ? TJPF_RGB : TJPF_GRAY, flags) != 0)
    reject_file(file_, fmt::format("the JPEG cannot be read ({})", tjGetErrorStr2(jpeg.get())), kAllowed);
}

}  // namespace fedarena
