#include "datasets/published/published_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class PublishedFilesTest : public ScratchFolder {
 protected:
  PublishedFiles wanted_{"toy", {"toy", "toy-1.0"}, {{"a"}, {"b"}}, "the publisher's page is example.org"};
};

TEST(Sha256, ReproducesThePublishedExampleOfThreeLetters) {
  // FIPS 180-4, message "abc".
  EXPECT_EQ(sha256_of(Bytes{'a', 'b', 'c'}),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(PublishedFilesTest, AreFoundInTheFirstFolderThatHoldsAllOfThem) {
  write("one/toy/a", {1});
  const auto a = write("two/toy/a", {1});
  const auto b = write_gzip("two/toy/b.gz", {2});
  write("three/toy/a", {1});
  write("three/toy/b", {1});
  EXPECT_THAT(find_published(wanted_, {folder_ / "one", folder_ / "two", folder_ / "three"}),
              ElementsAre(a, b));
}

TEST_F(PublishedFilesTest, AreFoundUnderASecondFolderName) {
  const auto a = write("toy-1.0/a", {1});
  const auto b = write("toy-1.0/b", {1});
  EXPECT_THAT(find_published(wanted_, {folder_}), ElementsAre(a, b));
}

TEST_F(PublishedFilesTest, AreFoundWhenTheSearchFolderIsTheirOwn) {
  write("toy/a", {1});
  write("toy/b", {1});
  EXPECT_EQ(find_published(wanted_, {folder_ / "toy"}).size(), 2U);
  EXPECT_EQ(find_published(wanted_, {folder_ / "toy" / ""}).size(), 2U);
  EXPECT_EQ(find_published(wanted_, {folder_ / "toy" / "."}).size(), 2U);
  write("other/a", {1});
  write("other/b", {1});
  EXPECT_THROW(find_published(wanted_, {folder_ / "other"}), Error);
}

TEST_F(PublishedFilesTest, ThatAreAbsentAreReportedWithFoldersAndRemedy) {
  const std::string message = message_of([&] { find_published(wanted_, {folder_, folder_ / "nowhere"}); });
  EXPECT_THAT(message, AllOf(HasSubstr("\"toy\""), HasSubstr("a, b"), HasSubstr((folder_ / "toy").string()),
                             HasSubstr((folder_ / "nowhere/toy-1.0").string())));
  EXPECT_THAT(message,
              AllOf(HasSubstr("Set FEDARENA_DATA to a folder that holds toy/"), HasSubstr("example.org")));
  EXPECT_THAT(message_of([&] { find_published(wanted_, {}); }), HasSubstr("in no folder at all"));
}

TEST_F(PublishedFilesTest, ThatAreIncompleteAreReportedByName) {
  write("toy/a", {1});
  EXPECT_THAT(message_of([&] { find_published(wanted_, {folder_}); }),
              HasSubstr("holds some of them but lacks b"));
}

TEST_F(PublishedFilesTest, AreReadUpToTheLimit) {
  const auto path = write("file", {1, 2, 3});
  EXPECT_THAT(read_content(path, 2), ElementsAre(1, 2));
  EXPECT_THAT(read_content(path, 9), ElementsAre(1, 2, 3));
}

TEST_F(PublishedFilesTest, ThatCannotBeOpenedAreReported) {
  EXPECT_THAT(message_of([&] { read_content(folder_ / "nothing", 1); }),
              AllOf(HasSubstr((folder_ / "nothing").string()), HasSubstr("cannot be opened")));
}

TEST_F(PublishedFilesTest, WhoseGzipStreamIsCutOffAreRefused) {
  Bytes noise;
  for (std::uint32_t i = 0, state = 1; i < 5000; ++i)
    noise.push_back(static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24));
  Bytes packed = bytes_of(write_gzip("whole.gz", noise));
  packed.resize(packed.size() / 2);
  const auto path = write("cut.gz", packed);
  EXPECT_THAT(message_of([&] { read_content(path, noise.size() + 1); }),
              AllOf(HasSubstr(path.string()), HasSubstr("damaged or cut off")));
}

TEST_F(PublishedFilesTest, WhoseGzipStreamWasAlteredAreRefused) {
  const Bytes content(1000, 7);
  Bytes packed = bytes_of(write_gzip("whole.gz", content));
  packed[packed.size() - 5] ^= 1;  // inside the stored CRC-32
  const auto path = write("altered.gz", packed);
  EXPECT_THAT(message_of([&] { read_content(path, content.size() + 1); }), HasSubstr("damaged or cut off"));
}

}  // namespace
}  // namespace fedarena
