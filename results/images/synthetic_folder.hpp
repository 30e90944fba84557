#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "results/images/npy_file.hpp"

namespace fedarena::results {

inline constexpr const char* kSyntheticFolder = "synthetic";

/// What a round's model was trained on in place of examples.
struct SyntheticSet {
  Array images;  ///< [n, ...] in pixel units: 0 to 1 in the data set, here also outside
  Array labels;  ///< [n]

  bool operator==(const SyntheticSet&) const = default;
};

/// The synthetic sets of some rounds in a run directory, `synthetic/round-0007/{images,labels}.npy`. A
/// round's folder is there with both files or not at all. A write that fails throws an Error that names the
/// file.
class SyntheticFolder {
 public:
  /// `run`: the run directory. Nothing is made before the first write.
  explicit SyntheticFolder(const std::filesystem::path& run) : path_(run / kSyntheticFolder) {}

  /// The rounds that are kept, ascending.
  std::vector<std::int64_t> rounds() const;
  /// The set of a kept round; an Error when a file is missing or malformed.
  SyntheticSet read(std::int64_t round) const;
  /// Keeps a round's set and brings it to disk, in place of an older one of the same round.
  void write(std::int64_t round, const SyntheticSet& set) const;
  /// Drops the rounds after `last_round_to_keep`.
  void drop_after(std::int64_t last_round_to_keep) const;
  /// Drops all but the latest round and those of the series 1, 2, 5, 10, 20, 50, ..., so that a run of any
  /// length takes little room.
  void thin() const;

  /// Where a round's files are.
  std::filesystem::path folder_of(std::int64_t round) const;

 private:
  void drop(std::int64_t round) const;
  void remove_unfinished() const;

  std::filesystem::path path_;
};

/// Images with a class each.
struct LabelledImages {
  std::int64_t channels = 0;  ///< 1 or 3
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<float> pixels;  ///< [n, channels, height, width]; black is 0, white is 1, others lie outside
  std::vector<std::int64_t> labels;  ///< [n]

  std::size_t size() const { return labels.size(); }
  /// One image, [channels, height, width].
  std::span<const float> image(std::size_t index) const;
  /// The classes that occur, ascending.
  std::vector<std::int64_t> classes() const;
};

/// The images of a synthetic set that was read from `folder`. An Error when it holds none, or when they are
/// not [n, 1 or 3, height, width] with a whole number each.
LabelledImages as_images(SyntheticSet set, const std::string& folder);

}  // namespace fedarena::results
