#pragma once

#include <string>
#include <string_view>

namespace fedarena::config {

/// Throws Error for text that the TOML parser must not see: bytes that are no UTF-8, letters beyond ASCII
/// outside strings and comments, headers without a name, brackets of different kinds that close each other,
/// and keys of absurdly many parts. None of it is in a valid experiment.
void check_text(std::string_view text, const std::string& file);

}  // namespace fedarena::config
