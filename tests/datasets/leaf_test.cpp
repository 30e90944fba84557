#include <hdf5.h>

#include <gmock/gmock.h>

#include "datasets/published/formats.hpp"
#include "datasets/registry.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

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
    const auto path = write("all_data_0.json", json);
    UserImages images;
    return problem_of(
        path, [&] { append_leaf_json(path, kTiny, images); },
        "Have LEAF make the file again, or copy it again");
  }
};

TEST_F(LeafJson, GivesShadesLabelsAndUsers) {
  UserImages images;
  append_leaf_json(write("a.json", Leaf().json()), kTiny, images);
  EXPECT_THAT(images.pixels, ElementsAre(0, 255, 51, 128));
  EXPECT_THAT(images.labels, ElementsAre(3, 0));
  ASSERT_EQ(images.users.size(), 1U);
  EXPECT_EQ(images.users[0].name, "ann");
  EXPECT_EQ(images.users[0].images, 2);
}

TEST_F(LeafJson, AppendsFileToFilePackedOrNotWhateverTheOrderOfKeys) {
  UserImages images;
  append_leaf_json(write("a.json", Leaf().json()), kTiny, images);
  append_leaf_json(
      write_gzip("b.json.gz",
                 R"({"user_data": {"bob": {"y": [1], "x": [[1, 0]]}, "eve": {"y": [], "x": []}}, )"
                 R"("hierarchies": [], "num_samples": [1, 0], "users": ["bob", "eve"]})"),
      kTiny, images);
  EXPECT_THAT(images.pixels, ElementsAre(0, 255, 51, 128, 255, 0));
  EXPECT_THAT(images.labels, ElementsAre(3, 0, 1));
  ASSERT_EQ(images.users.size(), 3U);
  EXPECT_EQ(images.users[2].images, 0);
}

TEST_F(LeafJson, RefusesSizesLabelsAndCountsThatDoNotAgree) {
  for (const auto& [leaf, message] : std::vector<std::pair<Leaf, std::string>>{
           {{.data = R"({"ann": {"x": [[0.0, 1.0], [0.2]], "y": [3, 0]}})"},
            "image 1 (counting from 0) of ann: 1 numbers; allowed: 2"},
           {{.data = R"({"ann": {"x": [[0.0, 1.0, 1.0], [0.2, 0.2]], "y": [3, 0]}})"},
            "image 0 (counting from 0) of ann: 3 numbers; allowed: 2"},
           {{.data = R"({"ann": {"x": [[1, 1], [1, 1]], "y": [3, 4]}})"},
            "image 1 (counting from 0) of ann: the label 4; allowed: 0 to 3"},
           {{.data = R"({"ann": {"x": [[1, 1], [1, 1]], "y": [-1, 3]}})"},
            "image 0 (counting from 0) of ann: the label -1; allowed: 0 to 3"},
           {{.data = R"({"ann": {"x": [[1, 1], [1, 1]], "y": [3]}})"},
            "ann: 2 images and 1 labels; allowed: as many as images"},
           {{.counts = "[3]"}, "ann has 2 images, but its number of samples is 3; allowed: equal numbers"},
           {{.users = R"(["ann", "bob"])", .counts = "[2, 1]"},
            "2 users, 2 numbers of samples and data of 1 users; allowed: one of each for every user"},
           {{.users = R"(["bob"])"}, "there are no data of the user bob; allowed: data of every user"},
           {{.data = R"({"ann": {"x": [[1, 1]], "x": [[0, 0], [1, 1]], "y": [3, 0]}})"},
            "ann: x occurs twice; allowed: once"},
           {{.data = R"({"ann": {"y": [3], "x": [[0, 0], [1, 1]], "y": [0]}})"},
            "ann: y occurs twice; allowed: once"},
           {{.data = Leaf().data + R"(, "user_data": {})"}, "user_data occurs twice; allowed: once"},
           {{.users = R"(["ann", "ann"])"}, "the list of users names ann twice; allowed: once"}}) {
    EXPECT_EQ(refusal(leaf.json()), message);
  }
}

