#include <cmath>
#include <png.h>
#include <turbojpeg.h>

#include <gmock/gmock.h>

#include "datasets/own/picture_file.hpp"
#include "datasets/registry.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

Bytes png(png_uint_32 format, int width, int height, const Bytes& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = format;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  png_alloc_size_t size = 0;
  EXPECT_NE(png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr), 0);
  Bytes content(size);
  EXPECT_NE(png_image_write_to_memory(&image, content.data(), &size, 0, pixels.data(), 0, nullptr), 0);
  content.resize(size);
  return content;
}

Bytes grey(int width, int height, std::uint8_t shade) {
  return png(PNG_FORMAT_GRAY, width, height, Bytes(static_cast<std::size_t>(width * height), shade));
}

Bytes jpeg(int format, int width, int height, const Bytes& pixels) {
  tjhandle compressor = tjInitCompress();
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  EXPECT_EQ(tjCompress2(compressor, pixels.data(), width, 0, height, format, &buffer, &size,
                        format == TJPF_GRAY ? TJSAMP_GRAY : TJSAMP_444, 100, 0),
            0);
  Bytes content(buffer, buffer + size);
  tjFree(buffer);
  tjDestroy(compressor);
  return content;
}

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
  EXPECT_THAT(planes(content, false), testing::Each(testing::AllOf(testing::Ge(99), testing::Le(101))));
  Bytes red;
  for (int i = 0; i < 64; ++i) red.insert(red.end(), {200, 0, 0});
  const Bytes decoded = planes(jpeg(TJPF_RGB, 8, 8, red), true);
  ASSERT_EQ(decoded.size(), 192U);
  EXPECT_NEAR(decoded[0], 200, 3);
  EXPECT_NEAR(decoded[64], 0, 3);
  EXPECT_NEAR(decoded[191], 0, 3);
}

TEST_F(Pictures, ThatAreCutOffAreRefused) {
  Bytes noise;
  for (std::uint32_t i = 0, state = 1; i < 16 * 16; ++i)
    noise.push_back(static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24));
  for (const Bytes& whole : {png(PNG_FORMAT_GRAY, 16, 16, noise), jpeg(TJPF_GRAY, 16, 16, noise)}) {
    for (const std::size_t size : {whole.size() / 2, whole.size() / 4, std::size_t{10}, std::size_t{0}}) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_THAT(message_of([&] { planes(cut, false); }),
                  AllOf(HasSubstr("a-picture: "), HasSubstr("; allowed: a whole PNG or JPEG file")));
    }
  }
}

TEST_F(Pictures, OfOtherFormatsAndSizesAreRefused) {
  EXPECT_THAT(message_of([&] {
                planes({'G', 'I', 'F', '8'}, false);
              }),
              HasSubstr("the content is neither PNG nor JPEG"));
  EXPECT_THAT(message_of([&] { planes(grey(4097, 1, 0), false); }),
              HasSubstr("the picture is 4097 x 1 grey; allowed: at most 4096 pixels in each direction"));
}

class ImageFolder : public ScratchFolder {
 protected:
  Dataset load(Settings settings = {}) const {
    settings.emplace_back("path", "pictures");
    return load_dataset("image-folder", settings, {folder_});
  }
  // The message, without the folder.
  std::string refusal(const Settings& settings = {}) const {
    std::string message = message_of([&] { load(settings); });
    const std::string long_name = (folder_ / "pictures").string() + "/";
    for (std::size_t at = 0; (at = message.find(long_name)) != std::string::npos;)
      message.erase(at, long_name.size());
    return message;
  }
  void write_small() const {
    write("pictures/train/dog/b.png", grey(3, 2, 100));
    write("pictures/train/dog/a.PNG", grey(3, 2, 50));
    write("pictures/train/cat/c.png", grey(3, 2, 0));
    write("pictures/train/cat/.hidden.png", "no picture");
    write("pictures/train/cat/notes.txt", "no picture");
    write("pictures/test/dog/a.jpg", jpeg(TJPF_GRAY, 3, 2, Bytes(6, 100)));
  }
};

TEST_F(ImageFolder, SortsClassesAndPicturesByName) {
  write_small();
  const Dataset read = load();
  EXPECT_EQ(read.classes, 2);
  EXPECT_EQ(read.train.inputs.sizes(), (std::vector<std::int64_t>{3, 1, 2, 3}));
  EXPECT_EQ(read.train.inputs.scalar_type(), torch::kUInt8);
  EXPECT_TRUE(torch::equal(read.train.targets, torch::tensor({0, 1, 1}, torch::kInt64)));
  EXPECT_EQ(read.train.inputs[1][0][0][0].item<int>(), 50);
  EXPECT_TRUE(torch::equal(read.test.targets, torch::tensor({1}, torch::kInt64)));
  // 0, 50 and 100 of 255: mean 50, variance 5000 / 3.
  EXPECT_NEAR(read.mean.at(0), 50.0 / 255, 1e-9);
  EXPECT_NEAR(read.deviation.at(0), std::sqrt(5000.0 / 3) / 255, 1e-9);
  const Dataset raw = load({{"standardise", false}});
  EXPECT_THAT(raw.mean, ElementsAre(0.0));
  EXPECT_THAT(raw.deviation, ElementsAre(1.0));
}

TEST_F(ImageFolder, TurnsGreyIntoColourAndBackOnRequest) {
  write_small();
  EXPECT_EQ(load({{"colour", "colour"}}).train.inputs.size(1), 3);
  write("pictures/train/cat/d.png", png(PNG_FORMAT_RGB, 3, 2, Bytes(18, 9)));
  EXPECT_EQ(load({{"colour", "grey"}}).train.inputs.size(1), 1);
  EXPECT_EQ(
      refusal(),
      "train/cat/d.png: the picture is 3 x 2 colour, but train/cat/c.png is 3 x 2 grey; allowed: pictures of "
      "one size, all grey or all in colour\n  Set colour = \"grey\" or colour = \"colour\"");
}

TEST_F(ImageFolder, RefusesPicturesOfAnotherSizeWithBothNames) {
  write_small();
  write("pictures/test/dog/z.png", grey(3, 3, 1));
  EXPECT_EQ(refusal(),
            "test/dog/z.png: the picture is 3 x 3 grey, but train/cat/c.png is 3 x 2 grey; allowed: pictures "
            "of one "
            "size, all grey or all in colour\n  Scale or cut them to one size");
}

TEST_F(ImageFolder, RefusesAClassThatIsNotTrained) {
  write_small();
  write("pictures/test/dgo/z.png", grey(3, 2, 1));
  EXPECT_EQ(refusal(),
            "test/dgo: the class \"dgo\" has no folder in train/; allowed: cat, dog"
            "; did you mean \"dog\"?");
}

TEST_F(ImageFolder, RefusesFoldersWithoutPictures) {
  write("pictures/train/cat/notes.txt", "no picture");
  EXPECT_THAT(refusal(), HasSubstr("there is no picture; allowed: CLASS/*.png, *.jpg or *.jpeg"));
  write("pictures/train/cat/c.png", grey(3, 2, 0));
  EXPECT_THAT(refusal(), HasSubstr("the folder cannot be read (No such file or directory)"));
  write("pictures/train/cat/d.png", "no picture");
  EXPECT_THAT(refusal(), HasSubstr("train/cat/d.png: the content is neither PNG nor JPEG"));
}

}  // namespace
}  // namespace fedarena
