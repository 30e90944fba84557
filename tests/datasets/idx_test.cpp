#include "datasets/published/idx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/published/published_files.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

constexpr char kRemedy[] = "\n  Replace the file with the publisher's";

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
    const std::string message = message_of([&] { read_idx(path, layout); });
    EXPECT_THAT(message, AllOf(testing::StartsWith(path.string() + ": "), EndsWith(kRemedy)));
    return message;
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

TEST_F(Idx, ReadsGzipAndPlainIdentically) {
  const auto plain = read_idx(write("images", images()), kIdxImages);
  const auto packed_path = write_gzip("images.gz", images());
  ASSERT_NE(bytes_of(packed_path), images());
  EXPECT_TRUE(torch::equal(plain, read_idx(packed_path, kIdxImages)));
}

TEST_F(Idx, RefusesAnotherMagicNumber) {
  EXPECT_THAT(refusal(labels(), {{4, 1, 1}, 0, ""}),
              HasSubstr("header"));  // shorter than a header of images, so the size is what is wrong first
  Bytes floats = images();
  floats[2] = 0x0d;
  EXPECT_THAT(refusal(floats, kIdxImages),
              AllOf(HasSubstr("magic number is 0x00000d03"), HasSubstr("0x00000803")));
  EXPECT_THAT(refusal(images(), {{2}, 0, ""}), AllOf(HasSubstr("0x00000803"), HasSubstr("0x00000801")));
}

TEST_F(Idx, RefusesOtherDimensionsBeforeItCountsBytes) {
  Bytes one_image = images();
  one_image[7] = 1;
  one_image.resize(16 + 6);
  EXPECT_THAT(refusal(one_image, kIdxImages),
              AllOf(HasSubstr("the header says 1 x 2 x 3"), HasSubstr("2 x 2 x 3")));
}

TEST_F(Idx, RefusesATruncatedFileWithItsLength) {
  Bytes cut = images();
  cut.pop_back();
  EXPECT_THAT(refusal(cut, kIdxImages), AllOf(HasSubstr("ends after 27 bytes"), HasSubstr("exactly 28 bytes")));
  EXPECT_THAT(refusal({0, 0}, kIdxImages), HasSubstr("ends after 2 bytes"));
  EXPECT_THAT(refusal({}, kIdxImages), HasSubstr("ends after 0 bytes"));
}

TEST_F(Idx, RefusesAnOversizedFile) {
  Bytes more = images();
  more.push_back(0);
  EXPECT_THAT(refusal(more, kIdxImages),
              AllOf(HasSubstr("longer than 28 bytes"), HasSubstr("exactly 28 bytes")));
}

TEST_F(Idx, RefusesALabelOutOfRangeAndSaysWhichOne) {
  Bytes wrong = labels();
  wrong[8 + 2] = 3;
  EXPECT_THAT(refusal(wrong, kLabels),
              AllOf(HasSubstr("label 2 (counting from 0) is 3"), HasSubstr("0 to 2")));
  wrong[8 + 2] = 2;
  EXPECT_EQ(read_idx(write("labels", wrong), kLabels).sum().item<int>(), 4);
}

TEST_F(Idx, RefusesContentOfAnotherDigestAfterTheOtherChecks) {
  IdxLayout signed_layout = kLabels;
  signed_layout.sha256 = sha256_of(labels());
  EXPECT_EQ(read_idx(write_gzip("labels.gz", labels()), signed_layout).size(0), 4);

  Bytes other = labels();
  other[8] = 0;
  EXPECT_THAT(refusal(other, signed_layout),
              AllOf(HasSubstr("not the published file"), HasSubstr(sha256_of(other)),
                    HasSubstr(sha256_of(labels()))));
  other[8] = 9;
  EXPECT_THAT(refusal(other, signed_layout), HasSubstr("label 0"));
}

TEST_F(Idx, SaysThatADimensionAbove31BitsIsNotTheExpectedOne) {
  Bytes huge = images();
  huge[4] = 0xff;
  EXPECT_THAT(refusal(huge, kIdxImages), HasSubstr("4278190082 x 2 x 3"));
}

}  // namespace
}  // namespace fedarena
