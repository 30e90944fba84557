// Pictures that the user sorted into folders: PATH/train/CLASS/*.png and PATH/test/CLASS/*.png (or .jpg), or
// PATH/CLASS/*.png, of which a part is set aside for testing.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "datasets/hold_out.hpp"
#include "datasets/own/csv_cell.hpp"
#include "datasets/own/lookalikes.hpp"
#include "datasets/own/picture_file.hpp"
#include "datasets/published/published_files.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostListed = 20;
constexpr const char* kFolders = "/";  // in place of an ending, which has none

// What lies in a folder, by name, without names that begin with a dot.
struct Entries {
  std::vector<fs::path> wanted, others;
};

Entries entries(const fs::path& folder, bool (*wanted)(const fs::directory_entry&)) {
  Entries found;
  try {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().filename().string().front() == '.') continue;
      (wanted(entry) ? found.wanted : found.others).push_back(entry.path());
    }
  } catch (const fs::filesystem_error& error) {
    reject_file(folder, fmt::format("the folder cannot be read ({})", error.code().message()), "",
                "Give path a folder that holds train/CLASS/ and test/CLASS/, or, with test_fraction, CLASS/");
  }
  std::ranges::sort(found.wanted);
  return found;
}

// Of what a link leads to. Throws Error where nobody can tell.
fs::file_type type_of(const fs::directory_entry& entry) {
  std::error_code failure;
  const fs::file_type type = entry.status(failure).type();
  if (type == fs::file_type::not_found)
    reject_file(entry.path(), "is a link to what is not there", "", "Mend or remove it");
  if (type == fs::file_type::none)
    reject_file(entry.path(), fmt::format("cannot be read ({})", failure.message()), "", "Mend or remove it");
  return type;
}

bool is_folder(const fs::directory_entry& entry) { return type_of(entry) == fs::file_type::directory; }

// Throws Error for what is called a picture and holds none, so that no picture is missed in silence.
bool is_picture(const fs::directory_entry& entry) {
  if (!is_picture_name(entry.path())) return false;
  const fs::file_type type = type_of(entry);
  if (type != fs::file_type::regular && type != fs::file_type::directory)
    reject_file(entry.path(), "is not a regular file", "", "Put a PNG or JPEG file there, or remove it");
  return type == fs::file_type::regular;
}

// What was passed over, counted by its ending.
std::string by_ending(const std::vector<fs::path>& paths) {
  std::map<std::string, std::int64_t> counts;
  for (const fs::path& path : paths) {
    std::error_code ignored;
    ++counts[fs::is_directory(path, ignored) ? kFolders : path.extension().string()];
  }
  return join_names(names_of(counts, [](const auto& entry) {
    const auto& [ending, count] = entry;
    if (ending == kFolders) return counted(count, "folder");
    return fmt::format("{} {}", count, ending.empty() ? "without an ending" : fedarena::quoted(ending));
  }));
}

[[noreturn]] void reject_without_pictures(const fs::path& folder, const std::vector<fs::path>& others,
                                          const std::string& remedy) {
  reject_file(
      folder,
      others.empty() ? "there is no picture" : fmt::format("there is no picture, only {}", by_ending(others)),
      "CLASS/*.png, *.jpg or *.jpeg", remedy);
}

// The classes of a folder: its folders, by name. None where it holds no folder; throws Error for one class,
// for classes whose names hardly differ, and for what cannot be read.
std::vector<std::string> classes_of(const fs::path& folder) {
  const std::vector<fs::path> folders = entries(folder, is_folder).wanted;
  std::vector<std::string> classes =
      names_of(folders, [](const fs::path& path) { return path.filename().string(); });
  if (const auto alike = alike_names(classes, true))
    reject_file(folders[alike->first],
                fmt::format("the classes {} and {} hardly differ", quoted_exactly(classes[alike->first]),
                            quoted_exactly(classes[alike->second])),
                names_told_apart(true),
                "Put their pictures into one folder if they mean the same, else rename one");
  if (classes.size() == 1)
    reject_file(folder, "the folder holds one class, which needs no learning", "2 classes or more",
                "Sort pictures into folders, one for each class");
  return classes;
}

// The pictures of one or two folders of folders, all of one form.
class Pictures {
 public:
  // `colour`: "as-is", "grey" or "colour". `classes`: which folders there may be, as classes_of() has them.
  Pictures(const std::string& colour, std::vector<std::string> classes)
      : choice_(colour), classes_(std::move(classes)) {}

  // Pictures, and the SHA-256 of the files they are from.
  struct Read {
    Examples examples;
    std::vector<std::string> digests;  // one an example, ascending
  };

