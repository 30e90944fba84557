#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/published/leaf_json.hpp"
#include "datasets/registry.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

Bytes femnist_text(const std::string& letters) { return {letters.begin(), letters.end()}; }

// One user with images of two pixels, where a test does not say otherwise.
struct Leaf {
  std::string users = R"(["ann"])";
  std::string counts = "[2]";
  std::string data = R"({"ann": {"x": [[0.0, 1.0], [0.2, 0.50196]], "y": [3, 0]}})";

  std::string json() const {
    return fmt::format(R"({{"users": {}, "num_samples": {}, "user_data": {}}})", users, counts, data);
  }
};

class LeafJson : public ScratchFolder {
 protected:
  static constexpr LeafLayout kTiny{.pixels = 2, .classes = 4};

  std::string refusal(const std::string& json) const {
    const auto path = write("all_data_0.json", femnist_text(json));
    UserImages images;
    const std::string message = message_of([&] { append_leaf_json(path, kTiny, images); });
    const std::string begin = path.string() + ": ";
    EXPECT_EQ(message.substr(0, begin.size()), begin);
    EXPECT_THAT(message, EndsWith("\n  Replace the file with the publisher's"));
    return message.substr(begin.size(), message.find('\n') - begin.size());
  }
};

TEST_F(LeafJson, GivesShadesLabelsAndUsers) {
  UserImages images;
  append_leaf_json(write("a.json", femnist_text(Leaf().json())), kTiny, images);
  EXPECT_THAT(images.pixels, ElementsAre(0, 255, 51, 128));
  EXPECT_THAT(images.labels, ElementsAre(3, 0));
  ASSERT_EQ(images.users.size(), 1U);
  EXPECT_EQ(images.users[0].name, "ann");
  EXPECT_EQ(images.users[0].images, 2);
}

TEST_F(LeafJson, AppendsFileToFilePackedOrNotWhateverTheOrderOfKeys) {
  UserImages images;
  append_leaf_json(write("a.json", femnist_text(Leaf().json())), kTiny, images);
  append_leaf_json(
      write_gzip("b.json.gz",
                 femnist_text(R"({"user_data": {"bob": {"y": [1], "x": [[1, 0]]}, "eve": {"y": [], "x": []}}, )"
                      R"("hierarchies": [], "num_samples": [1, 0], "users": ["bob", "eve"]})")),
      kTiny, images);
  EXPECT_THAT(images.pixels, ElementsAre(0, 255, 51, 128, 255, 0));
  EXPECT_THAT(images.labels, ElementsAre(3, 0, 1));
  ASSERT_EQ(images.users.size(), 3U);
  EXPECT_EQ(images.users[2].images, 0);
}

TEST_F(LeafJson, RefusesAnImageOfAnotherSize) {
  EXPECT_EQ(refusal(Leaf{.data = R"({"ann": {"x": [[0.0, 1.0], [0.2]], "y": [3, 0]}})"}.json()),
            "image 1 (counting from 0) of ann: 1 numbers; allowed: 2");
  EXPECT_EQ(refusal(Leaf{.data = R"({"ann": {"x": [[0.0, 1.0, 1.0], [0.2, 0.2]], "y": [3, 0]}})"}.json()),
            "image 0 (counting from 0) of ann: 3 numbers; allowed: 2");
}

TEST_F(LeafJson, RefusesANumberThatIsNoShade) {
  for (const std::string number : {"0.5", "1.1", "-0.2", "1e300"}) {
    EXPECT_THAT(
        refusal(Leaf{.data = R"({"ann": {"x": [[0.0, )" + number + R"(], [1, 1]], "y": [3, 0]}})"}.json()),
        AllOf(HasSubstr("image 0 (counting from 0) of ann: the number "),
              EndsWith("; allowed: k/255 with k from 0 to 255")));
  }
}

TEST_F(LeafJson, RefusesALabelOutOfRange) {
  EXPECT_EQ(refusal(Leaf{.data = R"({"ann": {"x": [[1, 1], [1, 1]], "y": [3, 4]}})"}.json()),
            "image 1 (counting from 0) of ann: the label 4; allowed: 0 to 3");
  EXPECT_EQ(refusal(Leaf{.data = R"({"ann": {"x": [[1, 1], [1, 1]], "y": [-1, 3]}})"}.json()),
            "image 0 (counting from 0) of ann: the label -1; allowed: 0 to 3");
}

