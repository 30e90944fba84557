#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "datasets/published/published_files.hpp"

namespace fedarena {

/// What a publisher packs.
enum class Packing {
  kOneFile,  ///< one file, gzip or as it is
  kArchive,  ///< a tar archive, gzip or not, which holds the files in any folder
};

/// Takes the files `wanted` out of `packed` into `folder`: each is written beside its final place, compared
/// with its published size and SHA-256, brought to disk, and only then renamed over what was there. Names of
/// folders in an archive are ignored, and so are its other files. `source` is where `packed` came from, for
/// messages. Throws Error when a file is missing, damaged or not the published one; those before it are kept.
void unpack_published(const std::filesystem::path& packed, Packing packing,
                      std::span<const PublishedFile> wanted, const std::filesystem::path& folder,
                      const std::string& source);

}  // namespace fedarena
