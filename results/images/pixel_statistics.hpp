#pragma once

#include <optional>
#include <span>
#include <vector>

namespace fedarena::results {

/// What clipping to [0, 1] hides. Every channel of every image counts as a pixel.
struct PixelStatistics {
  std::optional<double> smallest, largest;  ///< none when no pixel is a number
  double clipped = 0;      ///< the share of pixels further outside [0, 1] than half a shade of 255
  double not_numbers = 0;  ///< the share of pixels that are not numbers
};

PixelStatistics pixel_statistics(std::span<const float> pixels);

/// How often pixel values occur.
struct PixelHistogram {
  std::vector<double> edges;   ///< of the bins, ascending, one more than bins
  std::vector<double> shares;  ///< of all pixels, in each bin; what lies outside the bins is in none
};

/// 100 bins of equal width between the quantiles 0.001 and 0.999 (linear interpolation of order statistics)
/// of those pixels that are numbers; around a single value, bins from half below it to half above it. A value
/// on an edge belongs to the bin above it, on the last edge to the last bin. An Error when the quantiles are
/// not finite.
PixelHistogram pixel_histogram(std::span<const float> pixels);

}  // namespace fedarena::results
