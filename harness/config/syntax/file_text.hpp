#pragma once

#include <filesystem>
#include <string>

namespace fedarena::config {

/// What the file holds. Throws Error when it is missing, a folder, unreadable or over 10 MB.
std::string file_text(const std::filesystem::path& file);

}  // namespace fedarena::config
