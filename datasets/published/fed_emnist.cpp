// The federated EMNIST of TensorFlow Federated (simulation.datasets.emnist): handwritten digits and letters
// with their writers, in HDF5. No digest of these files was found, so any of their form are taken.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <hdf5.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"
#include "fedarena/base/trial.hpp"

#include "datasets/published/formats.hpp"
#include "datasets/published/published_files.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

constexpr const char* kAllowed = "HDF5 with examples/CLIENT/pixels and examples/CLIENT/label";

// Something of HDF5's that must be closed.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// What a piece is that the copy of this process hands over: its first byte.
enum Piece : char { kNamePiece = 'n', kLabelPiece = 'l', kPixelPiece = 'p', kRefusalPiece = 'r' };

void hand_over(const TakePiece& give, Piece kind, std::string_view bytes) {
  std::string piece(1, kind);
  piece += bytes;
  give(piece);
}

template <typename Number>
std::string_view bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

// How a group or a data set is opened: by no link into another file, which nobody has checked.
hid_t without_other_files(hid_t kind) {
  const hid_t access = H5Pcreate(kind);
  const H5L_elink_traverse_t refuse = [](const char*, const char*, const char*, const char*, unsigned*, hid_t,
                                         void*) -> herr_t { return -1; };
  H5Pset_elink_cb(access, refuse, nullptr);
  return access;
}

// Hands over a client's name, labels and pixels, one client after the other.
class EmnistReader {
 public:
  EmnistReader(const std::filesystem::path& file, const EmnistLayout& layout, const TakePiece& give)
      : file_(file), layout_(layout), give_(give) {}

  void read() const {
    // The library would print what we report.
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const RegularFile opened(file_);  // or says what is there instead
    const Handle file(H5Fopen(file_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file) reject_file(file_, "this is not a whole HDF5 file", kAllowed);
    const Handle inside(without_other_files(H5P_GROUP_ACCESS), H5Pclose);
    const Handle clients(H5Gopen2(file.get(), "examples", inside.get()), H5Gclose);
    if (!clients) reject_file(file_, "there is no group \"examples\"", kAllowed);
    H5G_info_t info{};
    if (H5Gget_info(clients.get(), &info) < 0)
      reject_file(file_, "the group \"examples\" is damaged", kAllowed);
    for (hsize_t i = 0; i < info.nlinks; ++i) read_client(clients.get(), name_of(clients.get(), i));
  }

 private:
  [[noreturn]] void reject(const std::string& client, const std::string& found,
                           const std::string& allowed) const {
    reject_file(file_, fmt::format("{}: {}", client, found), allowed);
  }

  std::string name_of(hid_t clients, hsize_t index) const {
    const auto name = [&](char* buffer, std::size_t size) {
      return H5Lget_name_by_idx(clients, ".", H5_INDEX_NAME, H5_ITER_INC, index, buffer, size, H5P_DEFAULT);
    };
    const ssize_t length = name(nullptr, 0);
    if (length < 0) reject_file(file_, "the group \"examples\" is damaged", kAllowed);
    std::string text(static_cast<std::size_t>(length), ' ');
    name(text.data(), text.size() + 1);
    return text;
  }

  void read_client(hid_t clients, const std::string& client) const {
    std::vector<int> labels;
    const auto images = read_numbers(clients, client, "label", {}, H5T_NATIVE_INT, labels);
    std::vector<float> pixels;
    const auto side = static_cast<hsize_t>(layout_.side);
    const auto count = read_numbers(clients, client, "pixels", {side, side}, H5T_NATIVE_FLOAT, pixels);
    if (count != images)
      reject(client, fmt::format("{} images and {} labels", count, images), "as many labels as images");
    for (const int label : labels) {
      if (label < 0 || label >= layout_.classes)
        reject(client, fmt::format("the label {}", label), fmt::format("0 to {}", layout_.classes - 1));
    }
    std::vector<std::uint8_t> shades;
    shades.reserve(pixels.size());
    for (const float pixel : pixels) {
      const int shade = shade_of(pixel);
      if (shade < 0) reject(client, fmt::format("the number {}", pixel), "k/255 with k from 0 to 255");
      shades.push_back(static_cast<std::uint8_t>(shade));
    }
    hand_over(give_, kNamePiece, client);
    hand_over(give_, kLabelPiece, bytes_of(std::vector<std::int64_t>(labels.begin(), labels.end())));
    hand_over(give_, kPixelPiece, bytes_of(shades));
  }

  // The numbers of a data set [images, ...shape], and how many images there are.
  template <typename Number>
  hsize_t read_numbers(hid_t clients, const std::string& client, const std::string& name,
                       const std::vector<hsize_t>& shape, hid_t type, std::vector<Number>& numbers) const {
    std::string allowed = "images";
    for (const hsize_t extent : shape) allowed += fmt::format(" x {}", extent);
    const Handle inside(without_other_files(H5P_DATASET_ACCESS), H5Pclose);
    const Handle data(H5Dopen2(clients, (client + "/" + name).c_str(), inside.get()), H5Dclose);
    if (!data) reject(client, fmt::format("there is no data set \"{}\" in this file", name), kAllowed);
    const Handle how(H5Dget_create_plist(data.get()), H5Pclose);
    if (!how || H5Pget_external_count(how.get()) != 0 || H5Pget_layout(how.get()) == H5D_VIRTUAL)
      reject(client, fmt::format("the numbers of \"{}\" lie in other files", name), kAllowed);
    const Handle kind(H5Dget_type(data.get()), H5Tclose);
    const bool whole = std::is_integral_v<Number>;
    const H5T_class_t is = kind ? H5Tget_class(kind.get()) : H5T_NO_CLASS;
    if (is != H5T_INTEGER && (whole || is != H5T_FLOAT))
      reject(client,
             fmt::format("the data set \"{}\" does not hold {}", name, whole ? "whole numbers" : "numbers"),
             kAllowed);
    const Handle space(H5Dget_space(data.get()), H5Sclose);
    const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
    if (rank < 0) reject(client, fmt::format("the data set \"{}\" is damaged", name), allowed);
    std::vector<hsize_t> found(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.get(), found.data(), nullptr);
    if (found.empty()) reject(client, fmt::format("the data set \"{}\" is a single value", name), allowed);
    if (std::vector<hsize_t>(found.begin() + 1, found.end()) != shape)
      reject(client, fmt::format("the data set \"{}\" is {}", name, fmt::join(found, " x ")), allowed);
    // What a header states must be there before memory is taken for it.
    hsize_t count = found[0];
    for (const hsize_t extent : shape) count *= extent;
    if (count > H5Dget_storage_size(data.get()) * kMostPerByte)
      reject(client, fmt::format("the data set \"{}\" is damaged", name), allowed);
    numbers.resize(static_cast<std::size_t>(count));
    if (count > 0 && H5Dread(data.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) < 0) {
      const std::string filter = missing_filter(data.get());
      if (!filter.empty())
        reject(client,
               fmt::format("the data set \"{}\" is packed by the filter {}, which is not installed", name,
                           filter),
               "gzip, shuffle or nothing, as `h5repack -f GZIP=4` makes it");
      reject(client, fmt::format("the data set \"{}\" is damaged", name), allowed);
    }
    return found[0];
  }

  // "32001 (blosc)" where this HDF5 lacks a filter of the data set; empty where it has all.
  static std::string missing_filter(hid_t data) {
    const Handle creation(H5Dget_create_plist(data), H5Pclose);
    const int filters = creation ? H5Pget_nfilters(creation.get()) : 0;
    for (unsigned i = 0; static_cast<int>(i) < filters; ++i) {
      std::array<char, 64> name{};
      unsigned flags = 0, configuration = 0;
      std::size_t values = 0;
      const H5Z_filter_t filter = H5Pget_filter2(creation.get(), i, &flags, &values, nullptr, name.size() - 1,
                                                 name.data(), &configuration);
      if (filter >= 0 && H5Zfilter_avail(filter) <= 0) return fmt::format("{} ({})", filter, name.data());
    }
    return {};
  }

  // Deflate packs at most a thousand bytes into one.
  static constexpr hsize_t kMostPerByte = 1032;

  const std::filesystem::path& file_;
  const EmnistLayout& layout_;
  const TakePiece& give_;
};

// What the copy handed over. A damaged file may have made it say anything before it dies, or instead.
class Taken {
 public:
  explicit Taken(const EmnistLayout& layout) : layout_(layout) {}

