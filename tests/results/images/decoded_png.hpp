#pragma once

#include <png.h>
#include <string>

#include <gtest/gtest.h>

#include "results/images/image_grid.hpp"

namespace fedarena::results {

/// The picture in the bytes of a PNG file, as libpng reads them; a failure of the test when it cannot.
inline Raster decoded_png(const std::string& bytes) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  Raster raster;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    ADD_FAILURE() << image.message;
    return raster;
  }
  raster.channels = (image.format & PNG_FORMAT_FLAG_COLOR) != 0 ? 3 : 1;
  raster.width = image.width;
  raster.height = image.height;
  image.format = raster.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  raster.samples.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, raster.samples.data(), 0, nullptr) == 0)
    ADD_FAILURE() << image.message;
  return raster;
}

}  // namespace fedarena::results
