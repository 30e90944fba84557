#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "datasets/dataset.hpp"

namespace fedarena {

/// What one file of SVHN's cropped digits has to be.
struct SvhnLayout {
  std::int64_t images = 0;
  std::int64_t side = 32;   ///< of an image, in pixels; an image has three channels
  std::string sha256 = {};  ///< of the file; empty: any content of the right form
};

/// One MATLAB 5 file with `X`, uint8 [side, side, 3, images], and `y`, uint8 [images, 1], where label 10
/// stands for the digit 0. Gives uint8 [images, 3, side, side] and int64 [images], the digits. Throws Error
/// on another SHA-256, on a file that is not MATLAB's, on a variable that is missing, damaged or of another
/// form, and on a label out of range, in this order. Format: ufldl.stanford.edu/housenumbers, "Cropped
/// Digits".
Examples read_svhn(const std::filesystem::path& file, const SvhnLayout& layout);

}  // namespace fedarena
