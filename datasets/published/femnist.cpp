// FEMNIST as LEAF writes it (Caldas et al., "LEAF: A Benchmark for Federated Settings", 2018): handwritten
// digits and letters with their writers. LEAF builds it on each machine, so there is no digest to compare
// with: any files of its form are taken, also some of the writers.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <simdjson.h>
#include <string_view>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "datasets/published/formats.hpp"
#include "datasets/published/published_files.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;
namespace json = simdjson::ondemand;

// The parser cannot address more.
constexpr std::size_t kLargest = 0xffff'ffff - simdjson::SIMDJSON_PADDING;

class LeafReader {
 public:
  LeafReader(const fs::path& file, const LeafLayout& layout, UserImages& images)
      : file_(file), layout_(layout), images_(images) {}

  void read() {
    std::vector<std::uint8_t> text = read_content(file_, kLargest + 1);
    if (text.size() > kLargest) reject("the text is longer than 4 GiB", "several smaller files");
    const std::size_t size = text.size();
    text.resize(size + simdjson::SIMDJSON_PADDING);
    json::parser parser;
    try {
      json::document document = parser.iterate(reinterpret_cast<const char*>(text.data()), size, text.size());
      Keys keys;
      for (json::field field : document.get_object()) {
        const std::string key = once(field, keys);
        if (key == "users") read_names(field.value());
        if (key == "num_samples") read_counts(field.value());
        if (key == "user_data") read_users(field.value());
      }
      if (document.current_location().error() == simdjson::SUCCESS)
        reject("something follows the end of the document", "one document");
    } catch (const simdjson::simdjson_error& error) {
      reject(error.what(), "JSON as LEAF writes it");
    }
    check_counts();
  }

 private:
  // "image 3 of f0424_27: ", as far as it is known.
  std::string where() const {
    if (user_.empty()) return {};
    if (image_ < 0) return fmt::format("{}: ", user_);
    return fmt::format("image {} (counting from 0) of {}: ", image_, user_);
  }

  [[noreturn]] void reject(const std::string& found, const std::string& allowed) const {
    reject_file(file_, where() + found, allowed, kLeafRemedy);
  }

  using Keys = std::set<std::string>;

  // A second list would move the images or labels of all who follow.
  std::string once(json::field& field, Keys& keys) const {
    std::string key(std::string_view(field.unescaped_key()));
    if (!keys.insert(key).second) reject(fmt::format("{} occurs twice", key), "once");
    return key;
  }

  void read_names(json::value value) {
    Keys names;
    for (json::value name : value.get_array()) {
      names_.emplace_back(name.get_string().value());
      if (!names.insert(names_.back()).second)
        reject(fmt::format("the list of users names {} twice", names_.back()), "once");
    }
  }

  void read_counts(json::value value) {
    for (json::value count : value.get_array()) counts_.push_back(count.get_int64());
  }

  void read_users(json::value value) {
    for (json::field user : value.get_object()) {
      user_ = std::string(std::string_view(user.unescaped_key()));
      read_user(user.value());
      user_.clear();
    }
  }

  void read_user(json::value value) {
    const std::size_t labels_before = images_.labels.size();
    std::int64_t images = 0;
    Keys keys;
    for (json::field part : value.get_object()) {
      const std::string key = once(part, keys);
      if (key == "x") images = read_images(part.value());
      if (key == "y") read_labels(part.value());
    }
    const auto labels = static_cast<std::int64_t>(images_.labels.size() - labels_before);
    if (labels != images) reject(fmt::format("{} images and {} labels", images, labels), "as many as images");
    if (!found_.emplace(user_, images).second) reject("the user occurs twice", "once");
    images_.users.push_back({user_, images});
  }

  std::int64_t read_images(json::value value) {
    image_ = 0;
    for (json::value image : value.get_array()) {
      std::int64_t pixels = 0;
      for (json::value pixel : image.get_array()) {
        // What is too much is counted, not kept.
        if (++pixels <= layout_.pixels) images_.pixels.push_back(shade(pixel.get_double()));
      }
      if (pixels != layout_.pixels)
        reject(fmt::format("{} numbers", pixels), fmt::format("{}", layout_.pixels));
      ++image_;
    }
    const std::int64_t images = image_;
    image_ = -1;
    return images;
  }

  std::uint8_t shade(double value) const {
    const int shade = shade_of(value);
    if (shade < 0) reject(fmt::format("the number {}", value), "k/255 with k from 0 to 255");
    return static_cast<std::uint8_t>(shade);
  }

  void read_labels(json::value value) {
    image_ = 0;
    for (json::value entry : value.get_array()) {
      const std::int64_t label = entry.get_int64();
      if (label < 0 || label >= layout_.classes)
        reject(fmt::format("the label {}", label), fmt::format("0 to {}", layout_.classes - 1));
      images_.labels.push_back(label);
      ++image_;
    }
    image_ = -1;
  }

  // `users` and `num_samples` may stand before or after what they count.
  void check_counts() const {
    if (names_.size() != counts_.size() || names_.size() != found_.size())
      reject(fmt::format("{} users, {} numbers of samples and data of {} users", names_.size(),
                         counts_.size(), found_.size()),
             "one of each for every user");
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto found = found_.find(names_[i]);
      if (found == found_.end())
        reject(fmt::format("there are no data of the user {}", names_[i]), "data of every user");
      if (found->second != counts_[i])
        reject(fmt::format("{} has {} images, but its number of samples is {}", names_[i], found->second,
                           counts_[i]),
               "equal numbers");
    }
  }

  const fs::path& file_;
  const LeafLayout& layout_;
  UserImages& images_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> counts_;
  std::map<std::string, std::int64_t> found_;
  std::string user_;         // who is being read
  std::int64_t image_ = -1;  // which image or label, or -1
};

}  // namespace

