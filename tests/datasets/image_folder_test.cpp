#include <cmath>
#include <map>
#include <set>
#include <sys/stat.h>

#include <gmock/gmock.h>

#include "datasets/registry.hpp"
#include "tests/datasets/made_pictures.hpp"

namespace fedarena {
namespace {

class ImageFolder : public ScratchFolder {
 protected:
  Dataset load(Settings settings = {}) const {
    settings.emplace_back("path", "pictures");
    return load_dataset("image-folder", settings, {folder_});
  }
  std::string refusal(const Settings& settings = {}) const {
    return refusal_of([&] { load(settings); });
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

// What is at a position must not tell its class, since partitions deal positions.
TEST_F(ImageFolder, SortsPicturesInAnOrderThatKnowsNoClass) {
  for (int picture = 0; picture < 40; ++picture)
    write(fmt::format("pictures/train/{}/{}.png", picture % 2 == 0 ? "cat" : "dog", picture),
          grey(3, 2, static_cast<std::uint8_t>(picture)));
  write("pictures/test/dog/a.png", grey(3, 2, 100));
  const Examples before = load().train;
  const torch::Tensor changes = before.targets.slice(0, 1).ne(before.targets.slice(0, 0, 39));
  EXPECT_GT(changes.sum().item<std::int64_t>(), 8);
  std::filesystem::rename(folder_ / "pictures/train/cat/8.png", folder_ / "pictures/train/dog/z.png");
  const Examples after = load().train;
  EXPECT_TRUE(torch::equal(after.inputs, before.inputs));
  const torch::Tensor relabelled = after.targets.ne(before.targets);
  EXPECT_EQ(relabelled.sum().item<std::int64_t>(), 1);
  EXPECT_EQ(after.inputs.index({relabelled}).max().item<int>(), 8);
}

TEST_F(ImageFolder, SortsClassesByNameAndPicturesByTheirDigest) {
  write_small();
  const Dataset read = load();
  EXPECT_EQ(read.classes, 2);
  EXPECT_EQ(read.train.inputs.sizes(), (std::vector<std::int64_t>{3, 1, 2, 3}));
  EXPECT_EQ(read.train.inputs.scalar_type(), torch::kUInt8);
  std::map<std::string, std::pair<int, int>> by_digest;  // shade and class
  for (const auto& [shade, label] : {std::pair(0, 0), {50, 1}, {100, 1}})
    by_digest[sha256_of(grey(3, 2, static_cast<std::uint8_t>(shade)))] = {shade, label};
  std::int64_t position = 0;
  for (const auto& [digest, expected] : by_digest) {
    EXPECT_EQ(read.train.inputs[position][0][0][0].item<int>(), expected.first);
    EXPECT_EQ(read.train.targets[position++].item<int>(), expected.second);
  }
  EXPECT_TRUE(torch::equal(read.test.targets, torch::tensor({1}, torch::kInt64)));
  // 0, 50 and 100 of 255: mean 50, variance 5000 / 3.
  EXPECT_NEAR(read.mean.at(0), 50.0 / 255, 1e-9);
  EXPECT_NEAR(read.deviation.at(0), std::sqrt(5000.0 / 3) / 255, 1e-9);
  EXPECT_THAT(read.read_off, ElementsAre("the classes", "means and deviations of the features"));
  const Dataset raw = load({{"standardise", false}});
  EXPECT_THAT(raw.read_off, ElementsAre("the classes"));
  EXPECT_THAT(raw.mean, ElementsAre(0.0));
  EXPECT_THAT(raw.deviation, ElementsAre(1.0));
}

// 200 pictures, of which each is in a class by its number.
TEST_F(ImageFolder, SetsPicturesAsideByTheirOwnContent) {
  const auto name = [](int picture) {
    return fmt::format("pictures/{}/{}.png", picture % 2 == 0 ? "cat" : "dog", picture);
  };
  for (int picture = 0; picture < 200; ++picture)
    write(name(picture), grey(3, 2, static_cast<std::uint8_t>(picture)));
  const Settings settings{{"test_fraction", 0.25}};
  const Dataset all = load(settings);
  EXPECT_EQ(all.train.size() + all.test.size(), 200);
  EXPECT_NEAR(static_cast<double>(all.test.size()), 50, 4 * std::sqrt(200 * 0.25 * 0.75));  // 6e-5
  std::vector<std::int64_t> positions = all.train.positions;
  positions.insert(positions.end(), all.test.positions.begin(), all.test.positions.end());
  EXPECT_THAT(std::set(positions.begin(), positions.end()), SizeIs(200));
  const auto shades = [](const Examples& examples) {
    std::map<int, int> of;  // shade and class
    for (std::int64_t i = 0; i < examples.size(); ++i)
      of[examples.inputs[i][0][0][0].item<int>()] = examples.targets[i].item<int>();
    return of;
  };
  auto train = shades(all.train), test = shades(all.test);
  for (const auto& [shade, label] : train) EXPECT_EQ(label, shade % 2);
  // Without one, all others stay where they are; a copy of one goes where it is.
  std::filesystem::remove(folder_ / name(test.begin()->first));
  std::filesystem::remove(folder_ / name(train.begin()->first));
  write("pictures/cat/copy.png", grey(3, 2, static_cast<std::uint8_t>(test.rbegin()->first)));
  test.erase(test.begin());
  train.erase(train.begin());
  const Dataset less = load(settings);
  EXPECT_EQ(less.train.size(), std::ssize(train));
  EXPECT_EQ(less.test.size(), std::ssize(test) + 1);
  EXPECT_EQ(shades(less.train), train);
}

TEST_F(ImageFolder, RefusesATestFractionThatLeavesAPartEmptyAndOneBesideParts) {
  write("pictures/cat/a.png", grey(3, 2, 0));
  write("pictures/dog/b.png", grey(3, 2, 9));
  EXPECT_EQ(refusal({{"test_fraction", 1e-6}}),
            "pictures: test_fraction sets no picture aside for testing\n  Choose another test_fraction, add "
            "pictures, or sort them into train/CLASS/ and test/CLASS/");
  EXPECT_THAT(refusal({{"test_fraction", 0.999}}),
              StartsWith("pictures/cat: test_fraction sets all its pictures aside for testing\n"));
  EXPECT_THAT(refusal(), EndsWith("holds train/CLASS/ and test/CLASS/, or, with test_fraction, CLASS/"));
  std::filesystem::remove_all(folder_ / "pictures");
  write_small();
  EXPECT_EQ(refusal({{"test_fraction", 0.2}}),
            "pictures: the folder has parts of its own, train/ and test/\n  Leave test_fraction out");
}

TEST_F(ImageFolder, TurnsGreyIntoColourAndBackOnRequest) {
  write_small();
  EXPECT_EQ(load({{"colour", "colour"}}).train.inputs.size(1), 3);
  write("pictures/train/cat/d.png", png(PNG_FORMAT_RGB, 3, 2, Bytes(18, 9)));
  EXPECT_EQ(load({{"colour", "grey"}}).train.inputs.size(1), 1);
  EXPECT_EQ(
      refusal(),
      "pictures/train/cat/d.png: the picture is 3 x 2 colour, but pictures/train/cat/c.png is 3 x 2 grey; "
      "allowed: pictures of one size, all grey or all in colour\n  Set colour = \"grey\" or colour = "
      "\"colour\"");
}

TEST_F(ImageFolder, RefusesPicturesOfAnotherSizeWithBothNames) {
  write_small();
  write("pictures/test/dog/z.png", grey(3, 3, 1));
  EXPECT_EQ(refusal(),
            "pictures/test/dog/z.png: the picture is 3 x 3 grey, but pictures/train/cat/c.png is 3 x 2 grey; "
            "allowed: pictures of one size, all grey or all in colour\n  Scale or cut them to one size");
}

TEST_F(ImageFolder, SaysWhatItTookAndCountsWhatItPassedOver) {
  write_small();
  write("pictures/train/dog/c.webp", "no picture");
  write("pictures/train/dog/deeper/d.png", grey(3, 2, 1));
  write("pictures/test/e.png", grey(3, 2, 1));
  EXPECT_EQ(load().taken,
            "image-folder: pictures of 3 x 2 grey\n"
            "  classes (training + test pictures): \"cat\" 1 + 0, \"dog\" 2 + 1\n"
            "  passed over, by ending: 1 \".png\", 1 \".txt\", 1 \".webp\", 1 folder");
  EXPECT_EQ(load().overlap, "\n  1 of 1 test examples have the inputs of a training example");
}

// A copy of one, or a link to all.
TEST_F(ImageFolder, SaysHowManyTestPicturesAreTrainingPictures) {
  write_small();
  write("pictures/test/dog/other.png", grey(3, 2, 77));
  EXPECT_EQ(load().overlap, "\n  1 of 2 test examples have the inputs of a training example");
  EXPECT_THAT(load().taken + load().taken_without_labels, Not(HasSubstr("training example")));
}

TEST_F(ImageFolder, RefusesAClassOfOtherFilesThoughTheOthersHavePictures) {
  write_small();
  write("pictures/train/owl/a.webp", "no picture");
  EXPECT_THAT(refusal(), HasSubstr("train/owl: there is no picture, only 1 \".webp\""));
}

TEST_F(ImageFolder, RefusesAClassThatIsNotTrained) {
  write_small();
  write("pictures/test/dgo/z.png", grey(3, 2, 1));
  EXPECT_EQ(refusal(),
            "pictures/test/dgo: the class \"dgo\" has no folder in train/; allowed: cat, dog"
            "; did you mean \"dog\"?");
}

// Which of the two comes first, their classes would say.
TEST_F(ImageFolder, RefusesOnePictureOfOneNameInTwoClasses) {
  write_small();
  write("pictures/train/dog/c.png", grey(3, 2, 0));
  EXPECT_EQ(
      refusal(),
      "pictures/train/cat/c.png: the same picture has the same name in \"dog\"\n  Remove one of the two, or "
      "rename it if both classes are meant");
}

TEST_F(ImageFolder, RefusesOneClass) {
  write("pictures/train/cat/c.png", grey(3, 2, 0));
  write("pictures/test/cat/c.png", grey(3, 2, 1));
  EXPECT_EQ(
      refusal(),
      "pictures/train: the folder holds one class, which needs no learning; allowed: 2 classes or more\n"
      "  Sort pictures into folders, one for each class");
}

TEST_F(ImageFolder, RefusesClassesThatHardlyDiffer) {
  for (const char* name : {"Cat", "c at", "c\u200bat", "cat."}) {
    std::filesystem::remove_all(folder_ / "pictures");
    write_small();
    write(fmt::format("pictures/train/{}/c.png", name), grey(3, 2, 0));
    EXPECT_THAT(refusal(),
                AllOf(HasSubstr(" hardly differ; allowed: names that differ in more than blanks, "),
                      HasSubstr("\n  Put their pictures into one folder if they mean the same")))
        << name;
  }
  write("pictures/train/a/c.png", grey(3, 2, 7));
  write("pictures/train/A/c.png", grey(3, 2, 1));
  std::filesystem::remove_all(folder_ / "pictures/train/cat.");
  EXPECT_EQ(load().classes, 4) << "letters of an alphabet";
}

TEST_F(ImageFolder, RefusesLinksToNowhereAndWhatIsNoFile) {
  write_small();
  const auto link = [&](const std::string& to, const std::string& name) {
    std::filesystem::create_symlink(to, folder_ / "pictures/train" / name);
  };
  const auto refused_with = [&](const std::string& name) {
    std::string refused = refusal();
    std::filesystem::remove(folder_ / "pictures/train" / name);
    return refused;
  };
  link("c.png", "cat/same.png");
  link("nowhere", "cat/notes.md");
  EXPECT_EQ(load().train.size(), 4);
  link("nowhere.jpg", "cat/z.JPG");
  EXPECT_EQ(refused_with("cat/z.JPG"),
            "pictures/train/cat/z.JPG: is a link to what is not there\n  Mend or remove it");
  link("z.png", "cat/z.png");
  EXPECT_THAT(refused_with("cat/z.png"), HasSubstr("train/cat/z.png: cannot be read (Too many levels"));
  link("/dev/null", "cat/z.jpeg");
  EXPECT_EQ(refused_with("cat/z.jpeg"),
            "pictures/train/cat/z.jpeg: is not a regular file\n  Put a PNG or JPEG file there, or remove it");
  ASSERT_EQ(mkfifo((folder_ / "pictures/train/cat/z.png").c_str(), 0600), 0);
  EXPECT_THAT(refused_with("cat/z.png"), HasSubstr("train/cat/z.png: is not a regular file"));
  link("nowhere", "owl");
  EXPECT_THAT(refused_with("owl"), HasSubstr("pictures/train/owl: is a link to what is not there"));
}

TEST_F(ImageFolder, RefusesFoldersWithoutPictures) {
  write("pictures/train/dog/d.png", grey(3, 2, 0));
  write("pictures/train/cat/notes.txt", "no picture");
  EXPECT_EQ(
      refusal(),
      "pictures/train/cat: there is no picture, only 1 \".txt\"; allowed: CLASS/*.png, *.jpg or *.jpeg\n"
      "  Convert its pictures to PNG, or remove the folder");
  write("pictures/train/cat/c.png", grey(3, 2, 0));
  EXPECT_THAT(refusal(), HasSubstr("the folder cannot be read (No such file or directory)"));
  write("pictures/train/cat/d.png", "no picture");
  EXPECT_THAT(refusal(), HasSubstr("train/cat/d.png: the content is neither PNG nor JPEG"));
}

}  // namespace
}  // namespace fedarena
