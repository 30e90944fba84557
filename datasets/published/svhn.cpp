#include <cstddef>
#include <matio.h>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/published/formats.hpp"
#include "datasets/published/published_files.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kSvhnClasses = 10;
constexpr std::int64_t kChannels = 3;

using Matlab = std::unique_ptr<mat_t, int (*)(mat_t*)>;
using Variable = std::unique_ptr<matvar_t, void (*)(matvar_t*)>;

std::string in_words(const std::vector<std::size_t>& shape) {
  return fmt::format("{}", fmt::join(shape, " x "));
}

// An array of unsigned bytes, in MATLAB's order: the first dimension fastest.
Variable read_bytes(const std::filesystem::path& file, mat_t* matlab, const std::string& name,
                    const std::vector<std::size_t>& shape) {
  const std::string allowed = fmt::format("unsigned bytes, {}", in_words(shape));
  Variable info(Mat_VarReadInfo(matlab, name.c_str()), Mat_VarFree);
  if (!info) reject_file(file, fmt::format("the variable {} is missing", name), allowed);
  const std::vector<std::size_t> found(info->dims, info->dims + info->rank);
  if (info->class_type != MAT_C_UINT8 || info->isComplex != 0)
    reject_file(file, fmt::format("the variable {} does not hold unsigned bytes", name), allowed);
  if (found != shape) reject_file(file, fmt::format("the variable {} is {}", name, in_words(found)), allowed);
  std::size_t bytes = 1;
  for (const std::size_t extent : shape) bytes *= extent;
  if (Mat_VarReadDataAll(matlab, info.get()) != 0 || info->data == nullptr || info->nbytes != bytes)
    reject_file(file, fmt::format("the data of the variable {} are damaged or cut off", name), allowed);
  return info;
}

// The file as a whole; the .mat is not gzip, what it holds is compressed inside.
void check_digest(const std::filesystem::path& file, const std::string& sha256) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(file, ignored);
  check_sha256(file, read_content(file, static_cast<std::size_t>(size) + 1), sha256);
}

}  // namespace

Examples read_svhn(const std::filesystem::path& file, const SvhnLayout& layout) {
  check_digest(file, layout.sha256);
  const Matlab matlab(Mat_Open(file.c_str(), MAT_ACC_RDONLY), Mat_Close);
  if (!matlab) reject_file(file, "this is not a file of MATLAB 5", "a .mat file of MATLAB 5");
  const auto images = static_cast<std::size_t>(layout.images);
  const auto side = static_cast<std::size_t>(layout.side);
  const Variable labels = read_bytes(file, matlab.get(), "y", {images, 1});
  const Variable pixels = read_bytes(file, matlab.get(), "X", {side, side, kChannels, images});

  Examples examples;
  examples.targets = torch::empty({layout.images}, torch::kInt64);
  auto* targets = examples.targets.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < images; ++i) {
    const std::uint8_t label = static_cast<const std::uint8_t*>(labels->data)[i];
    if (label < 1 || label > kSvhnClasses)
      reject_file(file, fmt::format("label {} (counting from 0) is {}", i, label),
                  fmt::format("1 to {}, where {} stands for the digit 0", kSvhnClasses, kSvhnClasses));
    targets[i] = label % kSvhnClasses;
  }
  // Each plane comes column by column.
  examples.inputs =
      torch::from_blob(pixels->data, {layout.images, kChannels, layout.side, layout.side}, torch::kUInt8)
          .transpose(2, 3)
          .clone(torch::MemoryFormat::Contiguous);
  return examples;
}

namespace {

constexpr std::int64_t kSvhnTrain = 73'257;
constexpr std::int64_t kSvhnTest = 26'032;

// SHA-256 values as several projects publish them, beside the MD5 values of torchvision.
PublishedFiles svhn_files() {
  return {
      "svhn",
      {"svhn"},
      {{"train_32x32.mat", 182'040'794, "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"},
       {"test_32x32.mat", 64'275'384, "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"}},
      "the publisher's page is ufldl.stanford.edu/housenumbers, \"Cropped Digits\"",
      {.addresses = {"http://ufldl.stanford.edu/housenumbers/"}}};
}

Dataset load_svhn(const Settings& /*settings*/, const SearchPath& search_path) {
  const PublishedFiles wanted = svhn_files();
  const auto files = find_published(wanted, search_path);
  Dataset svhn;
  svhn.train = read_svhn(files[0], {.images = kSvhnTrain, .sha256 = wanted.files[0].sha256});
  svhn.test = read_svhn(files[1], {.images = kSvhnTest, .sha256 = wanted.files[1].sha256});
  svhn.classes = kSvhnClasses;
  svhn.mean = {0.4377, 0.4438, 0.4728};
  svhn.deviation = {0.1980, 0.2010, 0.1970};
  return svhn;
}

}  // namespace

DatasetSource svhn_source() {
  return {.name = "svhn",
          .summary =
              "Digits of house numbers, cropped: 73,257 train and 26,032 test images, 32 x 32 colour, 10 "
              "classes.",
          .files = svhn_files(),
          .load = load_svhn};
}

}  // namespace fedarena
