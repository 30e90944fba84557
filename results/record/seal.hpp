#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>

#include "results/record/run_directory.hpp"

namespace fedarena::results {

inline constexpr const char* kSealFile = "seal.json";
/// How much an unfinished run has charged; goes with its end, like `client-states.bin`.
inline constexpr const char* kChargedFile = "charged.json";

/// The SHA-256 of files of a run directory, by their paths below it, such as
/// "synthetic/round-0001/images.npy". A finished run has one of all its files but those that attacks on it
/// write afterwards, each of which says by itself which run it is about. It shows changes; it proves nothing
/// against whoever makes a new one.
using Seal = std::map<std::string, std::string>;

/// What stands in the place of a digest for a link, a pipe or anything else that is not a regular file, which
/// fedarena itself never writes.
inline constexpr const char* kNotRegular = "not a regular file";
/// The same of a file beyond `kMostBytesOfFile`, which nobody hashes.
inline constexpr const char* kTooLarge = "larger than 64 GiB";

/// Files without which nothing is a finished run.
inline constexpr std::array kNeededFiles = {kExperimentFile, kEnvironmentFile, kRoundsFile, kLedgerFile,
                                            kSummaryFile};
/// Whether a file of that name, in a run directory, is part of the run's record: not what only helps to
/// resume, and not what people leave there.
bool is_record(const std::string& name);

/// The digests of all files at and below a run directory as they are now, but for the seal itself, what
/// attacks wrote and what goes with the end of a run. An Error names what cannot be
/// read.
Seal current_seal(const std::filesystem::path& run);

/// Its JSON text, a line for each file.
std::string to_json_text(const Seal& seal);

/// Whether a run directory is that of a run which was killed between the two steps of its end: sealed, and
/// with the summary that the seal is about beside the one that it was to replace. `recorded`: the seal;
/// `now`: that of the files as they are.
bool sealed_at_its_end(const std::filesystem::path& run, const Seal& recorded, const Seal& now);

/// That of a run directory. Any text that to_json_text() does not write is an Error that names the file.
Seal read_seal(const std::filesystem::path& run);

}  // namespace fedarena::results
