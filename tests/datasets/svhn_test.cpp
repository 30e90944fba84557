#include "datasets/published/svhn.hpp"

#include <array>
#include <matio.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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
    const std::string message = message_of([&] { read_svhn(path, layout(sha256)); });
    EXPECT_THAT(message, AllOf(HasSubstr(path.string()), HasSubstr("Replace the file")));
    return message;
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
              AllOf(HasSubstr("label 1 (counting from 0) is 11"), HasSubstr("1 to 10, where 10 stands for")));
  content.labels = {0, 1};
  EXPECT_THAT(refusal(write_mat(content)), HasSubstr("label 0 (counting from 0) is 0"));
}

TEST_F(Svhn, RefusesAnotherNumberOfImagesOrLabels) {
  Content content;
  content.labels = {1, 2, 3};
  EXPECT_THAT(refusal(write_mat(content)),
              AllOf(HasSubstr("the variable y is 3 x 1"), HasSubstr("unsigned bytes, 2 x 1")));
  content.labels = {1, 2};
  content.shape = {kSide, kSide, 1, kSvhnImages};
  EXPECT_THAT(refusal(write_mat(content)),
              AllOf(HasSubstr("the variable X is 2 x 2 x 1 x 2"), HasSubstr("2 x 2 x 3 x 2")));
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
  EXPECT_THAT(refusal(write("x.mat", {})), HasSubstr("not a file of MATLAB 5"));
}

// The last bytes are a check sum of the last variable: without them the file is still whole.
TEST_F(Svhn, RefusesAFileThatIsCutOffBeforeItsLastCheckSum) {
  const Bytes whole = bytes_of(write_mat({}));
  for (std::size_t size = 0; size + 8 < whole.size(); ++size) {
    const auto path =
        write("cut.mat", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_THROW(read_svhn(path, layout()), Error) << size << " of " << whole.size() << " bytes";
  }
}

TEST_F(Svhn, ComparesTheDigestBeforeItReads) {
  EXPECT_THAT(refusal(write("x.mat", {'a', 'b', 'c'}), std::string(64, '0')),
              AllOf(HasSubstr("not the published file"), HasSubstr("ba7816bf")));
}

}  // namespace
}  // namespace fedarena