TEST_F(LeafJson, RefusesANumberThatIsNoShade) {
  for (const std::string number : {"0.5", "1.1", "-0.2", "1e300"}) {
    EXPECT_THAT(
        refusal(Leaf{.data = R"({"ann": {"x": [[0.0, )" + number + R"(], [1, 1]], "y": [3, 0]}})"}.json()),
        AllOf(HasSubstr("image 0 (counting from 0) of ann: the number "),
              EndsWith("; allowed: k/255 with k from 0 to 255")));
  }
}

TEST_F(LeafJson, RefusesTextThatIsCutOffAtAnyByte) {
  const std::string whole = Leaf().json();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refusal(whole.substr(0, size)), "") << whole.substr(0, size);
  }
}

TEST_F(LeafJson, RefusesWhatFollowsTheDocument) {
  EXPECT_EQ(refusal(Leaf().json() + "\n" + Leaf().json()),
            "something follows the end of the document; allowed: one document");
  UserImages images;
  EXPECT_NO_THROW(append_leaf_json(write("a.json", Leaf().json() + " \n\n"), kTiny, images));
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
  write("femnist/train/all_data_0_niid_05_keep_0_train_9.json", shade("ann", 7, 61));
  write_gzip("femnist/train/all_data_1.json.gz", shade("bob", 8, 10));
  write("femnist/train/notes.txt", "no data");
  write("femnist/test/all_data_0.json", shade("eve", 9, 0));
  write("femnist/test/all_data_1.json", shade("bob", 10, 1));
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
  write("femnist/train/all_data_0.json", shade("ann", 7, 61));
  write("femnist/train/all_data_1.json", shade("ann", 7, 61));
  write("femnist/test/all_data_0.json", shade("ann", 9, 0));
  expect_refused(has_all("train/all_data_1.json: the user ann is in ", "train/all_data_0.json too"),
                 [&] { load_dataset("femnist", {}, {folder_}); });
}

TEST_F(Femnist, ThatIsNotThereIsReportedWithFoldersAndRemedy) {
  write("femnist/train/all_data_0.json", shade("ann", 7, 61));  // and no test/
  EXPECT_EQ(
      message_of([&] { load_dataset("femnist", {}, {folder_}); }),
      fmt::format("the data set \"femnist\" was not found: looked for train/all_data*.json and "
                  "test/all_data*.json (each plain or .gz) in {}\n"
                  "  Set FEDARENA_DATA to a folder that holds femnist/ with these files; "
                  "github.com/TalwalkarLab/leaf makes them (data/femnist, preprocess.sh with -t sample)",
                  (folder_ / "femnist").string()));
}

// What a client's group holds.
struct Shard {
  std::string name;
  std::vector<float> pixels;
  std::vector<int> labels;
  hsize_t side = 1;
  bool with_labels = true;
};

class FedEmnist : public ScratchFolder {
 protected:
  static constexpr EmnistLayout kTiny{.side = 1, .classes = 4};

  std::filesystem::path write_h5(const std::string& name, const std::vector<Shard>& clients,
                                 const char* group = "examples") const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t examples = H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (const Shard& client : clients) {
      const hid_t shard = H5Gcreate2(examples, client.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      const hsize_t images = client.pixels.size() / (client.side * client.side);
      put(shard, "pixels", H5T_NATIVE_FLOAT, {images, client.side, client.side}, client.pixels.data());
      if (client.with_labels)
        put(shard, "label", H5T_NATIVE_INT, {client.labels.size()}, client.labels.data());
      H5Gclose(shard);
    }
    H5Gclose(examples);
    H5Fclose(file);
    return path;
  }

  std::string refusal(const std::filesystem::path& path) const {
    return problem_of(path, [&] { read_emnist_h5(path, kTiny); });
  }

  hid_t label_type_ = H5T_NATIVE_INT;  // that labels are stored as
  H5Z_filter_t filter_ = -1;           // that packs what is written; none

