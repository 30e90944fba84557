#include "datasets/published/cifar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/published/published_files.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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
    const std::string message = message_of([&] { read_cifar(path, layout); });
    EXPECT_THAT(message, AllOf(HasSubstr(path.string()), HasSubstr("Replace the file")));
    return message;
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

TEST_F(Cifar, RefusesATruncatedFileWithItsLength) {
  Bytes cut = records();
  cut.pop_back();
  EXPECT_THAT(refusal(cut, small()),
              AllOf(HasSubstr("ends after 25 bytes"), HasSubstr("26 bytes: 2 records of 13")));
}

TEST_F(Cifar, RefusesAnOversizedFile) {
  Bytes more = records();
  more.push_back(0);
  EXPECT_THAT(refusal(more, small()), HasSubstr("longer than 26 bytes"));
}

TEST_F(Cifar, RefusesALabelOutOfRangeAndSaysWhichOne) {
  Bytes wrong = records();
  wrong[13] = 2;
  EXPECT_THAT(refusal(wrong, small(sha256_of(records()))),
              AllOf(HasSubstr("record 1 (counting from 0) is 2"), HasSubstr("0 to 1")));
}

TEST_F(Cifar, RefusesContentOfAnotherDigest) {
  Bytes other = records();
  other[5] = 99;
  EXPECT_THAT(refusal(other, small(sha256_of(records()))),
              AllOf(HasSubstr("not the published file"), HasSubstr(sha256_of(other))));
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
  EXPECT_THAT(refusal(wrong, fine(0)), AllOf(HasSubstr("label byte 2 of record 1 (counting from 0) is 5"),
                                             HasSubstr("allowed: 0 to 4")));
  wrong[5] = 2;
  EXPECT_THAT(refusal(wrong, fine(1)), HasSubstr("label byte 1 of record 1 (counting from 0) is 2"));
}

}  // namespace
}  // namespace fedarena
