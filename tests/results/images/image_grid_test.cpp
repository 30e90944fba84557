#include "results/images/image_grid.hpp"

#include <limits>

#include "tests/matchers.hpp"
#include "tests/results/images/decoded_png.hpp"

namespace fedarena::results {
namespace {

// Grey images of one pixel with these labels; image i has the shade i.
LabelledImages points(const std::vector<std::int64_t>& labels) {
  LabelledImages images{.channels = 1, .height = 1, .width = 1, .pixels = {}, .labels = labels};
  for (std::size_t i = 0; i < labels.size(); ++i) images.pixels.push_back(static_cast<float>(i) / 255);
  return images;
}

TEST(ImageGrid, GivesEveryClassARowInAscendingOrder) {
  const Raster grid = image_grid(points({7, 0, 7, 3, 0, 7}), 1);
  // 3 tiles of 1 pixel and 2 gaps of 2, in both directions.
  ASSERT_EQ(grid.width, 7);
  ASSERT_EQ(grid.height, 7);
  EXPECT_EQ(grid.at(0, 0, 0), 1);
  EXPECT_EQ(grid.at(0, 3, 0), 4);
  EXPECT_EQ(grid.at(0, 6, 0), 255) << "an empty place";
  EXPECT_EQ(grid.at(3, 0, 0), 3);
  EXPECT_EQ(grid.at(6, 0, 0), 0);
  EXPECT_EQ(grid.at(6, 3, 0), 2);
  EXPECT_EQ(grid.at(6, 6, 0), 5);
  EXPECT_EQ(grid.at(1, 0, 0), 255) << "a gap";
  EXPECT_EQ(grid.at(0, 2, 0), 255) << "a gap";
}

TEST(ImageGrid, WrapsAClassAfterTwentyImages) {
  std::vector<std::int64_t> labels(41, 2);
  labels.push_back(9);
  const Raster grid = image_grid(points(labels), 1);
  EXPECT_EQ(grid.width, 20 + 19 * 2);
  EXPECT_EQ(grid.height, 4 + 3 * 2);
  EXPECT_EQ(grid.at(0, 57, 0), 19);
  EXPECT_EQ(grid.at(3, 0, 0), 20);
  EXPECT_EQ(grid.at(6, 0, 0), 40);
  EXPECT_EQ(grid.at(6, 3, 0), 255);
  EXPECT_EQ(grid.at(9, 0, 0), 41);
}

TEST(ImageGrid, ScalesClipsAndKeepsColours) {
  // One image of 2 x 3 pixels; its channels begin at 0.0, 0.25 and 0.5.
  LabelledImages images{.channels = 3, .height = 2, .width = 3, .pixels = {}, .labels = {0, 0}};
  for (int i = 0; i < 18; ++i) images.pixels.push_back(0.25F * static_cast<float>(i / 6));
  for (int i = 0; i < 18; ++i) images.pixels.push_back(1);
  images.pixels[1] = -3;
  images.pixels[2] = 1.5;
  images.pixels[3] = std::numeric_limits<float>::quiet_NaN();
  images.pixels[4] = std::numeric_limits<float>::infinity();
  images.pixels[5] = 0.5F / 255 + 1e-5F;
  const Raster grid = decoded_png(to_png(image_grid(images, 4)));
  ASSERT_EQ(grid.channels, 3);
  ASSERT_EQ(grid.width, 2 * 12 + 2);
  ASSERT_EQ(grid.height, 8);
  for (const std::int64_t y : {0, 3}) {
    for (const std::int64_t x : {0, 3}) {
      EXPECT_EQ(grid.at(y, x, 0), 0);
      EXPECT_EQ(grid.at(y, x, 1), 64);
      EXPECT_EQ(grid.at(y, x, 2), 128);
    }
  }
  EXPECT_EQ(grid.at(0, 4, 0), 0) << "below 0";
  EXPECT_EQ(grid.at(3, 11, 0), 255) << "above 1";
  EXPECT_EQ(grid.at(4, 0, 0), 0) << "no number";
  EXPECT_EQ(grid.at(4, 4, 0), 255) << "infinite";
  EXPECT_EQ(grid.at(7, 11, 0), 1) << "rounded";
  EXPECT_EQ(grid.at(7, 12, 0), 255) << "a gap";
  EXPECT_EQ(grid.at(7, 14, 1), 255) << "the second image";
}

TEST(ImageGrid, SurvivesAPng) {
  LabelledImages images{.channels = 1, .height = 16, .width = 16, .pixels = {}, .labels = {4}};
  for (int i = 0; i < 256; ++i) images.pixels.push_back(static_cast<float>(i) / 255);
  const Raster grid = image_grid(images, 3);
  const Raster decoded = decoded_png(to_png(grid));
  EXPECT_EQ(decoded.channels, 1);
  EXPECT_EQ(decoded.width, 48);
  EXPECT_EQ(decoded.samples, grid.samples);
  EXPECT_EQ(decoded.at(47, 47, 0), 255);
  EXPECT_EQ(decoded.at(0, 3, 0), 1);
}

TEST(ImageGrid, ScalesTilesToAboutSixtyFourPixels) {
  const auto scale_of = [](std::int64_t height, std::int64_t width) {
    return default_scale({.channels = 1, .height = height, .width = width, .pixels = {}, .labels = {}});
  };
  EXPECT_EQ(scale_of(32, 32), 2);
  EXPECT_EQ(scale_of(28, 28), 2);
  EXPECT_EQ(scale_of(8, 16), 4);
  EXPECT_EQ(scale_of(64, 64), 1);
  EXPECT_EQ(scale_of(224, 224), 1);
  EXPECT_EQ(scale_of(1, 1), 64);
}

TEST(ImageGrid, RefusesPicturesThatNobodyCanOpen) {
  LabelledImages images{
      .channels = 1, .height = 300, .width = 300, .pixels = std::vector<float>(90'000), .labels = {0}};
  expect_refused(
      "the grid would have 19200 x 19200 pixels at 64 times the size of the images; allowed: at most "
      "268435456 pixels\n  Choose a smaller --scale",
      [&] { image_grid(images, 64); });
}

SyntheticSet set_of(std::vector<std::int64_t> shape, std::vector<std::int64_t> labels) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  const auto images = static_cast<std::int64_t>(labels.size());
  return {{std::move(shape), std::vector<float>(static_cast<std::size_t>(count))},
          {{images}, std::move(labels)}};
}

TEST(SyntheticImages, KnowTheirShape) {
  const LabelledImages images = as_images(set_of({2, 3, 4, 5}, {8, 6}), "folder");
  EXPECT_EQ(images.channels, 3);
  EXPECT_EQ(images.height, 4);
  EXPECT_EQ(images.width, 5);
  EXPECT_EQ(images.size(), 2U);
  EXPECT_EQ(images.image(1).data(), images.pixels.data() + 60);
  EXPECT_EQ(images.image(1).size(), 60U);
  EXPECT_EQ(as_images(set_of({4, 1, 1, 1}, {2, 1, 2, 2}), "folder").classes(),
            (std::vector<std::int64_t>{1, 2}));
}

TEST(SyntheticImages, AreRefusedWhenNoPictureCanShowThem) {
  const auto problem = [](const SyntheticSet& set) { return message_of([&] { as_images(set, "folder"); }); };
  EXPECT_THAT(problem(set_of({1, 2, 4, 4}, {0})), HasSubstr("of the shape [1, 2, 4, 4]"));
  EXPECT_THAT(problem(set_of({0, 1, 4, 4}, {})), HasSubstr("of the shape [0, 1, 4, 4]"));
  EXPECT_THAT(problem(set_of({1, 1, 0, 4}, {3})), HasSubstr("of the shape [1, 1, 0, 4]"));
  EXPECT_THAT(problem({{{1, 1, 1, 1}, std::vector<std::int64_t>{1}}, {{1}, std::vector<std::int64_t>{1}}}),
              HasSubstr("the synthetic inputs are int64"));
  EXPECT_THAT(problem(set_of({2, 1, 4, 4}, {0})),
              HasSubstr("the labels are int64 of the shape [1]; allowed: a class for each image: int64 [2]"));
  EXPECT_THAT(problem({{{1, 1, 1, 1}, std::vector<float>{1}}, {{1, 2}, std::vector<float>{0, 1}}}),
              HasSubstr("the labels are float32 of the shape [1, 2]"));
}

}  // namespace
}  // namespace fedarena::results
