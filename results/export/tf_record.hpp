#pragma once

#include <string>
#include <string_view>

namespace fedarena::results {

/// A record of a TFRecord file, as TensorFlow documents the format: the length in eight bytes, its masked
/// CRC-32C, the bytes, their masked CRC-32C.
std::string tf_record(std::string_view bytes);

}  // namespace fedarena::results
