// Pictures that the user sorted into folders: PATH/train/CLASS/*.png and PATH/test/CLASS/*.png (or .jpg), or
// PATH/CLASS/*.png, of which a part is set aside for testing.
#include <cmath>

#include "fedarena/base/error.hpp"

#include "datasets/hold_out.hpp"
#include "datasets/own/pictures.hpp"
#include "datasets/published/published_files.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct ImageFolderConfig {
  std::string path;
  double test_fraction = 0;
  std::string colour = "as-is";
  bool standardise = true;

  static Schema<ImageFolderConfig> schema() {
    return {
        {"path", &ImageFolderConfig::path,
         "The folder that holds train/CLASS/ and test/CLASS/ with PNG or JPEG files, or, with test_fraction, "
         "CLASS/; relative to the working directory, else to a folder of FEDARENA_DATA."},
        {"test_fraction", &ImageFolderConfig::test_fraction,
         "About which part of PATH/CLASS/ is set aside for testing, each picture by its own content; 0: "
         "what lies in test/, beside train/.",
         Constraint::between(0, 0.999)},
        {"colour", &ImageFolderConfig::colour,
         "Whether pictures are taken as they are or turned into grey or colour.",
         Constraint::one_of({"as-is", "grey", "colour"})},
        {"standardise", &ImageFolderConfig::standardise,
         "Whether every channel gets mean 0 and deviation 1 over the training part, computed outside of "
         "the privacy ledger; otherwise values are from 0 to 1."}};
  }

  void validate() const {
    if (path.empty())
      throw Error(
          Complaint{.found = "path is \"\"", .allowed = "a folder with train/CLASS/ and test/CLASS/"});
  }
};

// Mean and deviation of every channel, from exact sums.
void standardise(Dataset& dataset) {
  const torch::Tensor& images = dataset.train.inputs;
  for (std::int64_t channel = 0; channel < images.size(1); ++channel) {
    const torch::Tensor counts = torch::bincount(images.select(1, channel).flatten(), {}, 256);
    double number = 0, sum = 0, squares = 0;
    for (std::int64_t shade = 0; shade < 256; ++shade) {
      const auto count = static_cast<double>(counts[shade].item<std::int64_t>());
      const double value = static_cast<double>(shade) / 255;
      number += count;
      sum += count * value;
      squares += count * value * value;
    }
    const double mean = sum / number;
    const double variance = squares / number - mean * mean;
    dataset.mean.push_back(mean);
    dataset.deviation.push_back(variance > 1e-12 ? std::sqrt(variance) : 1);
  }
  dataset.read_off.emplace_back("means and deviations of the features");
}

// A picture's part is decided by its own file: no other picture, added or removed, changes it, and copies of
// one picture are in one part.
bool is_for_testing(const std::string& digest, double fraction) {
  return static_cast<double>(std::stoul(digest.substr(0, 8), nullptr, 16)) < fraction * 0x1p32;
}

void set_aside(const Pictures::Read& read, const ImageFolderConfig& config,
               const std::vector<std::string>& classes, const fs::path& folder, Dataset& dataset) {
  std::vector<std::int64_t> train, test;
  for (std::int64_t i = 0; i < std::ssize(read.digests); ++i) {
    const bool tested = is_for_testing(read.digests[static_cast<std::size_t>(i)], config.test_fraction);
    (tested ? test : train).push_back(i);
  }
  dataset.train = chosen(read.examples, train);
  dataset.test = chosen(read.examples, test);
  const std::string remedy =
      "Choose another test_fraction, add pictures, or sort them into train/CLASS/ and test/CLASS/";
  if (test.empty()) reject_file(folder, "test_fraction sets no picture aside for testing", "", remedy);
  const torch::Tensor counts = torch::bincount(dataset.train.targets, {}, dataset.classes);
  if (const std::int64_t least = counts.argmin().item<std::int64_t>();
      counts[least].item<std::int64_t>() == 0)
    reject_file(folder / classes[static_cast<std::size_t>(least)],
                "test_fraction sets all its pictures aside for testing", "", remedy);
}

Dataset load_image_folder(const Settings& settings, const SearchPath& search_path) {
  const ImageFolderConfig config = ImageFolderConfig::schema().read(settings);
  const fs::path folder = find_own("path", config.path, search_path);
  const bool whole = config.test_fraction > 0;
  const std::vector<std::string> classes = classes_of(whole ? folder : folder / "train");
  if (whole && classes == std::vector<std::string>{"test", "train"})
    reject_file(folder, "the folder has parts of its own, train/ and test/", "", "Leave test_fraction out");
  Dataset dataset;
  dataset.read_off = {"the classes"};
  dataset.classes = std::ssize(classes);
  Pictures pictures(config.colour, classes);
  if (whole) {
    set_aside(pictures.read(folder), config, classes, folder, dataset);
  } else {
    dataset.train = pictures.read(folder / "train").examples;
    dataset.test = pictures.read(folder / "test").examples;
  }
  dataset.taken = pictures.taken(dataset, true);
  dataset.taken_without_labels = pictures.taken(dataset, false);
  if (config.standardise) {
    standardise(dataset);
  } else {
    const auto channels = static_cast<std::size_t>(dataset.train.inputs.size(1));
    dataset.mean.assign(channels, 0);
    dataset.deviation.assign(channels, 1);
  }
  return dataset;
}

}  // namespace

DatasetSource image_folder_source() {
  return {
      .name = "image-folder",
      .summary = "Your own pictures, PNG or JPEG, in a folder for each class; classes are sorted by name.",
      .fields = ImageFolderConfig::schema().fields(),
      .required = {"path"},
      .origin = DatasetOrigin::kOwn,
      .load = load_image_folder,
      .check = [](const Settings& settings) { ImageFolderConfig::schema().read(settings); }};
}

}  // namespace fedarena
