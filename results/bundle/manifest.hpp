#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fedarena::results {

/// One file of a run in a bundle.
struct BundledFile {
  std::string name;  ///< below the run's folder: "rounds.jsonl", "synthetic/round-0001/images.npy"
  std::int64_t bytes = 0;
  std::string sha256;  ///< of its content: 64 hexadecimal digits

  bool operator==(const BundledFile&) const = default;
};

/// One run of a bundle.
struct BundledRun {
  std::string folder;  ///< its path below the bundle's runs: "fedavg-seed-1"
  std::vector<BundledFile> files;

  bool operator==(const BundledRun&) const = default;
};

/// What a bundle holds; its first file.
struct Manifest {
  std::vector<BundledRun> runs;

  bool operator==(const Manifest&) const = default;
};

inline constexpr const char* kManifestFile = "bundle.json";

/// The most that a bundle may unpack to, so that a hostile one fills no disk: 4 GiB.
inline constexpr std::int64_t kMostBundledBytes = std::int64_t{4} << 30;

/// Its JSON text, with a last line end.
std::string to_json_text(const Manifest& manifest);

/// Reads such a text. Anything else is an Error that names `file` and the field; so are names that would lie
/// outside of the folder that the bundle is unpacked to, names that come twice, and more bytes than a bundle
/// may hold.
Manifest parse_manifest(std::string_view text, const std::string& file);

}  // namespace fedarena::results
