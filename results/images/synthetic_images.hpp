#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/images/synthetic_folder.hpp"

namespace fedarena::results {

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
