#pragma once

#include <string>

#include "results/images/image_grid.hpp"

namespace fedarena::results {

/// A picture as the bytes of a PNG file.
std::string to_png(const Raster& raster);

}  // namespace fedarena::results
