#include "results/images/image_grid.hpp"

#include <algorithm>
#include <cmath>
#include <png.h>

#include "fedarena/base/error.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kGap = 2;
constexpr std::size_t kMostInARow = 20;
constexpr double kTile = 64;
constexpr std::int64_t kMostPixels = std::int64_t{1} << 28;
constexpr std::uint8_t kWhite = 255;

std::uint8_t shade(float pixel) {
  // Written so that what is not a number becomes black.
  const float clipped = pixel > 0 ? std::min(pixel, 1.0F) : 0.0F;
  return static_cast<std::uint8_t>(std::lround(255 * clipped));
}

// The positions of the images in each row of tiles.
std::vector<std::vector<std::size_t>> rows_of(const LabelledImages& images) {
  std::vector<std::vector<std::size_t>> rows;
  for (const std::int64_t label : images.classes()) {
    rows.emplace_back();
    for (std::size_t index = 0; index < images.size(); ++index) {
      if (images.labels[index] != label) continue;
      if (rows.back().size() == kMostInARow) rows.emplace_back();
      rows.back().push_back(index);
    }
  }
  return rows;
}

// Pixels that `tiles` of this size take with the gaps between them.
std::int64_t extent(std::size_t tiles, std::int64_t size) {
  return static_cast<std::int64_t>(tiles) * (size + kGap) - kGap;
}

// Draws an image with its upper left corner at (top, left).
void draw(Raster& raster, const LabelledImages& images, std::size_t index, std::int64_t scale,
          std::int64_t top, std::int64_t left) {
  const std::span<const float> image = images.image(index);
  for (std::int64_t y = 0; y < images.height * scale; ++y) {
    for (std::int64_t x = 0; x < images.width * scale; ++x) {
      for (std::int64_t channel = 0; channel < images.channels; ++channel) {
        const std::int64_t from = (channel * images.height + y / scale) * images.width + x / scale;
        const std::int64_t to = ((top + y) * raster.width + left + x) * raster.channels + channel;
        raster.samples[static_cast<std::size_t>(to)] = shade(image[static_cast<std::size_t>(from)]);
      }
    }
  }
}

}  // namespace

std::int64_t default_scale(const LabelledImages& images) {
  const auto longer = static_cast<double>(std::max(images.height, images.width));
  return std::max<std::int64_t>(1, std::lround(kTile / longer));
}

Raster image_grid(const LabelledImages& images, std::int64_t scale) {
  FEDARENA_CHECK(scale, >=, 1);
  const std::vector<std::vector<std::size_t>> rows = rows_of(images);
  std::size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  const std::int64_t tile_width = images.width * scale;
  const std::int64_t tile_height = images.height * scale;
  Raster raster{.width = extent(columns, tile_width),
                .height = extent(rows.size(), tile_height),
                .channels = images.channels,
                .samples = {}};
  if (raster.width > kMostPixels / raster.height) {
    throw Error(Complaint{
        .found = fmt::format("the grid would have {} x {} pixels at {} times the size of the images",
                             raster.width, raster.height, scale),
        .allowed = fmt::format("at most {} pixels", kMostPixels),
        .remedy = "Choose a smaller --scale"});
  }
  raster.samples.assign(static_cast<std::size_t>(raster.width * raster.height * raster.channels), kWhite);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < rows[row].size(); ++column) {
      draw(raster, images, rows[row][column], scale, static_cast<std::int64_t>(row) * (tile_height + kGap),
           static_cast<std::int64_t>(column) * (tile_width + kGap));
    }
  }
  return raster;
}

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
