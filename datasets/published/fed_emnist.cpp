// The federated EMNIST of TensorFlow Federated (simulation.datasets.emnist): handwritten digits and letters
// with their writers, in HDF5. No digest of these files was found, so any of their form are taken.
#include <memory>

#include "datasets/published/emnist_h5.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

struct FedEmnistConfig {
  bool digits_only = false;
  bool standardise = true;

  static Schema<FedEmnistConfig> schema() {
    return {
        {"digits_only", &FedEmnistConfig::digits_only, "The files of the 10 digits, without the letters."},
        {"standardise", &FedEmnistConfig::standardise,
         "Whether shades get mean 0 and deviation 1; otherwise ink is 0 and paper 1."}};
  }
};

PublishedFiles fed_emnist_files(bool digits_only) {
  const std::string name = digits_only ? "fed_emnist_digitsonly_" : "fed_emnist_";
  return {"fed-emnist",
          {"fed-emnist", "fed_emnist"},
          {{name + "train.h5"}, {name + "test.h5"}},
          "tensorflow_federated downloads them (simulation.datasets.emnist)"};
}

std::vector<std::filesystem::path> find_fed_emnist(const Settings& settings, const SearchPath& search_path) {
  return find_published(fed_emnist_files(FedEmnistConfig::schema().read(settings).digits_only), search_path);
}

Dataset load_fed_emnist(const Settings& settings, const SearchPath& search_path) {
  const FedEmnistConfig config = FedEmnistConfig::schema().read(settings);
  const auto files = find_fed_emnist(settings, search_path);
  EmnistLayout layout;
  if (config.digits_only) layout.classes = 10;
  NameNumbers writers;
  const auto read = [&](const std::filesystem::path& file) {
    const auto images = std::make_shared<UserImages>(read_emnist_h5(file, layout));
    if (images->labels.empty()) reject_file(file, "there is no image", "the images of some clients");
    return to_examples(images, layout.side, writers);
  };
  Dataset emnist;
  emnist.train = read(files[0]);
  emnist.test = read(files[1]);
  emnist.users = writers.names();
  emnist.classes = layout.classes;
  set_shades(emnist, config.standardise);
  return emnist;
}

}  // namespace

DatasetSource fed_emnist_source() {
  return {
      .name = "fed-emnist",
      .summary =
          "Handwritten digits and letters with their writers, from the files of TensorFlow Federated: 28 x "
          "28 grey, 62 classes.",
      .fields = FedEmnistConfig::schema().fields(),
      .files = fed_emnist_files(false),
      .load = load_fed_emnist,
      .find = find_fed_emnist};
}

}  // namespace fedarena
