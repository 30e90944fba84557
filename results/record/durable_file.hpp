#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "fedarena/base/file.hpp"

namespace fedarena::results {

using fedarena::fail_on_file;
using fedarena::read_whole_file;

/// Makes `bytes` the content of `file`, all or nothing: they are written beside it, brought to disk, and
/// renamed over it. When that fails, the old content stays and an Error says why and what to do. What is
/// there and no regular file (a folder, a device) is an Error.
void replace_file(const std::filesystem::path& file, std::string_view bytes);

/// A file and what is to become its content.
using FileContent = std::pair<std::filesystem::path, std::string>;

/// The same of several files, each of another name, and the folders they lie in, which need not exist: where
/// one cannot be written, none is, and no new folder stays.
void replace_files(std::span<const FileContent> files);

/// The name under which replace_file() and replace_end() write what is to become `file`. A kill may leave it.
std::filesystem::path partial_of(const std::filesystem::path& file);

/// The first half of replace_file(): the bytes lie beside `file`, on disk, and rename_durably() of
/// partial_of() makes them its content. For several files that change together.
void prepare_file(const std::filesystem::path& file, std::string_view bytes);

/// Removes a file, if it is there, and brings that to disk. An Error says why it cannot.
void remove_durably(const std::filesystem::path& file);

/// Makes a file with these bytes and brings it to disk; false, and nothing changes, where there is something
/// of that name already. Of several that try at once, on whatever machines, one succeeds.
bool create_file(const std::filesystem::path& file, std::string_view bytes);

/// Gives a file or folder another name in the same folder and brings that to disk. An Error says why it
/// cannot.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Cuts an existing file of `size` bytes to `keep` bytes, adds `bytes` and brings it to disk. When that
/// fails, what was kept stays as it was and an Error says why. A file of another size is an Error: two
/// writers share it.
void rewrite_end(const std::filesystem::path& file, std::uintmax_t size, std::uintmax_t keep,
                 std::string_view bytes);

/// The same, all or nothing: at any moment the file ends as before or as it is to end.
void replace_end(const std::filesystem::path& file, std::uintmax_t size, std::uintmax_t keep,
                 std::string_view bytes);

}  // namespace fedarena::results