 private:
  void put(hid_t group, const char* name, hid_t type, const std::vector<hsize_t>& shape,
           const void* data) const {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (filter_ >= 0) {
      H5Pset_chunk(creation, static_cast<int>(shape.size()), shape.data());
      H5Pset_filter(creation, filter_, H5Z_FLAG_MANDATORY, 0, nullptr);
    }
    const hid_t stored = type == H5T_NATIVE_INT ? label_type_ : type;
    const hid_t set = H5Dcreate2(group, name, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(space);
  }
};

TEST_F(FedEmnist, GivesShadesLabelsAndClientsByName) {
  const auto path = write_h5("a.h5", {{"f2", {1, 0}, {3, 0}}, {"f1", {51 / 255.F}, {2}}});
  const UserImages images = read_emnist_h5(path, kTiny);
  EXPECT_THAT(images.pixels, ElementsAre(51, 255, 0));
  EXPECT_THAT(images.labels, ElementsAre(2, 3, 0));
  ASSERT_EQ(images.users.size(), 2U);
  EXPECT_EQ(images.users[0].name, "f1");
  EXPECT_EQ(images.users[1].images, 2);
}

herr_t tell(hid_t /*stack*/, void* /*told*/) { return 0; }

// By a copy of the process alone, which leaves this one's HDF5 as it is.
TEST_F(FedEmnist, IsReadOnce) {
  const auto path = write_h5("a.h5", {{"f1", {1}, {2}}});
  ASSERT_GE(H5Eset_auto2(H5E_DEFAULT, tell, nullptr), 0);
  EXPECT_EQ(read_emnist_h5(path, kTiny).labels.size(), 1U);
  H5E_auto2_t told = nullptr;
  void* data = nullptr;
  ASSERT_GE(H5Eget_auto2(H5E_DEFAULT, &told, &data), 0);
  EXPECT_EQ(told, &tell);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

TEST_F(FedEmnist, RefusesWhatIsOfAnotherFormOrOutOfRange) {
  const std::string allowed = "HDF5 with examples/CLIENT/pixels and examples/CLIENT/label";
  EXPECT_EQ(refusal(write("a.h5", Bytes(300, 'a'))), "this is not a whole HDF5 file; allowed: " + allowed);
  EXPECT_EQ(refusal(write_h5("a.h5", {}, "data")), "there is no group \"examples\"; allowed: " + allowed);
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1}, {}, 1, false}})),
            "f1: there is no data set \"label\" in this file; allowed: " + allowed);
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1, 1, 1, 1}, {2}, 2}})),
            "f1: the data set \"pixels\" is 1 x 2 x 2; allowed: images x 1 x 1");
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1}, {2, 2}}})),
            "f1: 1 images and 2 labels; allowed: as many labels as images");
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1}, {4}}})), "f1: the label 4; allowed: 0 to 3");
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1}, {-1}}})), "f1: the label -1; allowed: 0 to 3");
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {0.5}, {1}}})),
            "f1: the number 0.5; allowed: k/255 with k from 0 to 255");
  label_type_ = H5T_NATIVE_FLOAT;
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1}, {1}}})),
            "f1: the data set \"label\" does not hold whole numbers; allowed: " + allowed);
}

