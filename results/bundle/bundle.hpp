#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "results/bundle/manifest.hpp"
#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// What `write_bundle` wrote.
struct BundleSize {
  std::size_t files = 0;   ///< without the manifest
  std::int64_t bytes = 0;  ///< of the archive
};

/// Packs finished runs into one archive (tar, gzip) with a manifest of their files' digests: all of each run
/// directory but what only helps to resume. The same runs give the same bytes. `names`: the folder of each in
/// the bundle. A run that is broken or unfinished is an Error, and nothing is written.
BundleSize write_bundle(std::span<const FoundRun> runs, std::span<const std::string> names,
                        const std::filesystem::path& file);

/// Unpacks a bundle into `folder`, one run directory below it for each of its runs, and compares every file
/// with the manifest. Throws Error when it is no bundle, is damaged or cut off, holds a file that the
/// manifest does not list or lacks one that it does; what was unpacked by then is left.
Manifest unpack_bundle(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace fedarena::results
