#include <array>
#include <matio.h>
#include <tuple>

#include <gmock/gmock.h>

#include "datasets/published/formats.hpp"
#include "datasets/published/published_files.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

/// Two records of 2 x 2 pixels: label, four red, four green, four blue.
Bytes records() {
  return {1, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33,  //
          0, 40, 41, 42, 43, 50, 51, 52, 53, 60, 61, 62, 63};
}

CifarLayout small(const std::string& sha256 = "") {
  return {.records = 2, .side = 2, .classes = {2}, .sha256 = sha256};
}

class Cifar : public ScratchFolder {
 protected:
  std::string refusal(const Bytes& content, const CifarLayout& layout) const {
    const auto path = write("batch.bin", content);
    return problem_of(path, [&] { read_cifar(path, layout); });
  }
};

TEST_F(Cifar, SplitsRecordsIntoLabelsAndPlanes) {
  const Examples read = read_cifar(write("batch.bin", records()), small());
  ASSERT_EQ(read.inputs.sizes(), (std::vector<std::int64_t>{2, 3, 2, 2}));
  ASSERT_EQ(read.inputs.scalar_type(), torch::kUInt8);
  ASSERT_EQ(read.targets.scalar_type(), torch::kInt64);
  EXPECT_TRUE(read.inputs.is_contiguous());
  EXPECT_EQ(read.targets[0].item<int>(), 1);
  EXPECT_EQ(read.targets[1].item<int>(), 0);
  EXPECT_EQ(read.inputs[0][0][1][0].item<int>(), 12);
  EXPECT_EQ(read.inputs[1][2][0][1].item<int>(), 61);
}

TEST_F(Cifar, OwnsItsPixelsAlsoForASingleRecord) {
  Bytes one = records();
  one.resize(13);
  const Examples read = read_cifar(write("batch.bin", one), {.records = 1, .side = 2, .classes = {2}});
  const Bytes overwrite(1 << 16, 0xaa);
  EXPECT_EQ(read.inputs.sum().item<int>(), 10 + 11 + 12 + 13 + 20 + 21 + 22 + 23 + 30 + 31 + 32 + 33);
}

TEST_F(Cifar, ReadsGzipAndPlainIdentically) {
  const Examples plain = read_cifar(write("batch.bin", records()), small(sha256_of(records())));
  const Examples packed = read_cifar(write_gzip("batch.bin.gz", records()), small(sha256_of(records())));
  EXPECT_TRUE(torch::equal(plain.inputs, packed.inputs));
  EXPECT_TRUE(torch::equal(plain.targets, packed.targets));
}

TEST_F(Cifar, RefusesAFileOfAnotherLength) {
  Bytes cut = records(), more = records();
  cut.pop_back();
  more.push_back(0);
  EXPECT_THAT(refusal(cut, small()), has_all("ends after 25 bytes", "26 bytes: 2 records of 13"));
  EXPECT_THAT(refusal(more, small()), HasSubstr("longer than 26 bytes"));
}

TEST_F(Cifar, RefusesALabelOutOfRangeAndContentOfAnotherDigest) {
  Bytes wrong = records(), other = records();
  wrong[13] = 2;
  other[5] = 99;
  EXPECT_THAT(refusal(wrong, small(sha256_of(records()))),
              has_all("record 1 (counting from 0) is 2", "0 to 1"));
  EXPECT_THAT(refusal(other, small(sha256_of(records()))),
              has_all("not the published file", sha256_of(other)));
}

/// A record of CIFAR-100's form: coarse label, fine label, one pixel of three channels.
Bytes two_labels() { return {1, 3, 10, 20, 30, 0, 4, 11, 21, 31}; }

CifarLayout fine(std::size_t label) { return {.records = 2, .side = 1, .classes = {2, 5}, .label = label}; }

