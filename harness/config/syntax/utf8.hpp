#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fedarena::config {

/// The offset of the first byte that is not part of well-formed UTF-8 (RFC 3629), or the text's size.
std::size_t first_invalid_utf8(std::string_view text);

/// The text, or its first `bytes` bytes or fewer, cut between characters, and "...".
std::string shortened(std::string_view text, std::size_t bytes);

}  // namespace fedarena::config
