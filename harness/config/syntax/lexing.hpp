#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fedarena::config {

/// The text, or its first `bytes` bytes or fewer, cut between characters, and "...".
std::string shortened(std::string_view text, std::size_t bytes);

/// Throws Error for text that the TOML parser must not see: bytes that are no UTF-8, letters beyond ASCII
/// outside strings and comments, headers without a name, brackets of different kinds that close each other,
/// and keys of absurdly many parts. None of it is in a valid experiment.
void check_text(std::string_view text, const std::string& file);

}  // namespace fedarena::config
