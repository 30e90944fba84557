#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fedarena {

/// The PNG without chunks that say how its shades are to be shown (gamma, profiles), which a decoder would
/// apply. What is damaged is left for the decoder to refuse.
std::vector<std::uint8_t> without_colour_management(std::span<const std::uint8_t> png);

/// How a PNG or JPEG file is to be turned for looking at it, as EXIF numbers it: 1 (as it is) to 8; 1 where
/// the file does not say so.
int orientation_of(std::span<const std::uint8_t> content, bool png);

}  // namespace fedarena