// A file that was checked, and what it names beside itself.
TEST_F(FedEmnist, TakesNothingFromOtherFiles) {
  const auto other = write_h5("other.h5", {{"f1", {1}, {2}}});
  const auto path = write_h5("a.h5", {{"f1", {1}, {2}}});
  const auto with_label = [&](const std::function<void(hid_t shard)>& make) {
    write_h5("a.h5", {{"f1", {1}, {2}, 1, false}});
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t shard = H5Gopen2(file, "examples/f1", H5P_DEFAULT);
    make(shard);
    H5Gclose(shard);
    H5Fclose(file);
    return refusal(path);
  };
  EXPECT_THAT(with_label([&](hid_t shard) {
                H5Lcreate_external(other.c_str(), "examples/f1/label", shard, "label", H5P_DEFAULT,
                                   H5P_DEFAULT);
              }),
              StartsWith("f1: there is no data set \"label\" in this file; allowed: "));
  const auto numbers = write("numbers", Bytes(4, 1));
  EXPECT_THAT(with_label([&](hid_t shard) {
                const hsize_t one = 1;
                const hid_t space = H5Screate_simple(1, &one, nullptr), how = H5Pcreate(H5P_DATASET_CREATE);
                H5Pset_external(how, numbers.c_str(), 0, 4);
                H5Dclose(H5Dcreate2(shard, "label", H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT));
                H5Pclose(how);
                H5Sclose(space);
              }),
              StartsWith("f1: the numbers of \"label\" lie in other files; allowed: "));
}

std::size_t unchanged(unsigned /*flags*/, std::size_t /*values*/, const unsigned* /*value*/,
                      std::size_t bytes, std::size_t* /*room*/, void** /*buffer*/) {
  return bytes;
}

TEST_F(FedEmnist, NamesAFilterThatIsNotInstalled) {
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, 300, 1, 1, "squeeze", nullptr, nullptr, unchanged};
  ASSERT_GE(H5Zregister(&filter), 0);
  filter_ = filter.id;
  const auto path = write_h5("a.h5", {{"f1", {1}, {2}}});
  EXPECT_EQ(read_emnist_h5(path, kTiny).labels.size(), 1U);
  ASSERT_GE(H5Zunregister(filter.id), 0);
  EXPECT_EQ(
      refusal(path),
      "f1: the data set \"label\" is packed by the filter 300 (squeeze), which is not installed; allowed: "
      "gzip, shuffle or nothing, as `h5repack -f GZIP=4` makes it");
}

TEST_F(FedEmnist, RefusesAFileThatIsCutOff) {
  const Bytes whole = bytes_of(write_h5("a.h5", {{"f2", {1, 0}, {3, 0}}, {"f1", {51 / 255.F}, {2}}}));
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const auto path =
        write("cut.h5", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_THAT(refusal(path), HasSubstr("this is not a whole HDF5 file")) << size;
  }
}

// A heap of names that says it is larger than memory: HDF5 1.10 copies that much.
TEST_F(FedEmnist, RefusesAFileOnWhichTheLibraryCrashes) {
  Bytes damaged = bytes_of(write_h5("a.h5", {{"f1", {1}, {2}}}));
  const std::string heap = "HEAP";
  const auto size = std::ranges::search(damaged, heap).begin() + 8;
  std::fill(size, size + 8, Bytes::value_type{0xff});
  EXPECT_THAT(refusal(write("damaged.h5", damaged)), HasSubstr("damaged"));
}

TEST_F(FedEmnist, IsLoadedByUserFromTheTwoFilesOfItsFolder) {
  const std::vector<float> white(784, 1), black(784, 0);
  write_h5("fed-emnist/fed_emnist_digitsonly_train.h5", {{"f1", white, {9}, 28}, {"f2", black, {0}, 28}});
  write_h5("fed-emnist/fed_emnist_digitsonly_test.h5", {{"f2", black, {1}, 28}});
  const Dataset emnist = load_dataset("fed-emnist", {{"digits_only", true}}, {folder_});
  EXPECT_EQ(emnist.train.inputs.sizes(), (std::vector<std::int64_t>{2, 1, 28, 28}));
  EXPECT_TRUE(torch::all(emnist.train.inputs[0] == 255).item<bool>());
  EXPECT_EQ(emnist.classes, 10);
  EXPECT_THAT(emnist.users, ElementsAre("f1", "f2"));
  EXPECT_THAT(emnist.test.users, ElementsAre(1));
  expect_refused("looked for fed_emnist_train.h5, fed_emnist_test.h5",
                 [&] { load_dataset("fed-emnist", {}, {folder_}); });
}

}  // namespace
}  // namespace fedarena
