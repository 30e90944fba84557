#include "datasets/own/pictures.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "datasets/own/csv_cell.hpp"
#include "datasets/own/lookalikes.hpp"
#include "datasets/published/published_files.hpp"

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

}  // namespace

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

Pictures::Pictures(const std::string& colour, std::vector<std::string> classes)
    : choice_(colour), classes_(std::move(classes)) {}

Pictures::Read Pictures::read(const fs::path& folder) {
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

std::string Pictures::taken(const Dataset& dataset, bool tells_labels) const {
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

void Pictures::pass_over(const std::vector<fs::path>& others) {
  passed_over_.insert(passed_over_.end(), others.begin(), others.end());
}

std::size_t Pictures::label_of(const fs::path& class_folder) const {
  const std::string name = class_folder.filename().string();
  const auto found = std::ranges::find(classes_, name);
  if (found == classes_.end())
    throw Error::in(class_folder, fmt::format("the class \"{}\" has no folder in train/", name),
                    {.allowed = join_names(classes_), .nearest = nearest_name(name, classes_)});
  return static_cast<std::size_t>(found - classes_.begin());
}

// The digest of the file.
std::string Pictures::append(const fs::path& file, std::vector<std::uint8_t>& planes) {
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

}  // namespace fedarena
