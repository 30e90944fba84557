#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string_view>

namespace fedarena {

/// Where a section's bytes lie in its file.
struct ElfSection {
  std::uint64_t offset, size;
};

/// The section of data with that name in a shared library that this machine can load; none where there is
/// none. Reads the headers as data, and nothing beyond the file's end. Error, worded as a plugin's report,
/// when the file is not such a library or when a table, section or program segment does not lie inside it.
std::optional<ElfSection> find_elf_section(std::istream& file, std::string_view name);

}  // namespace fedarena
