#include "datasets/published/published_files.hpp"

#include <sys/stat.h>

#include <gmock/gmock.h>

#include "datasets/fetch/unpack.hpp"
#include "tests/datasets/published_toy.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

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
  EXPECT_THAT(message,
              has_all("\"toy\"", "a, b", (folder_ / "toy").string(), (folder_ / "nowhere/toy-1.0").string(),
                      "Set FEDARENA_DATA to a folder that holds toy/", "example.org"));
  expect_refused("in no folder at all", [&] { find_published(wanted_, {}); });
}

TEST_F(PublishedFilesTest, ThatAreIncompleteAreReportedByName) {
  write("toy/a", {1});
  expect_refused("holds some of them but lacks b", [&] { find_published(wanted_, {folder_}); });
}

// Of what is compressed inside, libraries read no other form.
TEST_F(PublishedFilesTest, OfMatlabAndHdf5AreNotFoundCompressed) {
  for (const std::string name : {"a.mat", "a.h5"}) {
    const PublishedFiles wanted{
        .dataset = "toy", .folders = {"toy"}, .files = {{.name = name}}, .origin = ""};
    write_gzip("toy/" + name + ".gz", {1});
    expect_refused("looked for " + name + " in ", [&] { find_published(wanted, {folder_}); });
    const auto plain = write("toy/" + name, {1});
    EXPECT_THAT(find_published(wanted, {folder_}), ElementsAre(plain));
  }
}

TEST_F(PublishedFilesTest, AreReadUpToTheLimit) {
  const auto path = write("file", {1, 2, 3});
  EXPECT_THAT(read_content(path, 2), ElementsAre(1, 2));
  EXPECT_THAT(read_content(path, 9), ElementsAre(1, 2, 3));
}

// A disk image of zeros has a thousandth of its size.
TEST_F(PublishedFilesTest, ThatUnpackToTooMuchAreRefused) {
  const auto path = write_gzip("bomb.gz", std::string(300'000'000, '\0'));
  expect_refused(has_all("the content is longer than 268435456 bytes",
                         "at most 100 times the size of the compressed file\n  Unpack the file"),
                 [&] { read_content(path, std::size_t{1} << 34); });
}

TEST_F(PublishedFilesTest, ThatAreNoRegularFilesAreRefused) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_refused("is a pipe", [&] { read_content(folder_ / "pipe", 1); });
}

TEST_F(PublishedFilesTest, ThatCannotBeOpenedAreReported) {
  expect_refused(has_all((folder_ / "nothing").string(), "cannot be read"),
                 [&] { read_content(folder_ / "nothing", 1); });
}

TEST_F(PublishedFilesTest, WhoseGzipStreamIsCutOffAreRefused) {
  const std::string noise = test::noise(5000);
  Bytes packed = bytes_of(write_gzip("whole.gz", noise));
  packed.resize(packed.size() / 2);
  const auto path = write("cut.gz", packed);
  expect_refused(AllOf(HasSubstr(path.string() + ": the compressed stream is cut off; "),
                       testing::Not(HasSubstr("<fd:")), EndsWith("\n  Copy or compress the file again")),
                 [&] { read_content(path, noise.size() + 1); });
}

TEST_F(PublishedFilesTest, WhoseGzipStreamWasAlteredAreRefused) {
  const Bytes content(1000, 7);
  Bytes packed = bytes_of(write_gzip("whole.gz", content));
  packed[packed.size() - 5] ^= 1;  // inside the stored CRC-32
  const auto path = write("altered.gz", packed);
  expect_refused(AllOf(HasSubstr(path.string() + ": the compressed stream is damaged: "),
                       testing::Not(HasSubstr("<fd:"))),
                 [&] { read_content(path, content.size() + 1); });
}

