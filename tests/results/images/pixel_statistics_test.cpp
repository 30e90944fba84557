#include "results/images/pixel_statistics.hpp"

#include <limits>
#include <numeric>

#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

constexpr float kInfinitePixel = std::numeric_limits<float>::infinity();
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

TEST(PixelStatistics, CountsWhatClippingChanges) {
  // Half a shade is 0.00196: rounding to 8 bits would have hidden less than that anyway.
  const std::vector<float> pixels{0, 1, 0.5, 1.001F, -0.0019F, -0.25, 1.003F, 2};
  const PixelStatistics statistics = pixel_statistics(pixels);
  EXPECT_EQ(statistics.smallest, -0.25);
  EXPECT_EQ(statistics.largest, 2);
  EXPECT_DOUBLE_EQ(statistics.clipped, 3.0 / 8);
  EXPECT_EQ(statistics.not_numbers, 0);
}

TEST(PixelStatistics, LeavesOutWhatIsNoNumber) {
  const PixelStatistics statistics = pixel_statistics(std::vector{kNoNumber, 0.5F, kInfinitePixel, 0.25F});
  EXPECT_EQ(statistics.smallest, 0.25);
  EXPECT_EQ(statistics.largest, kInfinitePixel);
  EXPECT_EQ(statistics.clipped, 0.25);
  EXPECT_EQ(statistics.not_numbers, 0.25);
  const PixelStatistics none = pixel_statistics(std::vector{kNoNumber});
  EXPECT_FALSE(none.smallest || none.largest);
  EXPECT_EQ(none.not_numbers, 1);
}

TEST(PixelHistogram, SharesOutTheNumbersBetweenTheQuantiles) {
  // 0, 1, ..., 1000 in another order: the quantiles are 1 and 999, the bins 9.98 wide.
  std::vector<float> pixels;
  for (int i = 0; i < 1001; ++i) pixels.push_back(static_cast<float>(i * 8 % 1001));
  const PixelHistogram histogram = pixel_histogram(pixels);
  ASSERT_EQ(histogram.shares.size(), 100U);
  ASSERT_EQ(histogram.edges.size(), 101U);
  for (std::size_t edge = 0; edge <= 100; ++edge) {
    EXPECT_NEAR(histogram.edges[edge], 1 + 9.98 * static_cast<double>(edge), 1e-9);
  }
  for (std::size_t bin = 0; bin < 100; ++bin) {
    int expected = 0;
    for (int value = 1; value <= 999; ++value) {
      const bool last = bin == 99 && value == 999;
      expected +=
          (value >= 1 + 9.98 * static_cast<double>(bin) && value < 1 + 9.98 * static_cast<double>(bin + 1)) ||
                  last
              ? 1
              : 0;
    }
    EXPECT_NEAR(histogram.shares[bin], expected / 1001.0, 1e-12) << bin;
  }
  EXPECT_NEAR(std::accumulate(histogram.shares.begin(), histogram.shares.end(), 0.0), 999 / 1001.0, 1e-12);
}

TEST(PixelHistogram, InterpolatesQuantiles) {
  // Of 3 numbers, 0.001 lies 0.002 of the way from the first to the second.
  const PixelHistogram histogram = pixel_histogram(std::vector{10.0F, 0.0F, 30.0F});
  EXPECT_NEAR(histogram.edges.front(), 0.02, 1e-9);
  EXPECT_NEAR(histogram.edges.back(), 30 - 0.002 * 20, 1e-9);
  EXPECT_NEAR(std::accumulate(histogram.shares.begin(), histogram.shares.end(), 0.0), 1.0 / 3, 1e-12);
}

TEST(PixelHistogram, WidensASingleValue) {
  const PixelHistogram histogram = pixel_histogram(std::vector{0.25F, 0.25F, kNoNumber, 0.25F});
  EXPECT_DOUBLE_EQ(histogram.edges.front(), -0.25);
  EXPECT_DOUBLE_EQ(histogram.edges.back(), 0.75);
  EXPECT_DOUBLE_EQ(histogram.shares[49] + histogram.shares[50], 0.75);
}

TEST(PixelHistogram, RefusesWhatHasNoFiniteRange) {
  for (const std::vector<float>& pixels :
       {std::vector{kNoNumber}, std::vector{1.0F, kInfinitePixel}, std::vector<float>{}}) {
    expect_refused("no histogram of the pixels can be made", [&] { pixel_histogram(pixels); });
  }
}

}  // namespace
}  // namespace fedarena::results
