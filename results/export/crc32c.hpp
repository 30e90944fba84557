#pragma once

#include <cstdint>
#include <string_view>

namespace fedarena::results {

/// The CRC-32C (Castagnoli) of these bytes, as RFC 3720 defines it: polynomial 0x1EDC6F41, reflected, begun
/// and ended with all bits inverted.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace fedarena::results