  void take(std::string_view piece) {
    const char kind = piece.empty() ? '\0' : piece.front();
    const std::string_view bytes = piece.substr(piece.empty() ? 0 : 1);
    if (kind == kNamePiece) {
      images_.users.push_back({std::string(bytes), 0});
    } else if (kind == kLabelPiece && !images_.users.empty() && bytes.size() % sizeof(std::int64_t) == 0) {
      const std::size_t before = images_.labels.size();
      images_.labels.resize(before + bytes.size() / sizeof(std::int64_t));
      std::memcpy(images_.labels.data() + before, bytes.data(), bytes.size());
      images_.users.back().images += static_cast<std::int64_t>(images_.labels.size() - before);
    } else if (kind == kPixelPiece) {
      images_.pixels.insert(images_.pixels.end(), bytes.begin(), bytes.end());
    } else if (kind == kRefusalPiece) {
      refusal_.emplace_back(bytes);
    } else {
      whole_ = false;
    }
  }
  // The complaint of the copy, if it has one.
  void check_refusal() const {
    if (refusal_.size() != 5) return;
    throw Error::in(refusal_[0], refusal_[1],
                    {.allowed = refusal_[2], .nearest = refusal_[3], .remedy = refusal_[4]});
  }
  bool is_whole() const {
    const auto pixels = static_cast<std::size_t>(layout_.side * layout_.side);
    return whole_ && refusal_.empty() && images_.pixels.size() == images_.labels.size() * pixels &&
           std::ranges::all_of(images_.labels,
                               [&](std::int64_t label) { return label >= 0 && label < layout_.classes; });
  }
  UserImages images() { return std::move(images_); }

 private:
  const EmnistLayout& layout_;
  UserImages images_;
  std::vector<std::string> refusal_;
  bool whole_ = true;
};

}  // namespace

UserImages read_emnist_h5(const std::filesystem::path& file, const EmnistLayout& layout) {
  // HDF5 1.10 crashes on some damaged files, so a copy of this process reads them.
  Taken taken(layout);
  const std::string death = died_of(
      [&](const TakePiece& give) {
        try {
          EmnistReader(file, layout, give).read();
        } catch (const Error& error) {
          const Complaint& complaint = error.complaint();
          for (const std::string* text : {&complaint.place.file, &complaint.found, &complaint.allowed,
                                          &complaint.nearest, &complaint.remedy})
            hand_over(give, kRefusalPiece, *text);
        }
      },
      [&](std::string_view piece) { taken.take(piece); });
  if (death.empty()) taken.check_refusal();
  if (!death.empty() || !taken.is_whole()) {
    reject_file(file,
                fmt::format("the file is damaged: where HDF5 reads it, {}",
                            death.empty() ? "what it says of itself does not agree" : death),
                kAllowed);
  }
  return taken.images();
}

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
