// Pictures that the user sorted into folders: PATH/train/CLASS/*.png and PATH/test/CLASS/*.png (or .jpg).
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

#include "datasets/own/picture_file.hpp"
#include "datasets/published/published_files.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct ImageFolderConfig {
  std::string path;
  std::string colour = "as-is";
  bool standardise = true;

  static Schema<ImageFolderConfig> schema() {
    return {{"path", &ImageFolderConfig::path,
             "The folder that holds train/CLASS/ and test/CLASS/ with PNG or JPEG files; relative to the "
             "working directory, else to a folder of FEDARENA_DATA."},
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

// The entries of a folder by name, without those that begin with a dot.
std::vector<fs::path> entries(const fs::path& folder, bool (*wanted)(const fs::directory_entry&)) {
  std::vector<fs::path> found;
  try {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().filename().string().front() != '.' && wanted(entry)) found.push_back(entry.path());
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(Complaint{.place = {folder.string()},
                          .found = fmt::format("the folder cannot be read ({})", error.code().message()),
                          .remedy = "Give path a folder that holds train/CLASS/ and test/CLASS/"});
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The pictures of both parts, which must be alike.
class Pictures {
 public:
  explicit Pictures(const std::string& colour) : choice_(colour) {}

  // The examples of one part; `classes` are those of the training part.
  Examples read(const fs::path& folder, const std::vector<std::string>& classes) {
    auto planes = std::make_shared<std::vector<std::uint8_t>>();
    std::vector<std::int64_t> labels;
    for (const fs::path& class_folder : entries(folder, is_folder)) {
      const std::string name = class_folder.filename().string();
      const auto found = std::find(classes.begin(), classes.end(), name);
      if (found == classes.end())
        throw Error(Complaint{.place = {class_folder.string()},
                              .found = fmt::format("the class \"{}\" has no folder in train/", name),
                              .allowed = join_names(classes),
                              .nearest = nearest_name(name, classes)});
      for (const fs::path& file : entries(class_folder, is_picture)) {
        append(file, *planes);
        labels.push_back(found - classes.begin());
      }
    }
    if (labels.empty())
      throw Error(Complaint{.place = {folder.string()},
                            .found = "there is no picture",
                            .allowed = "CLASS/*.png, *.jpg or *.jpeg"});
    const auto count = static_cast<std::int64_t>(labels.size());
    Examples examples;
    examples.targets = torch::tensor(labels, torch::kInt64);
    // The tensor keeps the bytes where they are.
    examples.inputs = torch::from_blob(
        planes->data(), {count, colour_ ? 3 : 1, form_->height, form_->width}, [planes](void*) {},
        torch::kUInt8);
    return examples;
  }

  static bool is_folder(const fs::directory_entry& entry) { return entry.is_directory(); }
  static bool is_picture(const fs::directory_entry& entry) {
    return entry.is_regular_file() && is_picture_name(entry.path());
  }

 private:
  void append(const fs::path& file, std::vector<std::uint8_t>& planes) {
    const PictureFile picture(file);
    PictureForm form = picture.form();
    if (choice_ != "as-is") form.colour = choice_ == "colour";
    if (!form_) {
      form_ = form;
      first_ = file;
      colour_ = form.colour;
    }
    if (form != *form_)
      throw Error(Complaint{.place = {file.string()},
                            .found = fmt::format("the picture is {}, but {} is {}", in_words(form),
                                                 first_.string(), in_words(*form_)),
                            .allowed = "pictures of one size, all grey or all in colour",
                            .remedy = form.colour == form_->colour
                                          ? "Scale or cut them to one size"
                                          : "Set colour = \"grey\" or colour = \"colour\""});
    picture.append(colour_, planes);
  }

  std::string choice_;
  std::optional<PictureForm> form_;  // of the first picture
  fs::path first_;
  bool colour_ = false;
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
}

Dataset load_image_folder(const Settings& settings, const SearchPath& search_path) {
  const ImageFolderConfig config = ImageFolderConfig::schema().read(settings);
  const fs::path folder = find_own("path", config.path, search_path);
  std::vector<std::string> classes;
  for (const fs::path& path : entries(folder / "train", Pictures::is_folder))
    classes.push_back(path.filename().string());
  Pictures pictures(config.colour);
  Dataset dataset;
  dataset.name = "image-folder";
  dataset.train = pictures.read(folder / "train", classes);
  dataset.test = pictures.read(folder / "test", classes);
  dataset.classes = static_cast<std::int64_t>(classes.size());
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
      .origin = DatasetOrigin::kOwn,
      .load = load_image_folder,
      .check = [](const Settings& settings) { ImageFolderConfig::schema().read(settings); }};
}

}  // namespace fedarena