  // All pictures of FOLDER/CLASS/, by the SHA-256 of their files: partitions are dealt, and examples drawn
  // for validation, by position, so that in an order which knows no class, who holds which pictures does not
  // tell their labels. Throws Error, with the file, for a class without pictures and for a picture of another
  // form.
  Read read(const fs::path& folder) {
    struct Found {
      std::string digest, name;
      std::int64_t label, row;  // as it was read
    };
    std::vector<std::uint8_t> planes;
    std::vector<Found> found;
    const Entries folders = entries(folder, is_folder);
    pass_over(folders.others);
    for (const fs::path& class_folder : folders.wanted) {
      const std::size_t label = label_of(class_folder);
      const Entries files = entries(class_folder, is_picture);
      pass_over(files.others);
      if (files.wanted.empty())
        reject_without_pictures(class_folder, files.others,
                                "Convert its pictures to PNG, or remove the folder");
      for (const fs::path& file : files.wanted)
        found.push_back({append(file, planes), file.filename().string(), static_cast<std::int64_t>(label),
                         std::ssize(found)});
    }
    if (found.empty())
      reject_without_pictures(folder, folders.others, "Sort pictures into folders, one for each class");
    std::ranges::sort(found, {}, [](const Found& one) { return std::tie(one.digest, one.name); });
    // The order of such a pair would be that of their classes.
    const auto twins = std::ranges::adjacent_find(found, [](const Found& one, const Found& other) {
      return one.digest == other.digest && one.name == other.name;
    });
    if (twins != found.end())
      reject_file(folder / classes_[static_cast<std::size_t>(twins->label)] / twins->name,
                  fmt::format("the same picture has the same name in {}",
                              quoted_exactly(classes_[static_cast<std::size_t>(std::next(twins)->label)])),
                  "", "Remove one of the two, or rename it if both classes are meant");
    std::vector<std::int64_t> rows, labels;
    for (const Found& one : found) {
      rows.push_back(one.row);
      labels.push_back(one.label);
    }
    const torch::Tensor as_read = torch::from_blob(
        planes.data(), {std::ssize(found), form_->channels(), form_->height, form_->width}, torch::kUInt8);
    return {.examples = {.inputs = as_read.index_select(0, torch::tensor(rows, torch::kInt64)),
                         .targets = torch::tensor(labels, torch::kInt64)},
            .digests = names_of(found, &Found::digest)};
  }

  // What was taken for training and testing, in lines for a terminal.
  std::string taken(const Dataset& dataset, bool tells_labels) const {
    const auto counts = [&](const Examples& examples) {
      return torch::bincount(examples.targets, {}, std::ssize(classes_));
    };
    const torch::Tensor train = counts(dataset.train), test = counts(dataset.test);
    std::string text = fmt::format("image-folder: pictures of {}\n  classes{}:", in_words(*form_),
                                   tells_labels ? " (training + test pictures)" : "");
    for (std::size_t i = 0; i < std::min(classes_.size(), kMostListed); ++i) {
      const auto label = static_cast<std::int64_t>(i);
      text += fmt::format("{} {}", i == 0 ? "" : ",", quoted_exactly(classes_[i]));
      if (tells_labels)
        text += fmt::format(" {} + {}", train[label].item<std::int64_t>(), test[label].item<std::int64_t>());
    }
    if (classes_.size() > kMostListed) text += fmt::format(" and {} more", classes_.size() - kMostListed);
    return passed_over_.empty() ? text : text + "\n  passed over, by ending: " + by_ending(passed_over_);
  }

 private:
  void pass_over(const std::vector<fs::path>& others) {
    passed_over_.insert(passed_over_.end(), others.begin(), others.end());
  }

  std::size_t label_of(const fs::path& class_folder) const {
    const std::string name = class_folder.filename().string();
    const auto found = std::ranges::find(classes_, name);
    if (found == classes_.end())
      throw Error::in(class_folder, fmt::format("the class \"{}\" has no folder in train/", name),
                      {.allowed = join_names(classes_), .nearest = nearest_name(name, classes_)});
    return static_cast<std::size_t>(found - classes_.begin());
  }

  // The digest of the file.
  std::string append(const fs::path& file, std::vector<std::uint8_t>& planes) {
    const PictureFile picture(file);
    PictureForm form = picture.form();
    if (choice_ != "as-is") form.colour = choice_ == "colour";
    if (!form_) {
      form_ = form;
      first_ = file;
    }
    if (form != *form_)
      reject_file(
          file,
          fmt::format("the picture is {}, but {} is {}", in_words(form), first_.string(), in_words(*form_)),
          "pictures of one size, all grey or all in colour",
          form.colour == form_->colour ? "Scale or cut them to one size"
                                       : "Set colour = \"grey\" or colour = \"colour\"");
    picture.append(form.colour, planes);
    return picture.digest();
  }

  std::string choice_;
  std::vector<std::string> classes_;
  std::vector<fs::path> passed_over_;
  std::optional<PictureForm> form_;  // of the first picture
  fs::path first_;
};

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
