#include <hdf5.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/published/emnist_h5.hpp"
#include "datasets/registry.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace fedarena {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

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
    const std::string message = message_of([&] { read_emnist_h5(path, kTiny); });
    const std::string begin = path.string() + ": ";
    EXPECT_EQ(message.substr(0, begin.size()), begin);
    EXPECT_THAT(message, EndsWith("\n  Replace the file with the publisher's"));
    return message.substr(begin.size(), message.find('\n') - begin.size());
  }

 private:
  static void put(hid_t group, const char* name, hid_t type, const std::vector<hsize_t>& shape,
                  const void* data) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(set);
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

TEST_F(FedEmnist, RefusesWhatIsOfAnotherForm) {
  const std::string allowed = "HDF5 with examples/CLIENT/pixels and examples/CLIENT/label";
  EXPECT_EQ(refusal(write("a.h5", Bytes(300, 'a'))), "this is not a whole HDF5 file; allowed: " + allowed);
  EXPECT_EQ(refusal(write_h5("a.h5", {}, "data")), "there is no group \"examples\"; allowed: " + allowed);
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1}, {}, 1, false}})),
            "f1: there is no data set \"label\"; allowed: " + allowed);
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1, 1, 1, 1}, {2}, 2}})),
            "f1: the data set \"pixels\" is 1 x 2 x 2; allowed: images x 1 x 1");
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1}, {2, 2}}})),
            "f1: 1 images and 2 labels; allowed: as many labels as images");
}

TEST_F(FedEmnist, RefusesLabelsAndNumbersOutOfRange) {
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1}, {4}}})), "f1: the label 4; allowed: 0 to 3");
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {1}, {-1}}})), "f1: the label -1; allowed: 0 to 3");
  EXPECT_EQ(refusal(write_h5("a.h5", {{"f1", {0.5}, {1}}})),
            "f1: the number 0.5; allowed: k/255 with k from 0 to 255");
}

TEST_F(FedEmnist, RefusesAFileThatIsCutOff) {
  const Bytes whole = bytes_of(write_h5("a.h5", {{"f2", {1, 0}, {3, 0}}, {"f1", {51 / 255.F}, {2}}}));
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const auto path =
        write("cut.h5", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_THAT(refusal(path), HasSubstr("this is not a whole HDF5 file")) << size;
  }
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
  EXPECT_THAT(message_of([&] { load_dataset("fed-emnist", {}, {folder_}); }),
              HasSubstr("looked for fed_emnist_train.h5, fed_emnist_test.h5"));
}

}  // namespace
}  // namespace fedarena