TEST_F(Cifar, TakesTheCoarseOrTheFineLabelOfCifar100) {
  const auto path = write("train.bin", two_labels());
  const Examples coarse = read_cifar(path, fine(0));
  EXPECT_TRUE(torch::equal(coarse.targets, torch::tensor({1, 0}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(read_cifar(path, fine(1)).targets, torch::tensor({3, 4}, torch::kInt64)));
  EXPECT_TRUE(
      torch::equal(coarse.inputs.flatten(), torch::tensor({10, 20, 30, 11, 21, 31}).to(torch::kUInt8)));
}

TEST_F(Cifar, RefusesEachLabelOfCifar100ThatIsOutOfRange) {
  Bytes wrong = two_labels();
  wrong[6] = 5;
  EXPECT_THAT(refusal(wrong, fine(0)),
              has_all("label byte 2 of record 1 (counting from 0) is 5", "allowed: 0 to 4"));
  wrong[5] = 2;
  EXPECT_THAT(refusal(wrong, fine(1)), HasSubstr("label byte 1 of record 1 (counting from 0) is 2"));
}

constexpr std::size_t kSvhnImages = 2;
constexpr std::size_t kSide = 2;

// Pixel (row, column) of a channel of an image has a value of its own.
std::uint8_t value(std::size_t image, std::size_t channel, std::size_t row, std::size_t column) {
  return static_cast<std::uint8_t>(100 * image + 30 * channel + 10 * row + column);
}

// What a MATLAB file holds, in MATLAB's order.
struct Content {
  std::vector<std::uint8_t> pixels, labels{10, 3};
  std::array<std::size_t, 4> shape{kSide, kSide, 3, kSvhnImages};
  std::string labels_name = "y";
  matio_classes labels_class = MAT_C_UINT8;

  Content() {
    for (std::size_t image = 0; image < kSvhnImages; ++image)
      for (std::size_t channel = 0; channel < 3; ++channel)
        for (std::size_t column = 0; column < kSide; ++column)
          for (std::size_t row = 0; row < kSide; ++row) pixels.push_back(value(image, channel, row, column));
  }
};

class Svhn : public ScratchFolder {
 protected:
  std::filesystem::path write_mat(Content content) const {
    const auto path = folder_ / "train_32x32.mat";
    mat_t* file = Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT5);
    matvar_t* x =
        Mat_VarCreate("X", MAT_C_UINT8, MAT_T_UINT8, 4, content.shape.data(), content.pixels.data(), 0);
    Mat_VarWrite(file, x, MAT_COMPRESSION_ZLIB);
    std::array<std::size_t, 2> shape{content.labels.size(), 1};
    std::vector<double> numbers(content.labels.begin(), content.labels.end());
    const bool bytes = content.labels_class == MAT_C_UINT8;
    matvar_t* y =
        Mat_VarCreate(content.labels_name.c_str(), content.labels_class, bytes ? MAT_T_UINT8 : MAT_T_DOUBLE,
                      2, shape.data(), bytes ? static_cast<void*>(content.labels.data()) : numbers.data(), 0);
    Mat_VarWrite(file, y, MAT_COMPRESSION_ZLIB);
    Mat_VarFree(x);
    Mat_VarFree(y);
    Mat_Close(file);
    return path;
  }
  std::string refusal(const std::filesystem::path& path, const std::string& sha256 = {}) const {
    return problem_of(path, [&] { read_svhn(path, layout(sha256)); });
  }
  static SvhnLayout layout(const std::string& sha256 = {}) {
    return {.images = kSvhnImages, .side = kSide, .sha256 = sha256};
  }
};

TEST_F(Svhn, TurnsMatlabsOrderIntoPlanesOfRowsAndLabel10IntoTheDigit0) {
  const Examples read = read_svhn(write_mat({}), layout());
  ASSERT_EQ(read.inputs.sizes(), (std::vector<std::int64_t>{kSvhnImages, 3, kSide, kSide}));
  ASSERT_EQ(read.inputs.scalar_type(), torch::kUInt8);
  EXPECT_TRUE(read.inputs.is_contiguous());
  for (std::int64_t image = 0; image < 2; ++image)
    for (std::int64_t channel = 0; channel < 3; ++channel)
      for (std::int64_t row = 0; row < 2; ++row)
        for (std::int64_t column = 0; column < 2; ++column)
          EXPECT_EQ(read.inputs[image][channel][row][column].item<int>(),
                    100 * image + 30 * channel + 10 * row + column);
  EXPECT_TRUE(torch::equal(read.targets, torch::tensor({0, 3}, torch::kInt64)));
}

TEST_F(Svhn, RefusesALabelOutOfRange) {
  Content content;
  content.labels = {1, 11};
  EXPECT_THAT(refusal(write_mat(content)),
              has_all("label 1 (counting from 0) is 11", "1 to 10, where 10 stands for"));
  content.labels = {0, 1};
  EXPECT_THAT(refusal(write_mat(content)), HasSubstr("label 0 (counting from 0) is 0"));
}

TEST_F(Svhn, RefusesAnotherNumberOfImagesOrLabels) {
  Content content;
  content.labels = {1, 2, 3};
  EXPECT_THAT(refusal(write_mat(content)), has_all("the variable y is 3 x 1", "unsigned bytes, 2 x 1"));
  content.labels = {1, 2};
  content.shape = {kSide, kSide, 1, kSvhnImages};
  EXPECT_THAT(refusal(write_mat(content)), has_all("the variable X is 2 x 2 x 1 x 2", "2 x 2 x 3 x 2"));
}

TEST_F(Svhn, RefusesAVariableOfAnotherNameOrType) {
  Content content;
  content.labels_name = "labels";
  EXPECT_THAT(refusal(write_mat(content)), HasSubstr("the variable y is missing"));
  content.labels_name = "y";
  content.labels_class = MAT_C_DOUBLE;
  EXPECT_THAT(refusal(write_mat(content)), HasSubstr("the variable y does not hold unsigned bytes"));
}

TEST_F(Svhn, RefusesWhatMatlabDidNotWrite) {
  EXPECT_THAT(refusal(write("x.mat", Bytes(300, 'a'))), HasSubstr("not a file of MATLAB 5"));
}

// The last bytes are a check sum of the last variable: without them the file is still whole.
TEST_F(Svhn, RefusesAFileThatIsCutOffBeforeItsLastCheckSum) {
  const Bytes whole = bytes_of(write_mat({}));
  for (std::size_t size = 0; size + 8 < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(refusal(write("cut.mat", cut)), "") << size << " of " << whole.size() << " bytes";
  }
}

TEST_F(Svhn, ComparesTheDigestBeforeItReads) {
  EXPECT_THAT(refusal(write("x.mat", {'a', 'b', 'c'}), std::string(64, '0')),
              has_all("not the published file", "ba7816bf"));
}

/// Two images of 2 x 3 pixels.
Bytes images() {
  return {0, 0, 8,  3,  0,  0,  0,  2,  0,   0,   0,   2,   0,   0,
          0, 3, 10, 11, 12, 13, 14, 15, 250, 251, 252, 253, 254, 255};
}
const IdxLayout kIdxImages{{2, 2, 3}, 0, ""};

/// Four labels.
Bytes labels() { return {0, 0, 8, 1, 0, 0, 0, 4, 1, 0, 2, 1}; }
const IdxLayout kLabels{{4}, 3, ""};

class Idx : public ScratchFolder {
 protected:
  std::string refusal(const Bytes& content, const IdxLayout& layout) const {
    const auto path = write("file", content);
    return problem_of(path, [&] { read_idx(path, layout); });
  }
};

TEST_F(Idx, GivesTheBytesInRowMajorOrder) {
  const auto read = read_idx(write("images", images()), kIdxImages);
  ASSERT_EQ(read.scalar_type(), torch::kUInt8);
  ASSERT_EQ(read.sizes(), (std::vector<std::int64_t>{2, 2, 3}));
  EXPECT_EQ(read[0][1][0].item<int>(), 13);
  EXPECT_EQ(read[1][0][2].item<int>(), 252);
  EXPECT_EQ(read[1][1][2].item<int>(), 255);
}

Bytes changed(Bytes bytes, std::size_t at, std::uint8_t value) {
  bytes[at] = value;
  return bytes;
}

TEST_F(Idx, RefusesAnotherHeaderLengthOrLabel) {
  Bytes one_image = changed(images(), 7, 1), cut = images(), more = images();
  one_image.resize(16 + 6);
  cut.pop_back();
  more.push_back(0);
  const std::string size = "; allowed: exactly 28 bytes: 16 of header and 2 x 2 x 3";
  for (const auto& [content, layout, problem] : std::vector<std::tuple<Bytes, IdxLayout, std::string>>{
           // Shorter than a header of images, so the size is what is wrong first.
           {labels(),
            {{4, 1, 1}, 0, ""},
            "the content ends after 12 bytes; allowed: exactly 20 bytes: 16 of header and 4 x 1 x 1"},
           {changed(images(), 2, 0x0d), kIdxImages,
            "the magic number is 0x00000d03; allowed: 0x00000803 (IDX, unsigned bytes, dimensions: 3)"},
           {images(),
            {{2}, 0, ""},
            "the magic number is 0x00000803; allowed: 0x00000801 (IDX, unsigned bytes, dimensions: 1)"},
           // Other dimensions, before bytes are counted; then ones above 31 bits.
           {one_image, kIdxImages, "the header says 1 x 2 x 3; allowed: 2 x 2 x 3"},
           {changed(images(), 4, 0xff), kIdxImages, "the header says 4278190082 x 2 x 3; allowed: 2 x 2 x 3"},
           {cut, kIdxImages, "the content ends after 27 bytes" + size},
           {{0, 0}, kIdxImages, "the content ends after 2 bytes" + size},
           {{}, kIdxImages, "the content ends after 0 bytes" + size},
           {more, kIdxImages, "the content is longer than 28 bytes" + size},
           {changed(labels(), 8 + 2, 3), kLabels, "label 2 (counting from 0) is 3; allowed: 0 to 2"}})
    EXPECT_EQ(refusal(content, layout), problem);
}

TEST_F(Idx, RefusesContentOfAnotherDigestAfterTheOtherChecks) {
  IdxLayout signed_layout = kLabels;
  signed_layout.sha256 = sha256_of(labels());
  EXPECT_TRUE(torch::equal(read_idx(write_gzip("labels.gz", labels()), signed_layout),
                           read_idx(write("labels", labels()), kLabels)));

  Bytes other = labels();
  other[8] = 0;
  EXPECT_THAT(refusal(other, signed_layout),
              has_all("not the published file", sha256_of(other), sha256_of(labels())));
  other[8] = 9;
  EXPECT_THAT(refusal(other, signed_layout), HasSubstr("label 0"));
}

}  // namespace
}  // namespace fedarena
