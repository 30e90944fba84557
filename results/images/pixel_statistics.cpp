#include "results/images/pixel_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "fedarena/base/error.hpp"

namespace fedarena::results {
namespace {

constexpr std::size_t kBins = 100;
constexpr double kTail = 0.001;
constexpr double kHalfShade = 0.5 / 255;

// Of ascending numbers, at least one.
double quantile(const std::vector<float>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double low = sorted[below];
  const double high = sorted[above];
  return low == high ? low : low + (position - static_cast<double>(below)) * (high - low);
}

}  // namespace

PixelStatistics pixel_statistics(std::span<const float> pixels) {
  PixelStatistics statistics;
  std::size_t clipped = 0, not_numbers = 0;
  for (const float pixel : pixels) {
    const double value = pixel;
    if (std::isnan(value)) {
      ++not_numbers;
      continue;
    }
    if (value < -kHalfShade || value > 1 + kHalfShade) ++clipped;
    statistics.smallest = std::min(statistics.smallest.value_or(value), value);
    statistics.largest = std::max(statistics.largest.value_or(value), value);
  }
  const auto all = static_cast<double>(std::max<std::size_t>(pixels.size(), 1));
  statistics.clipped = static_cast<double>(clipped) / all;
  statistics.not_numbers = static_cast<double>(not_numbers) / all;
  return statistics;
}

PixelHistogram pixel_histogram(std::span<const float> pixels) {
  std::vector<float> sorted;
  std::ranges::copy_if(pixels, std::back_inserter(sorted), [](float pixel) { return !std::isnan(pixel); });
  std::ranges::sort(sorted);
  double low = sorted.empty() ? NAN : quantile(sorted, kTail);
  double high = sorted.empty() ? NAN : quantile(sorted, 1 - kTail);
  if (!std::isfinite(low) || !std::isfinite(high)) {
    throw Error::of(
        "no histogram of the pixels can be made: more than 0.1 % of them are infinite, or none is a number");
  }
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  PixelHistogram histogram{.edges = {}, .shares = std::vector<double>(kBins)};
  for (std::size_t edge = 0; edge <= kBins; ++edge) {
    histogram.edges.push_back(std::lerp(low, high, static_cast<double>(edge) / kBins));
  }
  for (const double value : sorted) {
    if (value < low || value > high) continue;
    const auto above = std::upper_bound(histogram.edges.begin(), histogram.edges.end(), value);
    const auto bin = static_cast<std::size_t>(above - histogram.edges.begin()) - 1;
    histogram.shares[std::min(bin, kBins - 1)] += 1;
  }
  for (double& share : histogram.shares) share /= static_cast<double>(pixels.size());
  return histogram;
}

}  // namespace fedarena::results