// As gzip itself: further members are content, zeros pad; anything else may be rows of a damaged member.
TEST_F(PublishedFilesTest, HaveNothingBehindAGzipMemberButMembersAndZeros) {
  const std::string noise = test::noise(400'000);
  const Bytes first = bytes_of(write_gzip("first.gz", noise)),
              second = bytes_of(write_gzip("second.gz", "xyz"));
  const auto content_of = [&](std::initializer_list<Bytes> parts) {
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    const Bytes content = read_content(write("all.gz", all), 1'000'000);
    return std::string(content.begin(), content.end());
  };
  EXPECT_EQ(content_of({first, second, Bytes(300'000)}), noise + "xyz");
  EXPECT_EQ(content_of({second, Bytes(1), first}), "xyz" + noise);
  EXPECT_EQ(content_of({Bytes{'p', 'l', 'a', 'i', 'n', 0}, second}).substr(0, 5), "plain");
  EXPECT_EQ(content_of({Bytes{0x1f}}), "\x1f");
  for (const std::size_t at : {0, 1}) {
    Bytes damaged = second;
    damaged[at] ^= 1;
    for (const Bytes& padding : {Bytes(), Bytes(300'000)})
      expect_refused("all.gz: something that is not gzip follows the compressed stream", [&] {
        content_of({first, padding, damaged});
      });
  }
  expect_refused("follows the compressed stream", [&] { content_of({first, Bytes{0x1f}}); });
  expect_refused("the compressed stream is cut off", [&] { content_of({first, Bytes{0x1f, 0x8b}}); });
}

namespace fs = std::filesystem;

using test::gz;
using test::published;
using test::tar_gz;

class UnpackTest : public ScratchFolder {
 protected:
  void unpack(const std::string& packed, Packing packing, const std::vector<PublishedFile>& wanted) {
    unpack_published(scratch_.write("packed", packed), packing, wanted, target_,
                     "https://example.org/packed");
  }
  void unpack_a(const std::string& packed) { unpack(packed, Packing::kOneFile, {published("a", a_)}); }
  void unpack_both(const std::string& packed) {
    unpack(packed, Packing::kArchive, {published("a", a_), published("b", b_)});
  }
  std::vector<std::string> names() const { return names_in(target_); }
  std::string content(const std::string& name) const { return test::content_of(target_ / name); }

  fs::path target_ = folder_ / "target";
  std::string a_ = test::noise(700'000), b_ = test::noise(5'000, 2);
};

TEST_F(UnpackTest, TakesOneFilePlainOrCompressed) {
  for (const std::string& packed : {a_, gz(a_)}) {
    unpack_a(packed);
    EXPECT_EQ(content("a"), a_);
    EXPECT_THAT(names(), UnorderedElementsAre("a"));
    fs::remove_all(target_);
  }
}

TEST_F(UnpackTest, NeverPutsAnotherFileInItsPlace) {
  scratch_.write("target/a", "old");
  std::string other = a_;
  other[350'000] = static_cast<char>(other[350'000] ^ 1);
  std::string damaged = gz(a_);
  damaged.resize(damaged.size() / 2);
  for (const auto& [packed, words] : std::vector<std::pair<std::string, std::string>>{
           {other, "this is not the published a: the SHA-256 of its content is"},
           {gz(other), "this is not the published a: the SHA-256 of its content is"},
           {a_.substr(0, 699'999), "a ends after 699999 bytes; allowed: exactly 700000 bytes"},
           {a_ + "x", "a is longer than 700000 bytes; allowed: exactly 700000 bytes"},
           {gz(a_ + "x"), "a is longer than 700000 bytes"},
           {damaged, "the content is damaged or cut off"},
           {"<html>moved</html>", "a ends after 18 bytes"},
           {"", "the file is empty"}}) {
    expect_refused(has_all("https://example.org/packed: " + words, "--from"),
                   [&, &bytes = packed] { unpack_a(bytes); });
    EXPECT_EQ(content("a"), "old");
    EXPECT_THAT(names(), UnorderedElementsAre("a")) << words;
  }
  unpack_a(a_);
  EXPECT_EQ(content("a"), a_);
}

TEST_F(UnpackTest, TakesTheFilesOfAnArchiveFromAnyFolderOfIt) {
  unpack_both(tar_gz({{"toy/readme.html", "about"}, {"toy/b", b_}, {"toy/deeper/a", a_}}));
  EXPECT_EQ(content("a"), a_);
  EXPECT_EQ(content("b"), b_);
  EXPECT_THAT(names(), UnorderedElementsAre("a", "b"));
}

TEST_F(UnpackTest, WritesNowhereElse) {
  const std::string outside = folder_.filename().string() + "-outside";
  unpack_both(tar_gz({{"../../" + outside + "/a", a_}, {(folder_ / "elsewhere/b").string(), b_}}));
  EXPECT_THAT(names(), UnorderedElementsAre("a", "b"));
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
  EXPECT_FALSE(fs::exists(folder_.parent_path() / outside));
}

TEST_F(UnpackTest, FollowsNoLinkOfAnArchive) {
  const auto secret = scratch_.write("secret", a_);
  expect_refused("the archive lacks a", [&] {
    unpack_both(tar_gz({{.path = "toy/a", .link = secret.string()}, {"toy/b", b_}}));
  });
  EXPECT_THAT(names(), UnorderedElementsAre("b"));
}

TEST_F(UnpackTest, NamesWhatAnArchiveLacks) {
  expect_refused("the archive lacks a, b", [&] { unpack_both(tar_gz({{"toy/c", a_}})); });
  expect_refused("the content is damaged or cut off", [&] { unpack_both(a_); });
}

TEST_F(UnpackTest, KeepsTheGoodFilesOfAnArchiveThatIsCutOff) {
  std::string archive = tar_gz({{"toy/b", b_}, {"toy/a", a_}});
  archive.resize(archive.size() / 2);
  expect_refused("the content is damaged or cut off", [&] { unpack_both(archive); });
  EXPECT_THAT(names(), UnorderedElementsAre("b"));
  EXPECT_EQ(content("b"), b_);
}

}  // namespace
}  // namespace fedarena
