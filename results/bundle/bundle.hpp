#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/find_runs.hpp"

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

/// Whether that is a path in UTF-8 that stays below the folder it is put in, on any system.
bool is_bundle_name(const std::string& name);

inline constexpr const char* kManifestFile = "bundle.json";

/// The most that a bundle may unpack to, so that a hostile one fills no disk: 4 GiB.
inline constexpr std::int64_t kMostBundledBytes = std::int64_t{4} << 30;

/// Its JSON text, with a last line end.
std::string to_json_text(const Manifest& manifest);

/// Reads such a text. Anything else is an Error that names `file` and the field; so are names that would lie
/// outside of the folder that the bundle is unpacked to, names that come twice, and more bytes than a bundle
/// may hold.
Manifest parse_manifest(std::string_view text, const std::string& file);

/// The files of a run directory that make up its record, as paths below it, sorted: experiment, environment,
/// rounds, ledger, scores, summary, synthetic sets. Without the seal, without what only helps to resume, and
/// without files that are none of fedarena's.
std::vector<std::string> record_files(const std::filesystem::path& run);

/// What `write_bundle` wrote.
struct BundleSize {
  std::size_t files = 0;   ///< without the manifest
  std::int64_t bytes = 0;  ///< of the archive
};

/// Packs finished runs into one archive (tar, gzip) with a manifest of their files' digests: all of each run
/// directory but what only helps to resume, with a seal of what is packed. The same runs give the same bytes.
/// `names`: the folder of each in the bundle. A run that is broken or unfinished, or that is not as its seal
/// has it, is an Error, and nothing is written.
BundleSize write_bundle(std::span<const FoundRun> runs, std::span<const std::string> names,
                        const std::filesystem::path& file);

/// Unpacks a bundle into `folder`, one run directory below it for each of its runs, and compares every file
/// with the manifest. Throws Error when it is not a bundle, is damaged or cut off, holds a file that the
/// manifest does not list or lacks one that it does, and Interrupted once `stop` is set; what was unpacked by
/// then is left.
Manifest unpack_bundle(const std::filesystem::path& file, const std::filesystem::path& folder,
                       const std::atomic<bool>* stop = nullptr);

/// In what two run directories were made by different builds or machines, as far as that can change a bit of
/// a result: program, compiler, LibTorch, BLAS, processor, device, GPU, and the plugin of the run's
/// algorithm. One line each, "commit 0123abc, now 4567def"; none: the same build. What an older record does
/// not say counts as different. A record that cannot be read is an Error.
std::vector<std::string> build_differences(const std::filesystem::path& recorded,
                                           const std::filesystem::path& replayed);

/// One value of a record that came out otherwise when its run was run again.
struct RecordDifference {
  std::string file = {};                     ///< below the run directory
  std::int64_t round = 0;                    ///< 0: not of one round
  std::string field = {};                    ///< empty: the file as a whole
  std::string recorded = {}, replayed = {};  ///< as JSON writes them; "missing" where there is none

  bool operator==(const RecordDifference&) const = default;
};

/// Compares two run directories bit by bit: every field of rounds and summary but the seconds, the point of a
/// grid and the tuning, and every byte of ledger, clients' scores and synthetic sets. The rounds come first,
/// in order. A record that cannot be read is an Error.
std::vector<RecordDifference> record_differences(const std::filesystem::path& recorded,
                                                 const std::filesystem::path& replayed);

/// "rounds.jsonl: round 3: test_accuracy was 0.5, came out as 0.25".
std::string describe(const RecordDifference& difference);

}  // namespace fedarena::results