void append_leaf_json(const fs::path& file, const LeafLayout& layout, UserImages& images) {
  LeafReader(file, layout, images).read();
}

int shade_of(double value) {
  const double shade = std::round(255 * value);
  // Texts have six digits or more, floats seven.
  const bool whole = shade >= 0 && shade <= 255 && std::abs(255 * value - shade) < 1e-3;
  return whole ? static_cast<int>(shade) : -1;
}

// The shades of 41,224 images of 300 writers have mean 0.9614 and deviation 0.1644.
void set_shades(Dataset& dataset, bool standardise) {
  dataset.mean = {standardise ? 0.9637 : 0};
  dataset.deviation = {standardise ? 0.1597 : 1};
}

Examples to_examples(const std::shared_ptr<UserImages>& images, std::int64_t side, NameNumbers& users) {
  Examples examples;
  for (const UserImages::User& user : images->users) {
    examples.users.insert(examples.users.end(), static_cast<std::size_t>(user.images),
                          users.number(user.name));
  }
  const auto count = static_cast<std::int64_t>(images->labels.size());
  examples.targets = torch::tensor(images->labels, torch::kInt64);
  examples.inputs = torch::from_blob(
      images->pixels.data(), {count, 1, side, side}, [images](void*) {}, torch::kUInt8);
  return examples;
}

namespace {

constexpr std::int64_t kFemnistSide = 28;

struct FemnistConfig {
  bool standardise = true;

  static Schema<FemnistConfig> schema() {
    return {{"standardise", &FemnistConfig::standardise,
             "Whether shades get mean 0 and deviation 1; otherwise ink is 0 and paper 1, as LEAF has them."}};
  }
};

// all_data*.json[.gz] of a folder, by name.
std::vector<fs::path> leaf_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;  // an unreadable folder is one that holds no file
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename().string();
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    if (name.starts_with("all_data") && name.ends_with(".json")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Without names: there may be any number.
PublishedFiles femnist_files() {
  return {.dataset = "femnist",
          .folders = {"femnist"},
          .files = {},
          .origin = "github.com/TalwalkarLab/leaf makes them (data/femnist, preprocess.sh with -t sample)"};
}

// The files of both parts, in the first folder that has any of each.
struct Parts {
  fs::path folder;
  std::vector<fs::path> train, test;
};

Parts find_parts(const SearchPath& search_path) {
  const SearchPath candidates = candidate_folders(femnist_files().folders, search_path);
  for (const fs::path& folder : candidates) {
    Parts parts{folder, leaf_files(folder / "train"), leaf_files(folder / "test")};
    if (!parts.train.empty() && !parts.test.empty()) return parts;
  }
  throw Error(Complaint{
      .found = fmt::format("the data set \"femnist\" was not found: looked for train/all_data*.json and "
                           "test/all_data*.json (each plain or .gz) in {}",
                           searched_folders(candidates)),
      .remedy = fmt::format("Set FEDARENA_DATA to a folder that holds femnist/ with these files; {}",
                            femnist_files().origin)});
}

std::vector<fs::path> find_femnist(const Settings& /*settings*/, const SearchPath& search_path) {
  Parts parts = find_parts(search_path);
  parts.train.insert(parts.train.end(), parts.test.begin(), parts.test.end());
  return parts.train;
}

Examples read_part(const std::vector<fs::path>& files, NameNumbers& writers) {
  const auto images = std::make_shared<UserImages>();
  std::map<std::string, fs::path> seen;
  for (const fs::path& file : files) {
    const std::size_t before = images->users.size();
    append_leaf_json(file, {}, *images);
    for (std::size_t i = before; i < images->users.size(); ++i) {
      const std::string& user = images->users[i].name;
      const auto [first, fresh] = seen.emplace(user, file);
      if (!fresh)
        reject_file(file, fmt::format("the user {} is in {} too", user, first->second.string()),
                    "each user in one file", kLeafRemedy);
    }
  }
  return to_examples(images, kFemnistSide, writers);
}

Dataset load_femnist(const Settings& settings, const SearchPath& search_path) {
  const Parts parts = find_parts(search_path);
  NameNumbers writers;
  Dataset femnist;
  femnist.train = read_part(parts.train, writers);
  femnist.test = read_part(parts.test, writers);
  if (femnist.train.size() == 0 || femnist.test.size() == 0)
    throw Error(
        Complaint{.place = {parts.folder.string()}, .found = "there is no image in train/ or in test/"});
  femnist.users = writers.names();
  femnist.classes = LeafLayout().classes;
  set_shades(femnist, FemnistConfig::schema().read(settings).standardise);
  return femnist;
}

}  // namespace

DatasetSource femnist_source() {
  return {
      .name = "femnist",
      .summary =
          "Handwritten digits and letters with their writers, from the files that LEAF makes: 28 x 28 grey, "
          "62 classes.",
      .fields = FemnistConfig::schema().fields(),
      .files = femnist_files(),
      .load = load_femnist,
      .find = find_femnist};
}

}  // namespace fedarena
