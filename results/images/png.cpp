#include "results/images/png.hpp"

#include <png.h>

#include "fedarena/base/error.hpp"

namespace fedarena::results {

std::string to_png(const Raster& raster) {
  FEDARENA_CHECK(raster.samples.size(), ==,
                 static_cast<std::size_t>(raster.width * raster.height * raster.channels));
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(raster.width);
  image.height = static_cast<png_uint_32>(raster.height);
  image.format = raster.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  // The first call tells the size.
  std::string bytes;
  png_alloc_size_t size = 0;
  bool written = png_image_write_to_memory(&image, nullptr, &size, 0, raster.samples.data(), 0, nullptr) != 0;
  if (written) {
    bytes.resize(size);
    written =
        png_image_write_to_memory(&image, bytes.data(), &size, 0, raster.samples.data(), 0, nullptr) != 0;
  }
  if (!written)
    throw Error::of("the picture of {} x {} pixels: {}", raster.width, raster.height, image.message);
  return bytes;
}

}  // namespace fedarena::results
