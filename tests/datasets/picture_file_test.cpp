#include "datasets/own/picture_file.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "tests/datasets/made_pictures.hpp"

namespace fedarena {
namespace {

class Pictures : public ScratchFolder {
 protected:
  Bytes planes(const Bytes& content, bool colour) const {
    Bytes result;
    PictureFile(write("a-picture", content)).append(colour, result);
    return result;
  }
};

TEST_F(Pictures, OfPngComePlaneByPlane) {
  // Two pixels side by side: (1, 2, 3) and (4, 5, 6).
  const Bytes content = png(PNG_FORMAT_RGB, 2, 1, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(PictureFile(write("a", content)).form(), (PictureForm{2, 1, true}));
  EXPECT_THAT(planes(content, true), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(planes(png(PNG_FORMAT_GRAY, 1, 2, {7, 200}), false), ElementsAre(7, 200));
  EXPECT_THAT(planes(png(PNG_FORMAT_GRAY, 1, 2, {7, 200}), true), ElementsAre(7, 200, 7, 200, 7, 200));
  EXPECT_THAT(planes(png(PNG_FORMAT_RGB, 1, 1, {90, 90, 90}), false), ElementsAre(90));
}

TEST_F(Pictures, ShowWhitePaperWhereTheyAreTransparent) {
  EXPECT_THAT(planes(png(PNG_FORMAT_GA, 2, 1, {50, 0, 50, 255}), false), ElementsAre(255, 50));
}

TEST_F(Pictures, OfJpegAreDecoded) {
  const Bytes content = jpeg(TJPF_GRAY, 8, 8, Bytes(64, 100));
  EXPECT_EQ(PictureFile(write("a", content)).form(), (PictureForm{8, 8, false}));
  EXPECT_THAT(planes(content, false), testing::Each(AllOf(testing::Ge(99), testing::Le(101))));
  Bytes red;
  for (int i = 0; i < 64; ++i) red.insert(red.end(), {200, 0, 0});
  const Bytes decoded = planes(jpeg(TJPF_RGB, 8, 8, red), true);
  ASSERT_EQ(decoded.size(), 192U);
  EXPECT_NEAR(decoded[0], 200, 3);
  EXPECT_NEAR(decoded[64], 0, 3);
  EXPECT_NEAR(decoded[191], 0, 3);
}

// Four blocks of brightness for one of each colour, as cameras sample them, but one below the other (1x4).
TEST_F(Pictures, OfJpegMaySampleColoursInAnyWay) {
  Bytes quarters;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column)
      quarters.insert(quarters.end(), 3, static_cast<std::uint8_t>(40 + 100 * (row / 8) + 50 * (column / 8)));
  Bytes content = jpeg(TJPF_RGB, 16, 16, quarters, TJSAMP_420);
  const Bytes marker = {0xff, 0xc0};  // of the frame: length, precision, height, width, components
  const auto frame = std::search(content.begin(), content.end(), marker.begin(), marker.end());
  ASSERT_LT(frame + 11, content.end());
  frame[6] = 32;
  frame[8] = 8;
  frame[11] = 0x14;
  EXPECT_EQ(PictureFile(write("a", content)).form(), (PictureForm{8, 32, true}));
  const Bytes decoded = planes(content, true);
  for (std::size_t block = 0; block < 4; ++block) EXPECT_NEAR(decoded[64 * block], 40 + 50 * block, 3);
}

TEST_F(Pictures, BecomeGreyByOneFormulaWhateverTheirFormat) {
  Bytes red;
  for (int i = 0; i < 64; ++i) red.insert(red.end(), {254, 0, 0});
  // 0.299 * 254 = 75.9
  EXPECT_THAT(planes(png(PNG_FORMAT_RGB, 8, 8, red), false), testing::Each(76));
  EXPECT_THAT(planes(jpeg(TJPF_RGB, 8, 8, red), false), testing::Each(76));
  EXPECT_THAT(planes(png(PNG_FORMAT_RGB, 2, 1, {0, 255, 0, 0, 0, 255}), false), ElementsAre(150, 29));
}

TEST_F(Pictures, OfSixteenBitsAreRoundedToEight) {
  Bytes content;
  for (std::uint32_t value = 0; value < 65536; ++value) {
    content.push_back(static_cast<std::uint8_t>(value >> 8));
    content.push_back(static_cast<std::uint8_t>(value & 0xff));
  }
  const Bytes shades = planes(stored_png(16, 0, 256, 256, content), false);
  ASSERT_EQ(shades.size(), 65536U);
  for (std::uint32_t value = 0; value < 65536; ++value)
    ASSERT_EQ(shades[value], (value + 128) / 257) << value;
}

// The library reads them wrongly.
TEST_F(Pictures, OfSixteenBitsInterlacedAreRefused) {
  EXPECT_THAT(planes(stored_png(8, 0, 1, 1, {7}, {}, 1), false), ElementsAre(7));
  expect_refused(EndsWith("the PNG has 16 bits a channel and is interlaced; allowed: either of the two\n  "
                          "Save it without interlacing"),
                 [&] {
                   planes(stored_png(16, 0, 1, 1, {7, 0}, {}, 1), false);
                 });
}

TEST_F(Pictures, AreTakenAsTheyAreStoredWhateverTheySayOfGamma) {
  // Linear light: a gamma of 1.
  const Bytes gamma = chunk("gAMA", {0, 1, 0x86, 0xa0});
  EXPECT_THAT(planes(stored_png(8, 0, 2, 1, {64, 200}, gamma), false), ElementsAre(64, 200));
  EXPECT_THAT(planes(stored_png(16, 2, 1, 1, {64, 64, 65, 65, 66, 66}, gamma), true),
              ElementsAre(64, 65, 66));
}

TEST_F(Pictures, MixTransparencyWithWhiteAlikeInEveryFormat) {
  EXPECT_THAT(planes(png(PNG_FORMAT_GA, 1, 1, {0, 51}), false), ElementsAre(204));
  EXPECT_THAT(planes(png(PNG_FORMAT_RGBA, 1, 1, {0, 0, 0, 51}), true), ElementsAre(204, 204, 204));
  EXPECT_THAT(planes(stored_png(16, 4, 1, 1, {0, 0, 51, 51}), false), ElementsAre(204));
}

// A TIFF structure of one entry.
Bytes orientation(std::uint8_t value, bool little) {
  if (little)
    return {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0, 0, 0, 0, 0};
  return {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0};
}

TEST_F(Pictures, AreTurnedAsTheCameraSays) {
  // Stored as 1 2 3 over 4 5 6.
  const std::vector<Bytes> seen = {{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1},
                                   {4, 5, 6, 1, 2, 3}, {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3},
                                   {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (std::uint8_t value = 1; value <= 8; ++value) {
    for (const bool little : {true, false}) {
      const Bytes content =
          stored_png(8, 0, 3, 2, {1, 2, 3, 4, 5, 6}, chunk("eXIf", orientation(value, little)));
      EXPECT_EQ(planes(content, false), seen[value - 1]) << int{value};
      const PictureForm form{value < 5 ? 3 : 2, value < 5 ? 2 : 3, false};
      EXPECT_EQ(PictureFile(write("a", content)).form(), form) << int{value};
    }
  }
}

TEST_F(Pictures, OfJpegAreTurnedToo) {
  Bytes rows(16 * 8, 10);
  std::fill(rows.begin(), rows.begin() + 16 * 4, 240);  // the upper half is bright
  Bytes content = jpeg(TJPF_GRAY, 16, 8, rows);
  Bytes segment = {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0};
  const Bytes tiff = orientation(6, false);
  segment.insert(segment.end(), tiff.begin(), tiff.end());
  content.insert(content.begin() + 2, segment.begin(), segment.end());
  EXPECT_EQ(PictureFile(write("a", content)).form(), (PictureForm{8, 16, false}));
  const Bytes turned = planes(content, false);
  EXPECT_LT(turned[0], 30) << "turned clockwise, the upper half is on the right";
  EXPECT_GT(turned[7], 220);
}

TEST_F(Pictures, WithDamagedRemarksAreTakenAsTheyAre) {
  for (const Bytes& remark : {Bytes{}, Bytes{'I', 'I', 42, 0, 255, 255, 255, 255},
                              Bytes{'M', 'M', 0, 42, 0, 0, 0, 8, 255, 255}, orientation(9, true)})
    EXPECT_THAT(planes(stored_png(8, 0, 2, 1, {64, 200}, chunk("eXIf", remark)), false),
                ElementsAre(64, 200));
}

TEST_F(Pictures, ThatAreCutOffAreRefused) {
  Bytes noise;
  for (std::uint32_t i = 0, state = 1; i < 16 * 16; ++i)
    noise.push_back(static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24));
  for (const Bytes& whole : {png(PNG_FORMAT_GRAY, 16, 16, noise), jpeg(TJPF_GRAY, 16, 16, noise)}) {
    for (const std::size_t size : {whole.size() / 2, whole.size() / 4, std::size_t{10}, std::size_t{0}}) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      expect_refused(
          AllOf(HasSubstr("a-picture: "), EndsWith("; allowed: a whole PNG or JPEG file\n  Save the picture "
                                                   "again as PNG or JPEG, or remove it")),
          [&] { planes(cut, false); });
    }
  }
}

TEST_F(Pictures, OfOtherFormatsAndSizesAreRefused) {
  expect_refused("the content is neither PNG nor JPEG", [&] { planes({'G', 'I', 'F', '8'}, false); });
  expect_refused(
      EndsWith(
          "the picture is 4097 x 1 grey; allowed: at most 4096 pixels in each direction\n  Scale it down"),
      [&] { planes(grey(4097, 1, 0), false); });
}

}  // namespace
}  // namespace fedarena
