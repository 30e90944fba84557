// What users bring: tables and pictures.
#include <png.h>
#include <turbojpeg.h>

#include "datasets/registry.hpp"
#include "tests/fuzz/data/data_targets.hpp"
#include "tests/fuzz/driver/memory_file.hpp"
#include "tests/scratch.hpp"

namespace fedarena::fuzz {
namespace {

void read_table(std::string_view bytes) {
  const MemoryFile file(bytes);
  load_dataset("csv", {{"path", file.path()}, {"target", "y"}}, {});
}

// The file is of one class and stands for both parts; a sound picture is the other class.
std::string grey_png(unsigned side, png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = format;
  image.width = image.height = side;
  const std::string pixels(PNG_IMAGE_SIZE(image), '\x40');
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string content(size, '\0');
  require(png_image_write_to_memory(&image, content.data(), &size, 0, pixels.data(), 0, nullptr) != 0,
          "no PNG");
  content.resize(size);
  return content;
}

std::string jpeg(int side, int format) {
  const tjhandle compressor = tjInitCompress();
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  const std::string pixels(static_cast<std::size_t>(side * side * tjPixelSize[format]), '\x40');
  const int failed =
      tjCompress2(compressor, reinterpret_cast<const unsigned char*>(pixels.data()), side, 0, side, format,
                  &buffer, &size, format == TJPF_GRAY ? TJSAMP_GRAY : TJSAMP_420, 90, 0);
  require(failed == 0, "no JPEG");
  std::string content(reinterpret_cast<const char*>(buffer), size);
  tjFree(buffer);
  tjDestroy(compressor);
  return content;
}

void read_picture(std::string_view bytes) {
  static const std::string kSound = grey_png(4, PNG_FORMAT_GRAY);
  const test::Scratch scratch;
  for (const char* part : {"train", "test"}) {
    scratch.write(std::filesystem::path(part) / "a/sound.png", kSound);
    scratch.write(std::filesystem::path(part) / "b/other.jpg", bytes);
  }
  load_dataset("image-folder", {{"path", scratch.path().string()}, {"colour", "grey"}}, {});
}

}  // namespace

std::vector<Target> own_targets() {
  return {{.name = "csv",
           .read = read_table,
           .seeds = {"a,b,y\n1,x,0\n2.5,\"y \"\"z\",1\n3,x,0\n4,y,1\n5,x,0\n",
                     "a,y\r\n1,cat\r\n2,dog\r\n3,cat\r\n4,dog\r\n5,cat\r\n6,dog\r\n"},
           .words = {"\"", "\"\"", ",,", "\r", "y", "1,234.5", "1.5", "True", "NA", "\t", "|", "sep=;\n"}},
          {.name = "picture",
           .read = read_picture,
           .seeds = {grey_png(4, PNG_FORMAT_GRAY), grey_png(4, PNG_FORMAT_RGBA), jpeg(4, TJPF_GRAY),
                     jpeg(4, TJPF_RGB)},
           .words = {"IHDR", "IDAT", "IEND", "PLTE", "tRNS", "eXIf", "gAMA", "iCCP", "Exif\0\0",
                     "\xff\xd8\xff", "\xff\xc0", "\xff\xda", "\xff\xe1", "GIF89a", "RIFF", "MM\0*", "II*"}}};
}

std::vector<Target> targets() { return joined({own_targets(), published_targets(), message_targets()}); }

}  // namespace fedarena::fuzz
