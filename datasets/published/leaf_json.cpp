#include "datasets/published/leaf_json.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <simdjson.h>
#include <string_view>

#include <fmt/format.h>

#include "datasets/published/published_files.hpp"

namespace fedarena {
namespace {

namespace json = simdjson::ondemand;

// The parser cannot address more.
constexpr std::size_t kLargest = 0xffff'ffff - simdjson::SIMDJSON_PADDING;

class LeafReader {
 public:
  LeafReader(const std::filesystem::path& file, const LeafLayout& layout, UserImages& images)
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

  const std::filesystem::path& file_;
  const LeafLayout& layout_;
  UserImages& images_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> counts_;
  std::map<std::string, std::int64_t> found_;
  std::string user_;         // who is being read
  std::int64_t image_ = -1;  // which image or label, or -1
};

}  // namespace

void append_leaf_json(const std::filesystem::path& file, const LeafLayout& layout, UserImages& images) {
  LeafReader(file, layout, images).read();
}

}  // namespace fedarena
