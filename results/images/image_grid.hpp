#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/images/synthetic_folder.hpp"

namespace fedarena::results {

/// A picture of 8-bit samples, row by row.
struct Raster {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 1;          ///< 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> samples;  ///< [height, width, channels]

  /// One sample.
  std::uint8_t at(std::int64_t y, std::int64_t x, std::int64_t channel) const {
    return samples[static_cast<std::size_t>((y * width + x) * channels + channel)];
  }
};

/// The integer factor that brings the longer side of an image nearest to 64 pixels; at least 1.
std::int64_t default_scale(const LabelledImages& images);

/// All images, each pixel clipped to [0, 1] (no number counts as 0) and shown as a square of `scale` pixels.
/// Every class begins a row of its own, in ascending order, and wraps after 20 images; 2 white pixels lie
/// between tiles. An Error when the picture would have more than 2^28 pixels.
Raster image_grid(const LabelledImages& images, std::int64_t scale);

/// A picture as the bytes of a PNG file.
std::string to_png(const Raster& raster);

}  // namespace fedarena::results
