#pragma once

#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace fedarena {

/// The content (of a large one, the first 64 KiB) of the section of that name in a shared library that this
/// machine can load; none where there is none. Reads the file as data, and nothing beyond its end. Error,
/// worded as a plugin's report, when it is not such a library or when a table, section or program segment
/// does not lie inside of it.
std::optional<std::string> elf_section(std::istream& file, std::string_view name);

}  // namespace fedarena
