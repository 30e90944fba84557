#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"

namespace fedarena {

/// What one file of the binary version of CIFAR-10 or CIFAR-100 has to be.
struct CifarLayout {
  std::int64_t records = 10'000;
  std::int64_t side = 32;  ///< of an image, in pixels; an image has three channels
  /// One number of classes for each label byte that a record begins with; a label lies in [0, classes).
  std::vector<std::int64_t> classes = {10};
  std::size_t label = 0;    ///< which of the label bytes becomes the target
  std::string sha256 = {};  ///< of the uncompressed file; empty: any content of the right form
};

/// One file (plain or gzip) of records: the label bytes, then the red, the green and the blue plane, row by
/// row. Gives uint8 [records, 3, side, side] and int64 [records]. Throws Error on too few or too many bytes,
/// a label out of range, or another SHA-256, in this order. Format: www.cs.toronto.edu/~kriz/cifar.html,
/// "Binary version".
Examples read_cifar(const std::filesystem::path& file, const CifarLayout& layout);

}  // namespace fedarena