TEST_F(LeafJson, RefusesCountsThatDoNotAgree) {
  EXPECT_EQ(refusal(Leaf{.data = R"({"ann": {"x": [[1, 1], [1, 1]], "y": [3]}})"}.json()),
            "ann: 2 images and 1 labels; allowed: as many as images");
  EXPECT_EQ(refusal(Leaf{.counts = "[3]"}.json()),
            "ann has 2 images, but its number of samples is 3; allowed: equal numbers");
  EXPECT_EQ(refusal(Leaf{.users = R"(["ann", "bob"])", .counts = "[2, 1]"}.json()),
            "2 users, 2 numbers of samples and data of 1 users; allowed: one of each for every user");
  EXPECT_EQ(refusal(Leaf{.users = R"(["bob"])"}.json()),
            "there are no data of the user bob; allowed: data of every user");
}

TEST_F(LeafJson, RefusesTextThatIsCutOffAtAnyByte) {
  const std::string whole = Leaf().json();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto path = write("cut.json", femnist_text(whole.substr(0, size)));
    UserImages images;
    EXPECT_THROW(append_leaf_json(path, kTiny, images), Error) << whole.substr(0, size);
  }
}

TEST_F(LeafJson, RefusesOtherJson) {
  for (const std::string json : {"", "[]", "null", "{\"users\": 3}", "{\"user_data\": {\"ann\": []}}",
                                 "<html>", R"({"user_data": {"ann": {"x": [["a", 1]], "y": [1]}}})"}) {
    EXPECT_THAT(refusal(json), EndsWith("; allowed: JSON as LEAF writes it")) << json;
  }
}

// Whole images of one shade.
std::string shade(const std::string& user, int k, int label) {
  std::string pixels;
  for (int i = 0; i < 784; ++i) pixels += fmt::format("{}{}", i == 0 ? "" : ", ", k / 255.0);
  return fmt::format(
      R"({{"users": ["{0}"], "num_samples": [1], "user_data": {{"{0}": {{"x": [[{1}]], "y": [{2}]}}}}}})",
      user, pixels, label);
}

class Femnist : public ScratchFolder {};

TEST_F(Femnist, GathersTheFilesOfAFolderByUser) {
  write("femnist/train/all_data_0_niid_05_keep_0_train_9.json", femnist_text(shade("ann", 7, 61)));
  write_gzip("femnist/train/all_data_1.json.gz", femnist_text(shade("bob", 8, 10)));
  write("femnist/train/notes.txt", femnist_text("no data"));
  write("femnist/test/all_data_0.json", femnist_text(shade("eve", 9, 0)));
  write("femnist/test/all_data_1.json", femnist_text(shade("bob", 10, 1)));
  const Dataset femnist = load_dataset("femnist", {}, {folder_ / "nowhere", folder_});
  EXPECT_EQ(femnist.train.inputs.sizes(), (std::vector<std::int64_t>{2, 1, 28, 28}));
  EXPECT_TRUE(torch::all(femnist.train.inputs[1] == 8).item<bool>());
  EXPECT_TRUE(torch::equal(femnist.train.targets, torch::tensor({61, 10}, torch::kInt64)));
  EXPECT_THAT(femnist.users, ElementsAre("ann", "bob", "eve"));
  EXPECT_THAT(femnist.train.users, ElementsAre(0, 1));
  EXPECT_THAT(femnist.test.users, ElementsAre(2, 1));
  EXPECT_EQ(femnist.classes, 62);
  EXPECT_THAT(femnist.mean, ElementsAre(0.9637));
  const Dataset raw = load_dataset("femnist", {{"standardise", false}}, {folder_});
  EXPECT_THAT(raw.mean, ElementsAre(0.0));
  EXPECT_THAT(raw.deviation, ElementsAre(1.0));
}

TEST_F(Femnist, RefusesAUserInTwoFilesOfAPart) {
  write("femnist/train/all_data_0.json", femnist_text(shade("ann", 7, 61)));
  write("femnist/train/all_data_1.json", femnist_text(shade("ann", 7, 61)));
  write("femnist/test/all_data_0.json", femnist_text(shade("ann", 9, 0)));
  EXPECT_THAT(
      message_of([&] { load_dataset("femnist", {}, {folder_}); }),
      AllOf(HasSubstr("train/all_data_1.json: the user ann is in "), HasSubstr("train/all_data_0.json too")));
}

TEST_F(Femnist, ThatIsNotThereIsReportedWithFoldersAndRemedy) {
  write("femnist/train/all_data_0.json", femnist_text(shade("ann", 7, 61)));  // and no test/
  EXPECT_EQ(
      message_of([&] { load_dataset("femnist", {}, {folder_}); }),
      fmt::format("the data set \"femnist\" was not found: looked for train/all_data*.json and "
                  "test/all_data*.json (each plain or .gz) in {}\n"
                  "  Set FEDARENA_DATA to a folder that holds femnist/ with these files; "
                  "github.com/TalwalkarLab/leaf makes them (data/femnist, preprocess.sh with -t sample)",
                  (folder_ / "femnist").string()));
}

}  // namespace
}  // namespace fedarena
