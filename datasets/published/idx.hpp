#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <torch/types.h>

namespace fedarena {

/// What an IDX file of unsigned bytes has to be.
struct IdxLayout {
  std::vector<std::int64_t> shape;  ///< such as [60000, 28, 28] for images or [60000] for labels
  std::int64_t classes = 0;         ///< above 0: every byte is a label in [0, classes)
  std::string sha256;               ///< of the uncompressed file; empty: any content of the right form
};

/// The bytes of an IDX file (plain or gzip) as uint8 of `layout.shape`. The format is the one of the MNIST
/// page: big-endian words 0x0000'08dd with dd dimensions, then each dimension, then the bytes, last dimension
/// fastest. Throws Error on a wrong magic number, other dimensions, too few or too many bytes, a label out of
/// range, or another SHA-256, in this order.
torch::Tensor read_idx(const std::filesystem::path& file, const IdxLayout& layout);

}  // namespace fedarena
